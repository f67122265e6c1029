"""The default store: one SQLite file, durable before anything counts."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import anyio
import anyio.to_thread

from actors.address import AgentId
from actors.errors import LogFailed
from actors.records import AgentOpened, Record
from host.errors import StoreUnavailable, UnknownSession
from host.store import sqlite_keeping, sqlite_table
from host.store.codec import decode_log
from host.store.collecting import artifact_sizes
from host.store.holder import Holder
from host.store.lease_file import take_lease_file
from host.store.ports import GRACE_S, AgentLog, AgentRow, Done, Lease, LoadedLog
from host.store.reading import ReadFile, open_for_reading
from host.store.schema import Durability, open_database
from host.store.sizes import Removed, StoreSizes
from host.store.sqlite_thread import Call, OpenFile, SqliteThread
from host.store.store_lock import lease_folder, share_store, share_store_to_read
from host.store.streams import Stream, Submission, submission

T = TypeVar("T")

# Below this, decoding takes less than the way to another thread and back.
_DECODE_HERE_RECORDS = 200


class SqliteStore:
    """A store in one file; several processes may share it, each writing sessions of its own.

    What was answered has been written to the disk (`durability="full"`) or
    given to the system (`"normal"`: it survives the death of the process; a
    power cut may take the last moments). Submits that come while another is
    being written share the next write.

    With `read_only`, a file of any version up to today's is read as it is:
    nothing is made, migrated or written, and every lease and write is refused.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "full",
        read_only: bool = False,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self.path = Path(path)
        self._durability = durability
        self._is_read_only = read_only
        self._now_s = now_s
        self._thread: SqliteThread | None = None
        self._held: Mapping[AgentId, int] = {}

    async def __aenter__(self) -> Self:
        """Opens the file, making it and its folder where they are missing, unless it is only read.

        Raises:
            StoreUnavailable, StoreDamaged, StoreTooNew: and which path.
            StoreBusy: the store is being repaired.
        """
        if self._thread is not None:
            raise RuntimeError(
                f"the store {self.path} is open already; open a second object for a second user"
            )
        thread = SqliteThread(self._open_file)
        await thread.start()
        self._thread = thread
        return self

    def _open_file(self) -> OpenFile:
        lock = share_store_to_read(self.path) if self._is_read_only else share_store(self.path)
        try:
            found = (
                open_for_reading(self.path)
                if self._is_read_only
                else ReadFile(open_database(self.path, self._durability), has_hashes=True)
            )
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return OpenFile(self.path, found.connection, self._now_s, lock=lock, has_hashes=found.has_hashes)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        thread = self._open_thread()
        try:
            await thread.stop()
        finally:
            self._thread, self._held = None, {}

    async def lease(self, root_id: AgentId) -> Lease:
        self._check_id(root_id)
        self._check_writable()
        # Shielded: a lease that was taken must reach its owner, or nobody could release it.
        with anyio.CancelScope(shield=True):
            epoch = await self._call(partial(_take_lease, root_id=root_id))
        # A new mapping: writers keep the one that held when they were made.
        self._held = {**self._held, root_id: epoch}
        return Lease(root_id, epoch, self._release)

    async def _release(self, lease: Lease) -> None:
        if self._held.get(lease.root_id) != lease.epoch:
            return
        self._held = {root: epoch for root, epoch in self._held.items() if root != lease.root_id}
        with anyio.CancelScope(shield=True):
            await self._call(partial(OpenFile.release, root_id=lease.root_id))

    async def create(self, opened: AgentOpened, *records: Record) -> AgentLog:
        stream = self._stream(opened.agent_id, 0)
        await self._submitted(((stream, (opened, *records)),))
        return stream

    async def create_all(self, logs: Sequence[tuple[AgentOpened, tuple[Record, ...]]]) -> None:
        await self._submitted(
            [(self._stream(opened.agent_id, 0), (opened, *records)) for opened, records in logs]
        )

    async def _submitted(self, parts: Sequence[tuple[AgentLog, tuple[Record, ...]]]) -> None:
        ready = anyio.Event()
        answers: list[Exception | None] = []

        def done(error: Exception | None) -> None:
            answers.append(error)
            ready.set()

        self.submit_many(parts, done)
        await ready.wait()
        if answers[0] is not None:
            raise answers[0]

    def writer(self, agent_id: AgentId, next_seq: int) -> AgentLog:
        return self._stream(agent_id, next_seq)

    def _stream(self, agent_id: AgentId, next_seq: int) -> Stream:
        return Stream(agent_id, next_seq, self._held, self._send)

    def submit_many(self, parts: Sequence[tuple[AgentLog, tuple[Record, ...]]], done: Done) -> None:
        self._send(submission(parts, done))

    def _send(self, submitted: Submission) -> None:
        if self._thread is None or self._is_read_only:
            how = "not open" if self._thread is None else "open for reading only"
            submitted.refuse(LogFailed(f"not stored: the store {self.path} is {how}"))
            submitted.answer()
        else:
            self._thread.put(submitted)

    async def load(self, agent_id: AgentId) -> LoadedLog:
        self._check_id(agent_id)
        log = await self._call(
            lambda file: sqlite_table.read_log(file.connection, agent_id, has_hashes=file.has_hashes)
        )
        if log is None:
            raise self._unknown(agent_id)
        rows = log.checked(agent_id)
        if len(log.records) <= _DECODE_HERE_RECORDS:
            return decode_log(agent_id, log.n_records, rows)
        return await anyio.to_thread.run_sync(decode_log, agent_id, log.n_records, rows)

    async def agents(self, root_id: AgentId | None = None) -> tuple[AgentRow, ...]:
        if root_id is not None and not _can_be_id(root_id):
            return ()
        return await self._call(lambda file: sqlite_table.read_agents(file.connection, root_id))

    async def flush(self) -> None:
        await self._call(lambda _: None)

    async def put_artifact(self, data: bytes) -> str:
        self._check_writable()
        return await self._call(lambda file: sqlite_table.put_artifact(file.connection, data, file.now_s()))

    async def get_artifact(self, artifact_id: str) -> bytes | None:
        if not _can_be_id(artifact_id):
            return None
        return await self._call(lambda file: sqlite_table.get_artifact(file.connection, artifact_id))

    async def artifact_ids(self) -> frozenset[str]:
        return frozenset(await self._call(artifact_sizes))

    async def archive(self, root_id: AgentId, is_archived: bool = True) -> None:
        self._check_id(root_id)
        self._check_writable()
        async with sqlite_keeping.held(self._call, self.lease, (root_id,)):
            await sqlite_keeping.archive(self._call, root_id, is_archived=is_archived)

    async def delete(self, *root_ids: AgentId) -> Removed:
        for root_id in root_ids:
            self._check_id(root_id)
        self._check_writable()
        once = tuple(dict.fromkeys(root_ids))
        async with sqlite_keeping.held(self._call, self.lease, once):
            return await sqlite_keeping.delete(self._call, once)

    async def collect(self, older_than_s: float = GRACE_S) -> Removed:
        self._check_writable()
        return await sqlite_keeping.collect(self._call, older_than_s)

    async def sizes(self) -> StoreSizes:
        return await sqlite_keeping.sizes(self._call)

    async def _call(self, work: Callable[[OpenFile], T]) -> T:
        results: list[T] = []
        call = Call(lambda file: results.append(work(file)), anyio.Event())
        self._open_thread().put(call)
        await call.ready.wait()
        if call.error is not None:
            raise call.error
        return results[0]

    def _open_thread(self) -> SqliteThread:
        if self._thread is None:
            raise StoreUnavailable(f"the store {self.path} is not open; use it inside `async with`")
        return self._thread

    def _check_writable(self) -> None:
        self._open_thread()
        if self._is_read_only:
            raise StoreUnavailable(f"the store {self.path} is open for reading only")

    def _check_id(self, agent_id: AgentId) -> None:
        if not _can_be_id(agent_id):
            raise self._unknown(agent_id)

    def _unknown(self, agent_id: AgentId) -> UnknownSession:
        return UnknownSession(f"there is no session or agent {agent_id!r} in the store {self.path}")


def _can_be_id(text: str) -> bool:
    """An argument of a command line may hold bytes that are no text, which SQLite would refuse."""
    return text.isprintable()


def _take_lease(file: OpenFile, root_id: AgentId) -> int:
    lease_file = take_lease_file(lease_folder(file.path), Holder(root_id, os.getpid(), file.now_s()))
    try:
        epoch = sqlite_table.take_epoch(file.connection, root_id)
    except BaseException:
        lease_file.release()
        raise
    file.epochs[root_id] = epoch
    file.lease_files[root_id] = lease_file
    return epoch
