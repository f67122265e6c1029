"""Behind stage 6: sealed thinking goes back only behind what it was thought on.

A provider may bind a thinking block to every byte before it, and refuse the
request in which a byte has changed. So an answer with such a block remembers
the fingerprint of the request that it answered, and where other words stand
before it now, its thinking stays out.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b

from pydantic import JsonValue

from actors.history import Entry, MessageEntry
from actors.projection.clean import recounted
from actors.projection.model import Repair, RepairRule, Report
from providers.model import Block, FileBlock, ImageBlock, Message, ReasoningBlock, Role, TextBlock, ToolSpec


class Trace:
    """The running fingerprint of a request: its tools, then message by message what goes over the wire.

    Cache marks are no part of it. Equal fingerprints mean equal requests, today
    and in another process.
    """

    def __init__(self, tools: Sequence[ToolSpec] = ()) -> None:
        self._digest = blake2b(digest_size=16)
        self._take([[tool.name, tool.description, tool.input_schema] for tool in tools])

    def copy(self) -> "Trace":
        trace = Trace.__new__(Trace)
        trace._digest = self._digest.copy()
        return trace

    def take(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._take(_said(message))

    def fingerprint(self) -> str:
        return self._digest.hexdigest()

    def _take(self, value: JsonValue) -> None:
        # JSON ends where it ends: no two lists of values give the same text.
        self._digest.update(json.dumps(value).encode())


def _said(message: Message) -> JsonValue:
    content = message.content
    return [
        message.role.value,
        list(map(_block, content)) if isinstance(content, tuple) else content,
        [[call.id, call.name, call.input, call.after_block] for call in message.tool_calls],
        message.tool_call_id,
        message.is_error,
    ]


def _block(block: Block) -> JsonValue:
    match block:
        case TextBlock(text):
            return text
        case ReasoningBlock():
            return ["reasoning", block.text, block.signature, block.data, block.item_id]
        case ImageBlock():
            return ["image", block.media_type, block.data_url]
        case FileBlock():
            return ["file", block.media_type, block.text, block.data_url, block.name]


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


def leave_out_unbound(
    messages: list[Message],
    sources: Sequence[tuple[int, ...]],
    entries: Sequence[Entry],
    first: int,
    trace_before: Callable[[], Trace],
    report: Report,
) -> None:
    """Takes sealed thinking out, in place, where not the same stands before it as when it was thought.

    An answer that does not know its request (an import) keeps its thinking.
    """
    trace: Trace | None = None
    n_traced = 0
    for at, message in enumerate(messages):
        if message.role is not Role.ASSISTANT or not has_sealed(message):
            continue
        index = sources[at][0]
        entry = entries[index - first]
        if not isinstance(entry, MessageEntry) or entry.request_fingerprint is None:
            continue
        trace = trace_before() if trace is None else trace
        trace.take(messages[n_traced:at])
        n_traced = at
        if trace.fingerprint() != entry.request_fingerprint:
            messages[at] = _without_sealed(message)
            report.repaired.append(Repair(RepairRule.UNBOUND_REASONING, index))


def _without_sealed(message: Message) -> Message:
    """The answer always keeps something: one of thinking alone does not get here."""
    assert isinstance(message.content, tuple), "only blocks can be sealed"
    kept = [not is_sealed(block) for block in message.content]
    content = tuple(block for block, stays in zip(message.content, kept, strict=True) if stays)
    return replace(message, content=content or None, tool_calls=recounted(message.tool_calls, kept))
