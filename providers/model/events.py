"""What comes back from a model, piece by piece and at last whole."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from providers.model.blocks import ToolCall
from providers.model.messages import Message
from providers.model.usage import Usage


class StopReason(StrEnum):
    """Why an answer ended, one word for what each wire format calls it."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    PAUSE = "pause"
    REFUSAL = "refusal"
    CONTEXT_EXCEEDED = "context_exceeded"


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The provider accepted the request and begins to answer."""

    response_id: str
    model: str
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool call begins; its arguments are still being written."""

    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallCompleted:
    """A tool call is whole, even if the answer goes on."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The request failed before anything was shown and will be sent again.

    `attempt` counts from 1; `delay_s` is the wait before the next try.
    """

    attempt: int
    delay_s: float
    error: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer; always the last event of a stream that did not fail.

    `message` holds every block in order. A call that the output limit cut
    off is listed in `cut_calls` by id and must not be run.
    """

    message: Message
    stop: StopReason
    usage: Usage
    response_id: str
    model: str
    request_id: str | None = None
    cut_calls: tuple[str, ...] = ()


ModelEvent: TypeAlias = (
    AnswerStarted | TextDelta | ReasoningDelta | CallStarted | CallCompleted | RetryScheduled | Answered
)
