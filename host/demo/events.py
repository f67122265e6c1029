"""What is seen of the demonstration: plain data with a JSON form."""

from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from host.tagged import tagged_json
from providers.model import Usage


@dataclass(frozen=True, slots=True)
class DemoStarted:
    model: str
    folder: str
    n_pages: int


@dataclass(frozen=True, slots=True)
class ActStarted:
    """`note` says who decides in this act."""

    act: int
    title: str
    note: str


@dataclass(frozen=True, slots=True)
class AgentAppeared:
    """`parent` is who started it; None for one that the program started. `task` is what for."""

    agent: str
    parent: str | None
    task: str
    is_background: bool = False


@dataclass(frozen=True, slots=True)
class AgentAnswered:
    """A turn has ended. `stop` says how, `text` is its last text; whether that makes sense is the model's."""

    agent: str
    text: str
    stop: str
    usage: Usage
    seconds: float
    error: str | None


@dataclass(frozen=True, slots=True)
class NotificationArrived:
    """`about` is the agent of whose end `agent` was told."""

    agent: str
    about: str
    status: str


@dataclass(frozen=True, slots=True)
class MessageSent:
    sender: str
    recipient: str
    body: str


@dataclass(frozen=True, slots=True)
class MessageLanded:
    """The message is in a running turn, behind an answer of so many characters and no tool call."""

    agent: str
    presentation: str
    n_characters_before: int


@dataclass(frozen=True, slots=True)
class ReceiptAdvanced:
    """`seconds` count from the sending; `detail` is the request that carried it, or how the turn ended."""

    state: str
    seconds: float
    detail: str


@dataclass(frozen=True, slots=True)
class RecordChosen:
    page: str
    title: str
    topic: str
    key_sentence: str
    usage: Usage
    seconds: float


@dataclass(frozen=True, slots=True)
class TableJoined:
    """One row for each page: page, title, topic and key sentence."""

    rows: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Claimed:
    """Something that this act shows, and whether it was so."""

    text: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ActEnded:
    act: int
    seconds: float
    usage: Usage


@dataclass(frozen=True, slots=True)
class DemoEnded:
    """The last event. The demonstration has succeeded if no claim was broken."""

    n_claims: int
    n_broken: int
    seconds: float
    usage: Usage


DemoEvent: TypeAlias = (
    DemoStarted
    | ActStarted
    | AgentAppeared
    | AgentAnswered
    | NotificationArrived
    | MessageSent
    | MessageLanded
    | ReceiptAdvanced
    | RecordChosen
    | TableJoined
    | Claimed
    | ActEnded
    | DemoEnded
)


def demo_event_to_json(event: DemoEvent) -> dict[str, JsonValue]:
    """The event as one JSON object: its kind under `event`, then its fields."""
    return tagged_json(event)
