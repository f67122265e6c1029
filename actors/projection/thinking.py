"""Behind stage 6: sealed thinking goes back only behind what it was thought on.

A provider may bind a thinking block to every byte before it, and refuse the
request in which a byte has changed. So an answer with such a block remembers
the fingerprint of the request that it answered, and where other words stand
before it now, its thinking stays out. An answer that remembers nothing (an
import) is taken to have stood behind just what is stored before it, so that
its thinking stays out behind the first thing that had to be put right.
"""

import json
import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain

from pydantic import JsonValue

from actors.history import Entry, MessageEntry
from actors.projection.clean import is_foreign, recounted
from actors.projection.model import ProjectionOptions, Repair, RepairRule, Report
from providers.model import Block, FileBlock, ImageBlock, Message, ReasoningBlock, Role, TextBlock, ToolSpec


class Trace:
    """The running fingerprint of a request: its tools, then message by message what goes over the wire.

    Cache marks are no part of it. Pictures and files that the model does not
    see are told by their kind and name, as they are on the wire. Equal
    fingerprints mean equal requests, today and in another process.
    """

    def __init__(self, tools: Sequence[ToolSpec] = (), *, sees_images: bool = True) -> None:
        self._sees_images = sees_images
        self._digest = blake2b(digest_size=16)
        self._take([[tool.name, tool.description, tool.input_schema] for tool in tools])

    @classmethod
    def of(cls, options: ProjectionOptions) -> "Trace":
        """The fingerprint of a request to which nothing has been said yet."""
        return cls(options.tools, sees_images=options.sees_images)

    def copy(self) -> "Trace":
        trace = Trace.__new__(Trace)
        trace._sees_images = self._sees_images
        trace._digest = self._digest.copy()
        return trace

    def take(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._take(self._said(message))

    def fingerprint(self) -> str:
        return self._digest.hexdigest()

    def _take(self, value: JsonValue) -> None:
        # JSON ends where it ends: no two lists of values give the same text.
        self._digest.update(json.dumps(value).encode())

    def _said(self, message: Message) -> JsonValue:
        content = message.content
        return [
            message.role.value,
            list(map(self._block, content)) if isinstance(content, tuple) else content,
            [[call.id, call.name, call.input, call.after_block] for call in message.tool_calls],
            message.tool_call_id,
            message.is_error,
        ]

    def _block(self, block: Block) -> JsonValue:
        match block:
            case TextBlock(text):
                return text
            case ReasoningBlock():
                return ["reasoning", block.text, block.signature, block.data, block.item_id]
            case ImageBlock():
                return ["image", block.media_type, block.data_url if self._sees_images else None]
            case FileBlock():
                data_url = block.data_url if self._sees_images else None
                return ["file", block.media_type, block.text, data_url, block.name]


def same_tools(tools: Sequence[ToolSpec], others: Sequence[ToolSpec]) -> bool:
    """Are they the same on the wire? Equal values may not be: `1` equals `True`, and keys have an order."""
    if len(tools) == len(others) and all(map(_is_one, tools, others)):
        return True
    return Trace(tools).fingerprint() == Trace(others).fingerprint()


def _is_one(tool: ToolSpec, other: ToolSpec) -> bool:
    """The usual case, found out fast: made from one definition, whose schema is the same object."""
    if tool.input_schema is not other.input_schema:
        return False
    return (tool.name, tool.description) == (other.name, other.description)


def is_sealed(block: Block) -> bool:
    """Is it thinking that its provider closed with a seal?

    Open reasoning and the items of Responses are bound to nothing.
    """
    return (
        isinstance(block, ReasoningBlock)
        and block.item_id is None
        and (block.signature is not None or block.data is not None)
    )


def has_sealed(message: Message) -> bool:
    return isinstance(message.content, tuple) and any(map(is_sealed, message.content))


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before the messages at hand: so many entries, and what was put right among them.

    `trace` gives the fingerprint so far, to be carried on; `items` are the ids
    of reasoning items, which a provider takes once.
    """

    n_entries: int
    trace: Callable[[], Trace]
    repaired: Sequence[Repair] = ()
    items: Set[str] = frozenset()


def leave_out_unbound(
    messages: list[Message],
    sources: Sequence[tuple[int, ...]],
    entries: Sequence[Entry],
    before: Before,
    options: ProjectionOptions,
    report: Report,
) -> set[str]:
    """Takes sealed thinking out, in place, where not the same stands before it as when it was thought.

    Also the second one of two reasoning items of the same id. Gives the ids of all others.
    """
    bonds = _Bonds(messages, before, options, report)
    items: set[str] = set()
    for at, message in enumerate(messages):
        if message.role is not Role.ASSISTANT or not _has_reasoning(message):
            continue
        index = sources[at][0]
        entry = entries[index - before.n_entries]
        assert isinstance(entry, MessageEntry), "only a stored message is an answer"
        if (less := _without_repeated(message, before.items, items)) is not message:
            messages[at] = less
            bonds.note(RepairRule.REPEATED_REASONING, index)
        if not has_sealed(less):
            continue
        n_bound = _n_as_stored(less, entry, options.model) if bonds.hold(at, index, entry) else 0
        if (bound := _without_sealed(less, n_bound)) is not less:
            messages[at] = bound
            bonds.note(RepairRule.UNBOUND_REASONING, index)
    return items


class _Bonds:
    """What stands before each answer, against what stood before it once."""

    def __init__(
        self, messages: Sequence[Message], before: Before, options: ProjectionOptions, report: Report
    ) -> None:
        self._messages = messages
        self._before = before
        self._options = options
        self._report = report
        self._trace: Trace | None = None
        self._n_traced = 0
        self._first_change: float | None = None

    def hold(self, at: int, index: int, entry: MessageEntry) -> bool:
        if entry.request_fingerprint is None:
            return self._options.as_recorded or index <= self._changed_from()
        if self._trace is None:
            self._trace = self._before.trace()
        self._trace.take(self._messages[self._n_traced : at])
        self._n_traced = at
        return self._trace.fingerprint() == entry.request_fingerprint

    def note(self, rule: RepairRule, index: int) -> None:
        """What is left out here is a change for what stands behind it."""
        self._report.repaired.append(Repair(rule, index))
        self._first_change = min(self._changed_from(), index)

    def _changed_from(self) -> float:
        """The first entry that did not go out as it was stored; infinity where there is none."""
        if self._first_change is None:
            repaired = chain(self._before.repaired, self._report.repaired)
            # What another model thought is no part of the bond.
            changed = (repair.entry for repair in repaired if repair.rule is not RepairRule.FOREIGN_REASONING)
            self._first_change = min(changed, default=math.inf)
        return self._first_change


def _n_as_stored(message: Message, entry: MessageEntry, reader: str | None) -> int:
    """How many blocks of an answer have nothing before them in it that is not as it was.

    Reasoning of another model that is left out was never before them: it was left out then, too.
    """
    content, stored = message.content or (), entry.message
    if message is stored:
        return len(content)
    n_same = 0
    for block in stored.content or ():
        if n_same < len(content) and content[n_same] == block:
            n_same += 1
        elif not (isinstance(block, ReasoningBlock) and is_foreign(block, entry.model, reader)):
            break
    for call, old in zip(message.tool_calls, stored.tool_calls, strict=True):
        if (call.id, call.input) != (old.id, old.input) and call.after_block is not None:
            n_same = min(n_same, call.after_block)
    return n_same


def _has_reasoning(message: Message) -> bool:
    return isinstance(message.content, tuple) and any(isinstance(b, ReasoningBlock) for b in message.content)


def _without_repeated(message: Message, before: Set[str], items: set[str]) -> Message:
    """The answer without reasoning items that went out before; `items` takes in the others."""
    kept = []
    for block in message.content or ():
        item = block.item_id if isinstance(block, ReasoningBlock) else None
        kept.append(item is None or (item not in before and item not in items))
        if item is not None:
            items.add(item)
    return _only(message, kept)


def _without_sealed(message: Message, n_bound: int) -> Message:
    """The answer without its sealed thinking behind the first blocks."""
    assert isinstance(message.content, tuple), "only blocks can be sealed"
    return _only(message, [at < n_bound or not is_sealed(block) for at, block in enumerate(message.content)])


def _only(message: Message, kept: list[bool]) -> Message:
    """The answer with these of its blocks; itself where these are all.

    Something is always left: an answer of reasoning alone does not get here.
    """
    if all(kept):
        return message
    assert isinstance(message.content, tuple), "only blocks are left out"
    content = tuple(block for block, stays in zip(message.content, kept, strict=True) if stays)
    return replace(message, content=content or None, tool_calls=recounted(message.tool_calls, kept))
