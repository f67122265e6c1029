"""The part of an entry that a finding is about.

A finding names the message; in a long one a person wants the call or the
block. A call is known by its id, which the finding quotes; a block by what its
rule is about. Where neither tells, it is the whole entry.
"""

from collections.abc import Callable, Mapping, Sequence

from actors.checking.histories import EntryPaths
from actors.history import Entry, MessageEntry
from providers.legality import Finding
from providers.model import Block, FileBlock, ImageBlock, ReasoningBlock, TextBlock
from providers.transcripts import Path


def part_of(entry: Entry, paths: EntryPaths, finding: Finding, nth: int) -> Path:
    """Where the part stands; the `nth` (from 0) such part, if a message has the same finding again."""
    if not isinstance(entry, MessageEntry):
        return paths.own
    calls = zip(entry.message.tool_calls, paths.calls, strict=True)
    named = [path for call, path in calls if call.id and repr(call.id) in finding.text]
    if named:
        return named[-1]
    content = entry.message.content
    is_meant = _BLOCKS.get(finding.rule)
    if is_meant is None or not isinstance(content, tuple):
        return paths.own
    meant = [path for block, path in zip(content, paths.blocks, strict=True) if is_meant(block)]
    return meant[min(nth, len(meant) - 1)] if meant else paths.own


def entries_by_path(paths: Sequence[EntryPaths]) -> Callable[[Path], int | None]:
    """Tells the entry that something at a path belongs to, if it belongs to one."""
    known: dict[Path, int] = {}
    for at, entry in enumerate(paths):
        for path in (entry.own, *entry.calls, *entry.blocks):
            known.setdefault(path, at)
        if entry.own[-2:-1] == ("content",):
            # The first of several entries that one message became.
            known.setdefault(entry.own[:-2], at)

    def entry_at(path: Path) -> int | None:
        above = (known.get(path[:n_steps]) for n_steps in range(len(path), 0, -1))
        return next((at for at in above if at is not None), None)

    return entry_at


def _is_foreign(block: Block) -> bool:
    return not isinstance(block, TextBlock)


def _is_unicode(block: Block) -> bool:
    text = block.text if isinstance(block, TextBlock | ReasoningBlock) else ""
    return text != text.encode("utf-8", "replace").decode()


_BLOCKS: Mapping[str, Callable[[Block], bool]] = {
    "empty_text": lambda block: isinstance(block, TextBlock) and not block.text,
    "blank_text": lambda block: isinstance(block, TextBlock) and block.text.isspace(),
    "block_of_other_role": _is_foreign,
    "attachment_form": lambda block: isinstance(block, ImageBlock | FileBlock),
    "thinking_signature": lambda block: isinstance(block, ReasoningBlock) and block.signature == "",
    "unicode": _is_unicode,
}
