"""How many leading entries of a history are context that the host builds anew.

Compaction, rewind and rebuilds all cut there.
"""

import re
from collections.abc import Sequence
from typing import assert_never

from actors.history import Entry, MessageEntry, ReminderEntry
from actors.reminders import REGISTRY
from providers.model import Block, Content, FileBlock, ImageBlock, ReasoningBlock, Role, TextBlock

_PREFIX_SOURCES = frozenset(row.name for row in REGISTRY.values() if row.is_prefix)

# What ECMAScript trims: older stores and imports were cut by such a program. Python's \s differs.
_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_LITERAL_TAG = re.compile(f"[{_BLANKS}]*<system-reminder>")


def prefix_length(entries: Sequence[Entry]) -> int:
    """The number of leading system messages, prefix reminders, and imported forms of these."""
    for at, entry in enumerate(entries):
        if not _is_prefix(entry):
            return at
    return len(entries)


def _is_prefix(entry: Entry) -> bool:
    match entry:
        case ReminderEntry():
            return entry.source in _PREFIX_SOURCES
        case MessageEntry():
            return entry.message.role is Role.SYSTEM or _is_imported_prefix(entry)
        case _:
            assert_never(entry)


def _is_imported_prefix(entry: MessageEntry) -> bool:
    """Imports keep the prefix as user messages, by source or only by the literal tag in front."""
    if entry.message.role is not Role.USER:
        return False
    if entry.source is None and entry.presentation is None:
        return _LITERAL_TAG.match(_text(entry.message.content)) is not None
    return entry.source in _PREFIX_SOURCES


def _text(content: Content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(text for block in content if (text := _block_text(block)))


def _block_text(block: Block) -> str:
    match block:
        case TextBlock(text):
            return text
        case FileBlock(text=text):
            return text or ""
        case ImageBlock():
            return "(image)"
        case ReasoningBlock():
            return ""
        case _:
            assert_never(block)
