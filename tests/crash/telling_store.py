"""A store that tells what is submitted to it and what it has answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from actors.address import AgentId
from actors.records import AgentOpened, Record
from host.store.ports import AgentLog, AgentRow, Done, Lease, LoadedLog, Store

Submitting = Callable[[AgentId, tuple[Record, ...]], None]
Answering = Callable[[AgentId, Exception | None], None]


@dataclass(slots=True)
class TellingLog:
    """One log of a `TellingStore`."""

    store: "TellingStore"
    inner: AgentLog

    @property
    def agent_id(self) -> AgentId:
        return self.inner.agent_id

    @property
    def next_seq(self) -> int:
        return self.inner.next_seq

    def submit(self, records: tuple[Record, ...], done: Done) -> None:
        def answered(error: Exception | None) -> None:
            done(error)
            self.store.on_answered(self.agent_id, error)

        self.store.on_submitting(self.agent_id, records)
        self.inner.submit(records, answered)


@dataclass(slots=True)
class TellingStore:
    """Calls `on_submitting` before each submission, and `on_answered` behind its `done`: behind the fold."""

    inner: Store
    on_submitting: Submitting
    on_answered: Answering

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.inner.__aexit__(kind, error, trace)

    async def lease(self, root_id: AgentId) -> Lease:
        return await self.inner.lease(root_id)

    async def create(self, opened: AgentOpened, *records: Record) -> AgentLog:
        self.on_submitting(opened.agent_id, (opened, *records))
        return TellingLog(self, await self.inner.create(opened, *records))

    def writer(self, agent_id: AgentId, next_seq: int) -> AgentLog:
        return TellingLog(self, self.inner.writer(agent_id, next_seq))

    def submit_many(self, parts: Sequence[tuple[AgentLog, tuple[Record, ...]]], done: Done) -> None:
        raise NotImplementedError("a host submits to one log at a time")

    async def load(self, agent_id: AgentId) -> LoadedLog:
        return await self.inner.load(agent_id)

    async def agents(self, root_id: AgentId | None = None) -> tuple[AgentRow, ...]:
        return await self.inner.agents(root_id)

    async def flush(self) -> None:
        await self.inner.flush()

    async def put_artifact(self, data: bytes) -> str:
        return await self.inner.put_artifact(data)

    async def get_artifact(self, artifact_id: str) -> bytes | None:
        return await self.inner.get_artifact(artifact_id)
