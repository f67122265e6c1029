"""A store in memory that takes its time: records count only when a later commit group has them."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup

from actors.address import AgentId
from actors.errors import LogFailed
from actors.records import AgentOpened, Record
from host.store.memory import MemoryStore
from host.store.ports import AgentLog, AgentRow, Done, Lease, LoadedLog

Callback = Callable[[Exception | None], None]


class LaggingStore:
    """Commits in groups, each `lag_s` after the one before; leaving drains what was submitted."""

    def __init__(self, inner: MemoryStore, lag_s: float) -> None:
        self._inner = inner
        self._lag_s = lag_s
        self._queue: list[tuple[AgentLog, tuple[Record, ...], Callback]] = []
        self._bell = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._writing = anyio.CancelScope(shield=True)

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._write)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        self._commit()
        self._writing.cancel()
        await self._tasks.__aexit__(None, None, None)
        await self._inner.__aexit__(kind, error, trace)

    async def _write(self) -> None:
        """As a thread would: an outer cancellation does not reach it."""
        with self._writing:
            while True:
                await self._bell.wait()
                self._bell = anyio.Event()
                await anyio.sleep(self._lag_s)
                self._commit()

    def _commit(self) -> None:
        group, self._queue = self._queue, []
        for log, records, done in group:
            log.submit(records, done)

    def put(self, log: AgentLog, records: tuple[Record, ...], done: Callback) -> None:
        self._queue.append((log, records, done))
        self._bell.set()

    async def create(self, opened: AgentOpened, *records: Record) -> AgentLog:
        await anyio.sleep(self._lag_s)
        return LaggingLog(self, await self._inner.create(opened, *records))

    def writer(self, agent_id: AgentId, next_seq: int) -> AgentLog:
        return LaggingLog(self, self._inner.writer(agent_id, next_seq))

    def submit_many(self, parts: Sequence[tuple[AgentLog, tuple[Record, ...]]], done: Done) -> None:
        raise NotImplementedError("no test submits to several lagging logs at once")

    async def lease(self, root_id: AgentId) -> Lease:
        lease = await self._inner.lease(root_id)

        async def release(_: Lease) -> None:
            """Behind everything that was submitted, as the protocol has it."""
            self._commit()
            await lease.release()

        return Lease(root_id, lease.epoch, release)

    async def load(self, agent_id: AgentId) -> LoadedLog:
        self._commit()
        return await self._inner.load(agent_id)

    async def agents(self, root_id: AgentId | None = None) -> tuple[AgentRow, ...]:
        return await self._inner.agents(root_id)

    async def flush(self) -> None:
        await anyio.sleep(2 * self._lag_s)

    async def put_artifact(self, data: bytes) -> str:
        return await self._inner.put_artifact(data)

    async def get_artifact(self, artifact_id: str) -> bytes | None:
        return await self._inner.get_artifact(artifact_id)


class LaggingLog:
    """One log of a `LaggingStore`."""

    def __init__(self, store: LaggingStore, inner: AgentLog) -> None:
        self._store = store
        self._inner = inner

    @property
    def agent_id(self) -> AgentId:
        return self._inner.agent_id

    @property
    def next_seq(self) -> int:
        return self._inner.next_seq

    def submit(self, records: tuple[Record, ...], done: Callback) -> None:
        self._store.put(self._inner, records, done)


class CrashingStore(LaggingStore):
    """Takes its time, and from `crash` on takes nothing: what was not committed by then is gone."""

    def __init__(self, inner: MemoryStore, lag_s: float) -> None:
        super().__init__(inner, lag_s)
        self._has_crashed = False

    def crash(self) -> None:
        self._has_crashed = True

    async def create(self, opened: AgentOpened, *records: Record) -> AgentLog:
        if self._has_crashed:
            raise LogFailed("the store has crashed")
        return await super().create(opened, *records)

    def _commit(self) -> None:
        if not self._has_crashed:
            super()._commit()
            return
        group, self._queue = self._queue, []
        for _, _, done in group:
            done(LogFailed("the store has crashed"))

    def put(self, log: AgentLog, records: tuple[Record, ...], done: Callback) -> None:
        if self._has_crashed and not self._queue:
            done(LogFailed("the store has crashed"))
        else:
            super().put(log, records, done)
