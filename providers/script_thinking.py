"""Thinking that a scripted model sealed is valid only behind what it stood behind.

Newer Anthropic models bind a thinking block to everything before it: system,
tools and messages, cache marks aside. Sent back behind anything else it is
refused ("Invalid signature in thinking block"), as is one with another text.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from providers.model import Block, Message, ReasoningBlock, Request, Role, TextBlock, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class _Thought:
    """A sealed block of an answer, and what the model had before it when it thought so."""

    block: ReasoningBlock
    request: Request
    blocks_before: tuple[Block, ...]
    calls_before: tuple[ToolCall, ...]


class SealedThinking:
    """What a scripted model thought so far, by signature.

    It keeps the requests themselves and copies nothing. Blocks with unknown
    signatures (of another provider, or of an earlier life of this one) and
    thinking of another model are taken as they are.
    """

    def __init__(self) -> None:
        self._thoughts: dict[str, list[_Thought]] = {}

    def remember(self, request: Request, answer: Message) -> None:
        """Takes in the sealed blocks of the answer to a request that was found valid."""
        blocks = _blocks(answer)
        for at, block in enumerate(blocks):
            if isinstance(block, ReasoningBlock) and block.signature is not None:
                thought = _Thought(block, request, blocks[:at], _calls_before(answer, at))
                self._thoughts.setdefault(block.signature, []).append(thought)

    def problem(self, request: Request) -> str | None:
        """What is wrong with the thinking in a request: where, and the first thing that differs.

        The latest message with known thinking stands for those before it. If
        all before it is as it was when that was thought, it is part of a
        request that was found valid then.
        """
        known = [
            (at, message) for at, message in enumerate(request.messages) if self._knows(message, request)
        ]
        if not known:
            return None
        problems = (problem for at, message in known for problem in self._problems(request, at, message))
        latest_at, latest = known[-1]
        if next(self._problems(request, latest_at, latest), None) is None:
            return None
        return next(problems, None)

    def _knows(self, message: Message, request: Request) -> bool:
        return any(self._candidates(block, request) for block in _blocks(message))

    def _candidates(self, block: Block, request: Request) -> list[_Thought]:
        if not isinstance(block, ReasoningBlock) or block.signature is None:
            return []
        thoughts = self._thoughts.get(block.signature, [])
        return [thought for thought in thoughts if thought.request.model == request.model]

    def _problems(self, request: Request, at: int, message: Message) -> Iterator[str]:
        for n_before, block in enumerate(_blocks(message)):
            thoughts = self._candidates(block, request)
            if not thoughts:
                continue
            differences = [_difference(thought, request, at, message, n_before) for thought in thoughts]
            if None not in differences:
                yield f"the thinking in block {n_before} of message {at} is not valid here: {differences[-1]}"


def _difference(thought: _Thought, request: Request, at: int, message: Message, n_before: int) -> str | None:
    """The first thing that is not as it was, in words; None if all is."""
    then = thought.request
    if _on_the_wire(request.tools) != _on_the_wire(then.tools):
        return "the tools are not those that it was thought with"
    if (different := _first_different(request.messages[:at], then.messages)) is not None:
        return f"message {different} {_what_happened(different, at, len(then.messages))}"
    block = _blocks(message)[n_before]
    if isinstance(block, ReasoningBlock) and block.text != thought.block.text:
        return f"its own text in message {at} was changed"
    is_same = _blocks(message)[:n_before] == thought.blocks_before
    if not is_same or _calls_before(message, n_before) != thought.calls_before:
        return f"what stood before it in message {at} is not what stood there"
    return None


def _on_the_wire(tools: tuple[ToolSpec, ...]) -> str:
    """Not compared by value: `1` equals `True`, and two schemas with keys in another order are equal."""
    return json.dumps([[tool.name, tool.description, tool.input_schema] for tool in tools])


def _first_different(now: tuple[Message, ...], then: tuple[Message, ...]) -> int | None:
    for at, (mine, theirs) in enumerate(zip(now, then, strict=False)):
        if mine is not theirs and _as_bound(mine) != _as_bound(theirs):
            return at
    return None if len(now) == len(then) else min(len(now), len(then))


def _what_happened(different: int, n_now: int, n_then: int) -> str:
    if different >= n_then:
        return "was put in behind what it was thought behind"
    if different >= n_now:
        return "was there when it was thought and is missing"
    return "is not what it was when it was thought"


def _as_bound(message: Message) -> Message:
    """The message without what a seal does not cover. A plain text goes out as one block."""
    return replace(message, content=_blocks(message), cache=None)


def _blocks(message: Message) -> tuple[Block, ...]:
    if isinstance(message.content, str):
        return (TextBlock(message.content),)
    return message.content or ()


def _calls_before(message: Message, n_blocks: int) -> tuple[ToolCall, ...]:
    """The calls that stand before the block with this number."""
    if message.role is not Role.ASSISTANT:
        return ()
    return tuple(
        call for call in message.tool_calls if call.after_block is not None and call.after_block <= n_blocks
    )
