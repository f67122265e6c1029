"""From the words of a script to the events of a stream, in the order of the real adapters."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from providers.assembly import call_of, content_of
from providers.estimate import estimate_message
from providers.model import (
    Answered,
    AnswerStarted,
    Block,
    CallCompleted,
    CallStarted,
    Message,
    ModelEvent,
    ReasoningBlock,
    ReasoningDelta,
    Request,
    Role,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    Usage,
)
from providers.script import (
    Answer,
    Begin,
    Call,
    Fail,
    Piece,
    Report,
    Say,
    Seal,
    Stop,
    Think,
    Wait,
    WaitFor,
    say,
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What distinguishes one answer from another: its number, counted from 1, and what was asked."""

    number: int
    request: Request

    @property
    def model(self) -> str:
        return self.request.model

    @property
    def response_id(self) -> str:
        return f"scripted-response-{self.number}"

    @property
    def request_id(self) -> str:
        return f"scripted-request-{self.number}"

    @property
    def started(self) -> AnswerStarted:
        return AnswerStarted(self.response_id, self.model, self.request_id)

    def signature(self, n_blocks: int) -> str:
        """A signature for the thought behind so many blocks of the answer.

        The request is in it, since another provider, or this one in another
        life, counts its answers from 1 as well.
        """
        asked = repr((self.request.model, self.request.tools, self.request.messages))
        digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"signed-{self.number}-{n_blocks}-{digest}"


Action: TypeAlias = ModelEvent | Wait | WaitFor | Fail


@dataclass(slots=True)
class _Draft:
    stamp: Stamp
    actions: list[Action] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    usage: Usage | None = None
    stop: StopReason | None = None
    has_begun: bool = False
    is_text_open: bool = False

    def emit(self, *events: ModelEvent) -> None:
        self.begin()
        self.actions.extend(events)

    def begin(self) -> None:
        if not self.has_begun:
            self.has_begun = True
            self.actions.append(self.stamp.started)

    def say(self, pieces: tuple[str, ...]) -> None:
        text = "".join(pieces)
        if not text:
            return
        self.emit(*(TextDelta(piece) for piece in pieces if piece))
        last = self.blocks[-1] if self.blocks else None
        if self.is_text_open and isinstance(last, TextBlock):
            self.blocks[-1] = TextBlock(last.text + text)
        else:
            self.blocks.append(TextBlock(text))
        self.is_text_open = True

    def think(self, piece: Think) -> None:
        self.is_text_open = False
        self.emit(*(ReasoningDelta(text) for text in piece.pieces if text))
        signature = piece.signature
        if isinstance(signature, Seal):
            signature = self.stamp.signature(len(self.blocks))
        self.blocks.append(ReasoningBlock("".join(piece.pieces), signature, model=self.stamp.model))

    def call(self, piece: Call) -> None:
        self.is_text_open = False
        call_id = piece.call_id or f"call-{self.stamp.number}-{len(self.calls) + 1}"
        made = _made(piece, call_id)
        self.calls.append(replace(made, after_block=len(self.blocks)))
        self.emit(CallStarted(call_id, piece.name))
        if piece.is_cut:
            self.cut.append(call_id)
            return
        if piece.takes_s:
            self.actions.append(Wait(piece.takes_s))
        self.emit(CallCompleted(made))

    def message(self) -> Message:
        calls = tuple(_placed(made, len(self.blocks)) for made in self.calls)
        return Message(Role.ASSISTANT, content_of(self.blocks, has_calls=bool(calls)), calls)

    def reason(self) -> StopReason:
        if self.stop is not None:
            return self.stop
        if self.cut:
            return StopReason.MAX_TOKENS
        return StopReason.TOOL_USE if self.calls else StopReason.END_TURN

    def answered(self, input_tokens: int) -> Answered:
        message = self.message()
        estimated = Usage(input_tokens, output_tokens=estimate_message(message))
        return Answered(
            message,
            self.reason(),
            self.usage or estimated,
            self.stamp.response_id,
            self.stamp.model,
            self.stamp.request_id,
            tuple(self.cut),
        )


def _made(piece: Call, call_id: str) -> ToolCall:
    if piece.raw is None:
        return ToolCall(call_id, piece.name, piece.input)
    return call_of(call_id, piece.name, piece.raw)


def _placed(made: ToolCall, n_blocks: int) -> ToolCall:
    """The call with None for "after all blocks", which only the whole answer knows."""
    return replace(made, after_block=None) if made.after_block == n_blocks else made


def _pieces(answer: Answer) -> tuple[Piece, ...]:
    items: Sequence[str | Piece] = (
        answer if isinstance(answer, Sequence) and not isinstance(answer, str) else (answer,)
    )
    return tuple(say(item) if isinstance(item, str) else item for item in items)


def _apply(draft: _Draft, piece: Piece) -> None:
    match piece:
        case Say(pieces):
            draft.say(pieces)
        case Think():
            draft.think(piece)
        case Call():
            draft.call(piece)
        case Wait() | WaitFor() | Fail():
            draft.actions.append(piece)
        case Begin():
            draft.begin()
        case Report(usage):
            draft.usage = usage
        case Stop(reason):
            draft.stop = reason
        case _:
            assert_never(piece)


def plan(answer: Answer, stamp: Stamp, input_tokens: int) -> tuple[Action, ...]:
    """What happens, in order: events, waits, at most one failure, which is then the last.

    `input_tokens` is reported as usage where the answer reports none.

    Raises:
        ValueError: a piece stands behind a failure; it could never happen.
    """
    pieces = _pieces(answer)
    draft = _Draft(stamp)
    for index, piece in enumerate(pieces):
        _apply(draft, piece)
        if isinstance(piece, Fail):
            if index + 1 < len(pieces):
                raise ValueError(
                    f"a scripted answer ends with its failure; {pieces[index + 1]!r} stands behind it"
                )
            return tuple(draft.actions)
    draft.begin()
    return (*draft.actions, draft.answered(input_tokens))
