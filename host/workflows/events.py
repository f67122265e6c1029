"""What is seen of a run while it goes on: plain data with a JSON form.

`at_s` counts the seconds since the run began. `phase` is the path of phases
around what happened, the outermost first.
"""

from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from actors.records import AgentState
from host.tagged import tagged_json
from providers.model import Usage


@dataclass(frozen=True, slots=True)
class RunStarted:
    workflow: str
    arguments: dict[str, JsonValue]
    at_s: float


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    phase: tuple[str, ...]
    at_s: float


@dataclass(frozen=True, slots=True)
class PhaseEnded:
    """`state` is completed, failed or cancelled."""

    phase: tuple[str, ...]
    state: AgentState
    seconds: float
    at_s: float


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """An agent begins to work on one prompt.

    `label` is the name that the script gave, `agent` the address that came of
    it. `n_ask` counts the prompts of an actor from 1.
    """

    agent: str
    label: str
    phase: tuple[str, ...]
    model: str
    n_ask: int
    preview: str
    at_s: float


@dataclass(frozen=True, slots=True)
class AgentEnded:
    """The same agent has answered, or not: `state` is completed, failed or cancelled.

    `usage` and `seconds` are those of this prompt; the wait for a free slot
    in the run does not count.
    """

    agent: str
    label: str
    phase: tuple[str, ...]
    state: AgentState
    usage: Usage
    seconds: float
    error: str | None
    at_s: float


@dataclass(frozen=True, slots=True)
class Logged:
    text: str
    phase: tuple[str, ...]
    at_s: float


@dataclass(frozen=True, slots=True)
class Reported:
    """A part of the result that is known before the end."""

    item: JsonValue
    phase: tuple[str, ...]
    at_s: float


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The last event of every run: `state` is completed, failed or cancelled."""

    workflow: str
    state: AgentState
    result: JsonValue
    error: str | None
    n_agents: int
    usage: Usage
    at_s: float


RunEvent: TypeAlias = (
    RunStarted | PhaseStarted | PhaseEnded | AgentStarted | AgentEnded | Logged | Reported | RunEnded
)


def run_event_to_json(event: RunEvent) -> dict[str, JsonValue]:
    """The event as one JSON object: its kind under `event`, then its fields."""
    return tagged_json(event)
