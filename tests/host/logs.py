"""Logs of random programs in the order in which they were stored, and stores that begin with logs."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from actors.address import AgentId
from actors.records import AgentOpened, AgentRole, Record
from actors.state import folded
from host.host import Host
from host.store.codec import decode_log, encode_record
from host.store.memory import MemoryStore
from host.store.ports import Store
from providers.scripted import ScriptedProvider
from tests.crash.telling_store import TellingStore
from tests.host.lagging import LaggingStore
from tests.host.test_random_programs import Program

Commit = tuple[AgentId, tuple[Record, ...]]


@dataclass(kw_only=True)
class Written(Program):
    """A program that keeps what it wrote, and compares each agent with its log behind each commit."""

    commits: list[Commit] = field(default_factory=list)
    logs: dict[AgentId, list[Record]] = field(default_factory=dict)
    now: Host | None = None
    n_compared: int = 0

    def host(self, store: Store) -> tuple[Host, ScriptedProvider]:
        self.now, provider = super().host(store)
        return self.now, provider

    def submitting(self, agent_id: AgentId, records: tuple[Record, ...]) -> None:
        self.commits.append((agent_id, records))
        self.logs.setdefault(agent_id, []).extend(as_stored(records))

    def answered(self, agent_id: AgentId, error: Exception | None) -> None:
        if error is not None or self.now is None:
            return
        for session in self.now.agents():
            if session.id == agent_id:
                self.n_compared += 1
                again = folded(self.logs[agent_id][: session.fold.n_records])
                self.blame(again != session.fold, f"{session.name}: its log folds into another state")


def as_stored(records: Iterable[Record]) -> tuple[Record, ...]:
    """The records as they come back from a store."""
    encoded = tuple(map(encode_record, records))
    log = decode_log(AgentId("any"), len(encoded), enumerate(encoded))
    return tuple(stored.record for stored in log.records)


async def written(seed: int, *, n_lives: int = 2) -> Written:
    """A program behind a few lives; whatever was wrong is in its problems."""
    memory = MemoryStore()
    program: Written

    def store(lag_s: float) -> Store:
        return TellingStore(LaggingStore(memory, lag_s), program.submitting, program.answered)

    program = Written(dice=random.Random(seed), store=store)
    for _ in range(n_lives):
        await program.live()
    return program


def ends_of_commits(commits: Sequence[Commit]) -> dict[AgentId, list[int]]:
    """Of each agent, how long its log was behind each of its commits."""
    lengths: dict[AgentId, list[int]] = {}
    for agent_id, records in commits:
        so_far = lengths.setdefault(agent_id, [])
        so_far.append((so_far[-1] if so_far else 0) + len(records))
    return lengths


def up_to(commits: Sequence[Commit]) -> dict[AgentId, tuple[Record, ...]]:
    """The logs that these commits make, in the order of their beginnings."""
    logs: dict[AgentId, tuple[Record, ...]] = {}
    for agent_id, records in commits:
        logs[agent_id] = logs.get(agent_id, ()) + records
    return logs


def alone(log: Sequence[Record]) -> tuple[Record, ...]:
    """The log as that of an agent without parent."""
    opened = log[0]
    assert isinstance(opened, AgentOpened)
    spec = {**opened.spec, "type_prompt": None}
    root = replace(opened, root_id=opened.agent_id, parent_id=None, role=AgentRole.MAIN, spec=spec)
    return (root, *log[1:])


async def store_with(logs: Mapping[AgentId, Sequence[Record]]) -> MemoryStore:
    """A store in which these logs stand; parents come before their children."""
    memory = MemoryStore()
    async with memory:
        for root_id, log in logs.items():
            if opened_of(log).parent_id is None:
                async with await memory.lease(root_id):
                    for one in logs.values():
                        if opened_of(one).root_id == root_id:
                            await memory.create(opened_of(one), *one[1:])
    return memory


def opened_of(log: Sequence[Record]) -> AgentOpened:
    opened = log[0]
    assert isinstance(opened, AgentOpened)
    return opened
