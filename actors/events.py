"""What a caller sees pass by while an agent works: plain data with a JSON form."""

from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from actors.address import Address, AgentId
from actors.history import ResultStatus
from actors.records import AgentState, TurnEnded, TurnId, TurnStop
from providers.model import Usage


@dataclass(frozen=True, slots=True)
class TurnBegan:
    agent: Address
    turn_id: TurnId
    model: str


@dataclass(frozen=True, slots=True)
class StepBegan:
    """A request goes out; `step` counts from 1 within the turn."""

    agent: Address
    turn_id: TurnId
    step: int


@dataclass(frozen=True, slots=True)
class TextArrived:
    agent: Address
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningArrived:
    agent: Address
    text: str


@dataclass(frozen=True, slots=True)
class AnswerCommitted:
    """The whole answer of a step is in the log."""

    agent: Address
    text: str
    usage: Usage
    n_calls: int


@dataclass(frozen=True, slots=True)
class AnswerDropped:
    """The stream broke: what was shown of this step does not count, the step starts again."""

    agent: Address
    text: str
    error: str


@dataclass(frozen=True, slots=True)
class ToolBegan:
    agent: Address
    call_id: str
    name: str
    input: JsonValue


@dataclass(frozen=True, slots=True)
class ToolFinished:
    agent: Address
    call_id: str
    name: str
    status: ResultStatus
    preview: str


@dataclass(frozen=True, slots=True)
class RetryWaits:
    agent: Address
    attempt: int
    delay_s: float
    error: str


@dataclass(frozen=True, slots=True)
class MessageTaken:
    """A message came into the turn."""

    agent: Address
    envelope_id: str
    sender: Address
    presentation: str
    preview: str


@dataclass(frozen=True, slots=True)
class MessageDropped:
    """A message will not be taken: `state` is withdrawn, expired or dead."""

    agent: Address
    envelope_id: str
    state: str
    reason: str


@dataclass(frozen=True, slots=True)
class PermissionWanted:
    agent: Address
    question_id: str
    call_id: str
    tool: str
    summary: str


@dataclass(frozen=True, slots=True)
class PermissionSettled:
    agent: Address
    question_id: str
    call_id: str
    allowed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class WarningRaised:
    """Something went on in a smaller way than wanted, and the reason."""

    agent: Address
    text: str


@dataclass(frozen=True, slots=True)
class TurnFinished:
    agent: Address
    turn_id: TurnId
    stop: TurnStop
    text: str
    usage: Usage
    cost_usd: float | None
    n_steps: int
    error: str | None
    result: JsonValue = None


@dataclass(frozen=True, slots=True)
class AgentChanged:
    """An agent of the tree started, worked, or came to its end."""

    agent: Address
    agent_id: AgentId
    parent: Address | None
    state: AgentState
    reason: str


SessionEvent: TypeAlias = (
    TurnBegan
    | StepBegan
    | TextArrived
    | ReasoningArrived
    | AnswerCommitted
    | AnswerDropped
    | ToolBegan
    | ToolFinished
    | RetryWaits
    | MessageTaken
    | MessageDropped
    | PermissionWanted
    | PermissionSettled
    | WarningRaised
    | TurnFinished
    | AgentChanged
)


def turn_finished(agent: Address, ended: TurnEnded) -> TurnFinished:
    """The event that tells what the log has of a turn's end."""
    return TurnFinished(
        agent=agent,
        turn_id=ended.turn_id,
        stop=ended.stop,
        text=ended.text,
        usage=ended.usage,
        cost_usd=ended.cost_usd,
        n_steps=ended.n_steps,
        error=ended.error,
        result=ended.result,
    )
