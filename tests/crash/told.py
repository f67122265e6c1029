"""What a process told of itself before it was killed: one line a fact, in a file that outlives it.

A line counts once `write` has returned, like an acknowledgement that a caller
has heard. The kill may cut the last one; what is cut was not heard.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, get_args

from pydantic import TypeAdapter

from actors.address import AgentId


@dataclass(frozen=True, slots=True)
class Submitted:
    """So many records of an agent go to the store now, in one submission."""

    life: int
    agent_id: AgentId
    n_records: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The store has so many records of an agent; `says` is what its live state would send behind them."""

    life: int
    agent_id: AgentId
    n_records: int
    says: str


@dataclass(frozen=True, slots=True)
class Heard:
    """A sender heard how far its message has come."""

    life: int
    envelope_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A caller got the end of a turn."""

    life: int
    agent_id: AgentId
    turn_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Spawned:
    """A caller heard that this child has its task."""

    life: int
    agent_id: AgentId


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A caller heard that these turns are out of the history."""

    life: int
    agent_id: AgentId
    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forked:
    """A caller has the copy of a conversation, with so many entries."""

    life: int
    agent_id: AgentId
    n_entries: int


@dataclass(frozen=True, slots=True)
class GoalSet:
    """A caller heard that the session has this goal."""

    life: int
    agent_id: AgentId
    text: str


@dataclass(frozen=True, slots=True)
class Ran:
    """A call had its effect on the world."""

    life: int
    call_id: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A provider got a request with these messages."""

    life: int
    digest: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Where a life had come to, or what it found wrong by itself."""

    life: int
    word: str
    problem: str = ""


Fact: TypeAlias = (
    Submitted | Stored | Heard | Answered | Spawned | TakenBack | Forked | GoalSet | Ran | Sent | Noted
)
_KINDS: dict[str, type[Fact]] = {kind.__name__: kind for kind in get_args(Fact)}
_ADAPTERS: dict[str, TypeAdapter[Fact]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}


class Teller:
    """Writes facts, each with one system call."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def tell(self, fact: Fact) -> None:
        kind = type(fact).__name__
        fields = _ADAPTERS[kind].dump_python(fact)
        os.write(self._descriptor, f"{json.dumps([kind, fields])}\n".encode())


def facts_in(path: Path) -> tuple[Fact, ...]:
    """Everything that was told, in order."""
    return tuple(_facts(path.read_bytes())) if path.exists() else ()


def _facts(data: bytes) -> Iterator[Fact]:
    for line in data.splitlines(keepends=True):
        if line.endswith(b"\n"):
            kind, fields = json.loads(line)
            yield _ADAPTERS[kind].validate_python(fields)
