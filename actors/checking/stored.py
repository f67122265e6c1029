"""An entry as it would go out if nothing were done to it, ready to be judged."""

from dataclasses import replace

from actors.history import Entry, MessageEntry
from providers.model import Block, FileBlock, ImageBlock, Message, Role


def as_stored(entry: Entry) -> Message:
    """The entry as it would go out if nothing were done to it."""
    if isinstance(entry, MessageEntry):
        return entry.message
    return Message(Role.USER, entry.body, cache=entry.cache)


_IN_PLACE = "data:image/png;base64,AAAA"


def judgeable(entry: Entry) -> Entry:
    """Attachments that lie elsewhere are legal on the wire, but no data URLs; one with data stands in."""
    content = entry.message.content if isinstance(entry, MessageEntry) else None
    if not isinstance(entry, MessageEntry) or not isinstance(content, tuple):
        return entry
    if not any(map(_is_elsewhere, content)):
        return entry
    blocks = tuple(_with_data(block) if _is_elsewhere(block) else block for block in content)
    return replace(entry, message=replace(entry.message, content=blocks))


def _is_elsewhere(block: Block) -> bool:
    if isinstance(block, FileBlock) and block.text is not None:
        return False
    return isinstance(block, ImageBlock | FileBlock) and not (block.data_url or "").startswith("data:")


def _with_data(block: Block) -> Block:
    return replace(block, data_url=_IN_PLACE) if isinstance(block, ImageBlock | FileBlock) else block
