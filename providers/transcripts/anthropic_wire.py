"""What Anthropic refuses in a body though our messages cannot tell: our own encoder would have put it right.

Our messages carry one cache mark each and have no ids, errors or places that
the encoder does not rewrite, so all of that is judged on the body itself.
"""

import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from providers.reading import JsonObject
from providers.transcripts.fields import Notes, shown
from providers.transcripts.model import Item, NoteRule, Path

MAX_MARKS = 4
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")


def note_body(body: JsonObject, base: Path, notes: Notes) -> None:
    """`max_tokens` has to be there: "max_tokens: Field required"."""
    if isinstance(body.get("model"), str) and body.get("max_tokens") is None:
        notes.add(NoteRule.MISSING, base, "max_tokens is missing", is_whole=True)


def note_first_systems(items: Sequence[Item], notes: Notes) -> None:
    """The system prompt is a field of its own; messages of that role stand behind a user's."""
    for path, value in items:
        if not isinstance(value, dict) or value.get("role") != "system":
            return
        text = "a system message comes first; the field system is the place for it"
        notes.add(NoteRule.WRONG_PLACE, path, text)


def note_call_id(call_id: str | None, path: Path, key: str, notes: Notes) -> None:
    """Anthropic: "String should match pattern '^[a-zA-Z0-9_-]+$'". That it is empty a rule finds."""
    if call_id and not _CALL_ID.fullmatch(call_id):
        notes.add(
            NoteRule.CALL_ID_FORM, path, f"{key}: letters, digits, _ and - wanted, got {shown(call_id)}"
        )


def note_error_content(content: JsonValue, path: Path, notes: Notes) -> None:
    """Anthropic: "all content must be type `text` if `is_error` is true"."""
    for at, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict) and block.get("type") != "text":
            text = f"the result of a failed call holds only texts, not {shown(block.get('type'))}"
            notes.add(NoteRule.WRONG_PLACE, (*path, at), text)


def note_marks(items: Sequence[Item], body: JsonObject, base: Path, n_seen: int, notes: Notes) -> None:
    """Every mark of a body counts, also those of tools and several in a message; `n_seen` a rule can see.

    The one around the whole body is the place of the last mark, which the
    provider finds itself.
    """
    marked = [*_marked(body.get("tools"), (*base, "tools")), *_marked(body.get("system"), (*base, "system"))]
    for path, value in items:
        content = value.get("content") if isinstance(value, dict) else None
        marked += _marked(content, (*path, "content"))
    if body.get("cache_control") is not None:
        marked.append((*base, "cache_control"))
    if n_seen <= MAX_MARKS < len(marked):
        text = f"{len(marked)} cache marks in all; {MAX_MARKS} are allowed"
        notes.add(NoteRule.CACHE_MARK, marked[MAX_MARKS], text)


def _marked(blocks: JsonValue, path: Path) -> Iterator[Path]:
    """The places of the blocks with a mark, and of those in a result or a document."""
    for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if not isinstance(block, dict):
            continue
        if block.get("cache_control") is not None:
            yield (*path, at)
        yield from _marked(block.get("content"), (*path, at, "content"))
        if isinstance(source := block.get("source"), dict):
            yield from _marked(source.get("content"), (*path, at, "source", "content"))
