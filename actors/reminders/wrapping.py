"""The tag around a reminder, and the one step that keeps a body from breaking out of it."""

import re

from actors.errors import EmptyReminderBody, UnescapedReminderBody
from actors.reminders.registry import reminder_source

OPENING_TAG = "<system-reminder>"
CLOSING_TAG = "</system-reminder>"

_TAG = re.compile(r"<(?=/?system-reminder\b)", re.ASCII | re.IGNORECASE)


def escape(body: str) -> str:
    """The body with every reminder tag in it made plain text; twice equals once."""
    # Most bodies hold no "<" at all, and a search for one character is far cheaper than the pattern.
    return _TAG.sub("&lt;", body) if "<" in body else body


def wrap(source: str, body: str) -> str:
    """An escaped body as the text of a reminder of this source.

    Raises:
        UnknownReminderSource: the source is not in the registry.
        EmptyReminderBody: there is nothing to say.
        UnescapedReminderBody: the body still holds a reminder tag; `escape` comes first.
    """
    row = reminder_source(source)
    if not body:
        raise EmptyReminderBody(f"a reminder of source {source!r} needs a body; it is empty")
    if "<" in body and (found := _TAG.search(body)):
        raise UnescapedReminderBody(
            f"the body of a {source!r} reminder must be escaped before it is wrapped;"
            f" a reminder tag stands at character {found.start()}"
        )
    return f"{OPENING_TAG}\n{body}\n{CLOSING_TAG}{row.after_wrapper}"
