"""The one thread that touches the SQLite file, and the way back to the loop.

Jobs come in through a queue without a bound: a submit must never wait, and
what is submitted is bounded by the mailboxes and turns that submit. Everything
that was submitted while a commit ran becomes the next transaction.
"""

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol, TypeAlias, assert_never, runtime_checkable

import anyio
from anyio.lowlevel import current_token

from actors.address import AgentId
from actors.errors import LogFailed
from host.errors import HostError, StoreUnavailable
from host.store.lease_file import LeaseFile
from host.store.schema import unavailable
from host.store.sqlite_table import SqliteTable
from host.store.store_lock import StoreLock
from host.store.streams import Submission, store_submission

_MAX_GROUP = 1000
_DRAIN_S = 60.0


@dataclass(slots=True)
class OpenFile:
    """What the thread works with while it runs; `epochs` and `lease_files` are of the sessions held.

    `lock` keeps the store from being repaired. Logs can be checked unless
    an old file is only read (`has_hashes`).
    """

    path: Path
    connection: sqlite3.Connection
    now_s: Callable[[], float]
    epochs: dict[AgentId, int] = field(default_factory=dict)
    lease_files: dict[AgentId, LeaseFile] = field(default_factory=dict)
    lock: StoreLock | None = None
    has_hashes: bool = True

    def close(self) -> None:
        try:
            # The file first: whoever gets a lease then finds everything in it.
            self.connection.close()
            for root_id in tuple(self.lease_files):
                self.release(root_id)
        finally:
            if self.lock is not None:
                self.lock.release()

    def release(self, root_id: AgentId) -> None:
        del self.epochs[root_id]
        self.lease_files.pop(root_id).release()


@dataclass(slots=True)
class Call:
    """Other work on the file, between two transactions, for a task that waits for it."""

    work: Callable[[OpenFile], None]
    ready: anyio.Event
    error: HostError | None = None

    def run(self, file: OpenFile) -> None:
        try:
            self.work(file)
        except HostError as error:
            self.error = error
        except (sqlite3.Error, OSError, UnicodeError) as error:  # SQLite quotes what is broken
            self.error = unavailable(file.path, error)

    def answer(self) -> None:
        self.ready.set()


Job: TypeAlias = Submission | Call


class SqliteThread:
    """Runs jobs in order and answers them in order, on the thread of the loop that made it.

    `put`, `start` and `stop` are for that loop's thread. Nothing is lost
    between them: a job that cannot run any more is refused, and answered
    behind those before it.
    """

    def __init__(self, open_file: Callable[[], OpenFile]) -> None:
        self._open_file = open_file
        self._post = _way_back()
        self._thread = threading.Thread(target=self._run, name="callboard-store", daemon=True)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._taken: list[Job] = []
        self._late: list[Job] = []
        self._answers: deque[Job] = deque()
        self._is_stopping = False
        self._open_error: BaseException | None = None
        self._opened = anyio.Event()
        self._ended = anyio.Event()

    async def start(self) -> None:
        """Opens the file.

        Raises:
            StoreError: it cannot be opened; the thread has ended.
        """
        self._thread.start()
        with anyio.CancelScope(shield=True):  # bounded by the file's busy timeout and its migration
            await self._opened.wait()
        if self._open_error is not None:
            await self.stop()
            raise self._open_error

    def put(self, job: Job) -> None:
        if self._ended.is_set():
            self._refuse((job,))
        elif self._is_stopping:
            self._late.append(job)
        else:
            self._jobs.put(job)

    async def stop(self) -> None:
        """Runs what was put, closes the file and ends the thread, under cancellation too.

        Raises:
            StoreUnavailable: the file did not take it within a minute.
        """
        self._is_stopping = True
        self._jobs.put(None)
        with anyio.move_on_after(_DRAIN_S, shield=True):
            await self._ended.wait()
        if not self._ended.is_set():
            raise StoreUnavailable(f"the store did not finish writing within {_DRAIN_S:.0f} s")
        self._thread.join()

    def _run(self) -> None:
        try:
            file = self._open_file()
        except BaseException as error:  # noqa: BLE001 (`start` raises it; it waits for an answer in any case)
            self._open_error = error
            self._post(self._opened.set)
            self._post(self._end)
            return
        self._post(self._opened.set)
        try:
            self._serve(file)
        finally:
            try:
                file.close()
            finally:
                self._post(self._end)

    def _serve(self, file: OpenFile) -> None:
        table = SqliteTable(file.connection, file.epochs)
        while self._take():
            while self._taken:
                finished = _run_next(file, table, self._taken)
                del self._taken[: len(finished)]
                self._post(partial(self._answer, finished))

    def _take(self) -> bool:
        """Waits for jobs and takes all that are there; False when it shall stop."""
        while (job := self._jobs.get()) is not None:
            self._taken.append(job)
            if self._jobs.empty() or len(self._taken) >= _MAX_GROUP:
                return True
        self._jobs.put(None)  # for the next look; nothing is put behind it
        return bool(self._taken)

    def _answer(self, jobs: Sequence[Job]) -> None:
        self._answers.extend(jobs)
        try:
            while self._answers:
                self._answers.popleft().answer()
        finally:
            if self._answers:  # one raised: the error passes on, the others hear theirs all the same
                self._post(partial(self._answer, ()))

    def _refuse(self, jobs: Sequence[Job]) -> None:
        text = "the store is closed" if self._is_stopping else "the store has failed and writes no more"
        for job in jobs:
            match job:
                case Submission():
                    job.refuse(LogFailed(f"not stored: {text}"))
                case Call():
                    job.error = StoreUnavailable(text)
                case _:
                    assert_never(job)
        self._answer(jobs)

    def _end(self) -> None:
        """The thread touches nothing any more; jobs are left only if it failed."""
        left = [*self._taken, *self._late]
        while not self._jobs.empty():
            if (job := self._jobs.get()) is not None:
                left.insert(len(left) - len(self._late), job)
        self._ended.set()
        self._refuse(left)


def _run_next(file: OpenFile, table: SqliteTable, jobs: Sequence[Job]) -> Sequence[Job]:
    """Runs the submissions at the front as one transaction, or the one call there."""
    group: list[Submission] = []
    for job in jobs:
        match job:
            case Submission():
                group.append(job)
            case Call():
                if not group:
                    job.run(file)
                    table.forget()  # a lease or rows may be others now
                    return (job,)
                break
            case _:
                assert_never(job)
    _commit(file, table, group)
    return group


def _commit(file: OpenFile, table: SqliteTable, group: Sequence[Submission]) -> None:
    """Stores the group durably; on an error of the file all of it is refused."""
    try:
        table.begin(file.now_s())
        for submitted in group:
            store_submission(submitted, table)
        table.commit()
    except (sqlite3.Error, UnicodeError) as error:
        table.roll_back()
        for submitted in group:
            if submitted.refusal is None:
                submitted.refuse(LogFailed(f"not stored: {unavailable(file.path, error)}"))


@runtime_checkable
class _TrioToken(Protocol):
    """`trio.lowlevel.TrioToken`, named without importing trio, which need not be installed."""

    def run_sync_soon(self, sync_fn: Callable[[], object]) -> None: ...


def _way_back() -> Callable[[Callable[[], object]], object]:
    """Has this loop call a function soon, in order; for any thread."""
    match current_token().native_token:
        case asyncio.AbstractEventLoop() as loop:
            # In the context of whoever opened the store: in the thread's, anyio does not know its loop.
            return partial(loop.call_soon_threadsafe, context=copy_context())
        case _TrioToken() as token:
            return token.run_sync_soon
        case other:
            raise RuntimeError(f"the store runs on asyncio and trio, not on {type(other).__name__}")
