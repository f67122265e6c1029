"""A store that lives as long as the object: for tests, and for sessions that nobody wants to keep."""

import hashlib
import math
import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from anyio.lowlevel import checkpoint

from actors.address import AgentId
from actors.errors import LogFailed
from actors.records import AgentOpened, Record
from host.errors import StoreUnavailable, UnknownSession
from host.store.codec import EncodedRecord, decode_log
from host.store.holder import Holder, session_busy
from host.store.ports import GRACE_S, AgentLog, AgentRow, Done, Lease, LoadedLog
from host.store.references import referred
from host.store.size_report import sizes_of
from host.store.sizes import FileSize, Removed, StoreSizes
from host.store.streams import Part, Stream, Submission, row_of, store_submission, submission


@dataclass(slots=True)
class _Agent:
    row: AgentRow
    records: list[EncodedRecord] = field(default_factory=list)


class MemoryStore:
    """Keeps encoded records, so that what goes in comes out as from a disk.

    A submit is answered before it returns. The same object can be opened
    again, or by several hosts at once; what it holds stays. The last one to
    leave releases the leases, as the end of a process would.
    """

    def __init__(self, *, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self._agents: dict[AgentId, _Agent] = {}
        self._artifacts: dict[str, bytes] = {}
        self._put_at_s: dict[str, float] = {}
        self._epochs: dict[AgentId, int] = {}
        self._held: Mapping[AgentId, int] = {}
        self._held_since_s: dict[AgentId, float] = {}
        self._n_users = 0

    async def __aenter__(self) -> Self:
        await checkpoint()
        self._n_users += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._n_users -= 1
        if self._n_users == 0:
            self._held = {}

    async def lease(self, root_id: AgentId) -> Lease:
        await checkpoint()
        self._check_open()
        if root_id in self._held:
            raise session_busy(root_id, Holder(root_id, os.getpid(), self._held_since_s[root_id]))
        epoch = self._epochs[root_id] = self._epochs.get(root_id, 0) + 1
        self._held_since_s[root_id] = self._now_s()
        # A new mapping: writers keep the one that held when they were made.
        self._held = {**self._held, root_id: epoch}
        return Lease(root_id, epoch, self._release)

    async def _release(self, lease: Lease) -> None:
        if self._held.get(lease.root_id) == lease.epoch:
            self._held = {root: epoch for root, epoch in self._held.items() if root != lease.root_id}

    async def create(self, opened: AgentOpened, *records: Record) -> AgentLog:
        stream = self._stream(opened.agent_id, 0)
        await self._submitted(((stream, (opened, *records)),))
        return stream

    async def create_all(self, logs: Sequence[tuple[AgentOpened, tuple[Record, ...]]]) -> None:
        await self._submitted(
            [(self._stream(opened.agent_id, 0), (opened, *records)) for opened, records in logs]
        )

    async def _submitted(self, parts: Sequence[tuple[AgentLog, tuple[Record, ...]]]) -> None:
        await checkpoint()
        answers: list[Exception | None] = []
        self.submit_many(parts, answers.append)
        if answers[0] is not None:
            raise answers[0]

    def writer(self, agent_id: AgentId, next_seq: int) -> AgentLog:
        return self._stream(agent_id, next_seq)

    def _stream(self, agent_id: AgentId, next_seq: int) -> Stream:
        return Stream(agent_id, next_seq, self._held, self._send)

    def submit_many(self, parts: Sequence[tuple[AgentLog, tuple[Record, ...]]], done: Done) -> None:
        self._send(submission(parts, done))

    def _send(self, submitted: Submission) -> None:
        if self._n_users == 0:
            submitted.refuse(LogFailed("the store in memory is not open"))
        else:
            store_submission(submitted, self)
        submitted.answer()

    def session_of(self, agent_id: AgentId) -> tuple[AgentId, int] | None:
        agent = self._agents.get(agent_id)
        return None if agent is None else (agent.row.root_id, len(agent.records))

    def epoch(self, root_id: AgentId) -> int | None:
        return self._held.get(root_id)

    def write(self, part: Part) -> None:
        now_s = self._now_s()
        if part.opened is not None:
            self._agents[part.opened.agent_id] = _Agent(row_of(part.opened, now_s))
        agent = self._agents[part.stream.agent_id]
        agent.records.extend(part.records)
        agent.row = replace(
            agent.row,
            updated_at=now_s,
            n_records=len(agent.records),
            title=agent.row.title or part.title,
        )
        root = self._agents.get(agent.row.root_id)
        if root is not None:
            root.row = replace(root.row, archived_at=None)

    async def load(self, agent_id: AgentId) -> LoadedLog:
        await checkpoint()
        self._check_open()
        agent = self._agents.get(agent_id)
        if agent is None:
            raise UnknownSession(f"there is no session or agent {agent_id!r} in this store in memory")
        return decode_log(agent_id, len(agent.records), enumerate(tuple(agent.records)))

    async def agents(self, root_id: AgentId | None = None) -> tuple[AgentRow, ...]:
        await checkpoint()
        self._check_open()
        return tuple(agent.row for agent in self._agents.values() if root_id in (None, agent.row.root_id))

    async def flush(self) -> None:
        await checkpoint()

    async def put_artifact(self, data: bytes) -> str:
        await checkpoint()
        self._check_open()
        artifact_id = hashlib.sha256(data).hexdigest()
        self._artifacts[artifact_id] = data
        self._put_at_s[artifact_id] = self._now_s()
        return artifact_id

    async def get_artifact(self, artifact_id: str) -> bytes | None:
        await checkpoint()
        self._check_open()
        return self._artifacts.get(artifact_id)

    async def artifact_ids(self) -> frozenset[str]:
        await checkpoint()
        self._check_open()
        return frozenset(self._artifacts)

    async def archive(self, root_id: AgentId, is_archived: bool = True) -> None:
        async with self._held_for_keeping((root_id,)):
            root = self._agents[root_id]
            if is_archived != (root.row.archived_at is not None):
                root.row = replace(root.row, archived_at=self._now_s() if is_archived else None)

    async def delete(self, *root_ids: AgentId) -> Removed:
        once = tuple(dict.fromkeys(root_ids))
        async with self._held_for_keeping(once):
            doomed = {
                agent_id: agent for agent_id, agent in self._agents.items() if agent.row.root_id in once
            }
            self._agents = {
                agent_id: agent for agent_id, agent in self._agents.items() if agent_id not in doomed
            }
            is_another_written = bool(self._held.keys() - set(once))
            before_s = self._now_s() - GRACE_S if is_another_written else math.inf
            own = {found for agent in doomed.values() for found in self._references_of(agent)}
            records = [record for agent in doomed.values() for record in agent.records]
            return replace(
                self._collected(own, before_s),
                n_agents=len(doomed),
                n_records=len(records),
                record_bytes=sum(len(record.data) for record in records),
            )

    async def collect(self, older_than_s: float = GRACE_S) -> Removed:
        await checkpoint()
        self._check_open()
        return self._collected(set(self._artifacts), self._now_s() - older_than_s)

    async def sizes(self) -> StoreSizes:
        await checkpoint()
        self._check_open()
        return sizes_of(
            [agent.row for agent in self._agents.values()],
            {key: sum(len(record.data) for record in agent.records) for key, agent in self._agents.items()},
            {agent_id: self._references_of(agent) for agent_id, agent in self._agents.items()},
            {artifact_id: len(data) for artifact_id, data in self._artifacts.items()},
            FileSize(),
        )

    @asynccontextmanager
    async def _held_for_keeping(self, root_ids: Sequence[AgentId]) -> AsyncGenerator[None]:
        await checkpoint()
        self._check_open()
        for root_id in root_ids:
            if root_id not in self._agents or self._agents[root_id].row.root_id != root_id:
                raise UnknownSession(f"there is no session {root_id!r} in this store in memory")
        async with AsyncExitStack() as leases:
            for root_id in root_ids:
                await leases.enter_async_context(await self.lease(root_id))
            yield

    def _references_of(self, agent: _Agent) -> set[str]:
        return {found for record in agent.records for found in referred(record.data, self._artifacts)}

    def _collected(self, artifact_ids: set[str], before_s: float) -> Removed:
        """Removes those of the artifacts that nothing refers to and that were put up to this time."""
        used = {found for agent in self._agents.values() for found in self._references_of(agent)}
        unreferred = sorted(artifact_ids - used)
        spared = [len(self._artifacts[key]) for key in unreferred if self._put_at_s[key] > before_s]
        gone = [key for key in unreferred if self._put_at_s[key] <= before_s]
        removed = [len(self._artifacts.pop(key)) for key in gone]
        return Removed(
            n_artifacts=len(removed),
            artifact_bytes=sum(removed),
            n_spared=len(spared),
            spared_bytes=sum(spared),
        )

    def _check_open(self) -> None:
        if self._n_users == 0:
            raise StoreUnavailable("the store in memory is not open; use it inside `async with`")
