"""Outside text, marked as such: nothing in it can end its quotation or speak as somebody else.

Whoever puts text of another hand into a body (an attachment, hook output, a
notification, a peer) quotes it there. Three things happen: it stands between
two tags, a label says whose it is, and every tag in it that a model might
take for structure becomes plain text.
"""

import re
from functools import lru_cache

_NAMES = (
    "system-reminder",
    "quoted",
    "system",
    "developer",
    "user",
    "human",
    "assistant",
    "tool",
    "tools",
    "tool_calls?",
    "tool_use",
    "tool_results?",
    "function_calls?",
    "function_results?",
    "invoke",
    "parameter",
    "thinking",
)
# `<|` opens the control tokens of many chat templates: <|im_start|>, <|system|>, <|eot_id|>.
_STRUCTURE = re.compile(rf"<(?=/?(?:[a-z]+:)?(?:{'|'.join(_NAMES)})\b|\|)", re.ASCII | re.IGNORECASE)
_UNSAFE_IN_LABEL = re.compile(r"[^\w .:@/#()+-]+")
_MAX_LABEL_CHARACTERS = 120
_CLOSING = "\n</quoted>"


def escape_structure(text: str) -> str:
    """The text with every tag that could pass for structure made plain; twice equals once."""
    return _STRUCTURE.sub("&lt;", text) if "<" in text else text


def quote(text: str, label: str) -> str:
    """Outside text between tags that name where it comes from; twice equals once.

    `label` is data as well: what could end the tag is taken out of it, and it
    is cut at 120 characters.
    """
    opening = f'<quoted from="{safe_label(label)}">\n'
    return text if _is_quoted(text, opening) else f"{opening}{escape_structure(text)}{_CLOSING}"


@lru_cache(maxsize=1_024)
def safe_label(label: str) -> str:
    """A name of outside origin on one line, without anything that could end a tag, 120 characters at most."""
    kept = " ".join(_UNSAFE_IN_LABEL.sub(" ", label).split())
    return kept[:_MAX_LABEL_CHARACTERS].rstrip() or "unknown"


def _is_quoted(text: str, opening: str) -> bool:
    """Quoted already, by the same label, with nothing inside that could end it."""
    if len(text) < len(opening) + len(_CLOSING) or not (text.startswith(opening) and text.endswith(_CLOSING)):
        return False
    return _STRUCTURE.search(text, len(opening), len(text) - len(_CLOSING)) is None
