"""What the host needs of a store."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from actors.address import AgentId
from actors.ports import Log
from actors.records import AgentOpened, AgentRole, Record
from host.store.sizes import Removed, StoreSizes

Done: TypeAlias = Callable[[Exception | None], None]

GRACE_S = 86_400.0
"""How long an artifact stays that nothing refers to: it is put before the record that will refer to it."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record and its place in its agent's log, counted from 0."""

    seq: int
    record: Record


@dataclass(frozen=True, slots=True)
class LoadedLog:
    """One agent's whole log, in order."""

    agent_id: AgentId
    records: tuple[StoredRecord, ...]

    @property
    def plain(self) -> tuple[Record, ...]:
        """The records without their places."""
        return tuple(stored.record for stored in self.records)

    @property
    def next_seq(self) -> int:
        """The sequence that the next writer begins with."""
        return len(self.records)


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One line of a listing. Times are seconds since the epoch.

    `title` is the beginning of the first message that gave the agent its
    work, from a user or its coordinator; None before there is one.
    `archived_at` says of a root when its session was archived; None for one
    that is not, and for all other agents.
    """

    agent_id: AgentId
    root_id: AgentId
    parent_id: AgentId | None
    name: str
    role: AgentRole
    created_at: float
    updated_at: float
    n_records: int
    title: str | None
    archived_at: float | None = None


class AgentLog(Log, Protocol):
    """A log with its place: the next record gets the sequence `next_seq`."""

    @property
    def agent_id(self) -> AgentId: ...

    @property
    def next_seq(self) -> int: ...


@dataclass(slots=True)
class Lease:
    """The right to write one session: a root agent and its tree.

    `epoch` is higher than that of every earlier holder. Leaving the block
    releases it, and so does the death of the process.
    """

    root_id: AgentId
    epoch: int
    _release: Callable[["Lease"], Awaitable[None]]

    async def release(self) -> None:
        """Gives the session up, after everything that was submitted.

        A second call does nothing. Writers made under this lease are refused
        from then on.
        """
        await self._release(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.release()


class Store(Protocol):
    """Logs, artifacts and who may write them. Used as an async context manager.

    Writing a session needs its lease, taken before the writer is made;
    reading needs none. Leaving the block stores what was submitted, even
    under cancellation, and releases every lease. Every method is for the
    loop's thread.

    `done` of a submit is called once, in the order of the submits over all
    logs of the store, with None when the records are durable, else with:

        StaleWriter: the lease is gone or somebody else has appended.
        LogFailed: the records could not be stored (a full disk, say).

    After either, that writer is fenced: it refuses everything that follows.
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def lease(self, root_id: AgentId) -> Lease:
        """Takes the session, which need not exist yet. Never waits for another holder.

        Raises:
            SessionBusy: somebody else holds it; says who.
            StoreUnavailable: the lease cannot be written down.
        """
        ...

    async def create(self, opened: AgentOpened, *records: Record) -> AgentLog:
        """A new log with its first records, durable on return.

        Cancelling only stops the wait: the log may exist.

        Raises:
            StaleWriter: no lease on `opened.root_id`, or the agent exists.
            LogFailed: it could not be stored.
        """
        ...

    def writer(self, agent_id: AgentId, next_seq: int) -> AgentLog:
        """Continues a log behind what `load` gave, under the leases held now."""
        ...

    def submit_many(self, parts: Sequence[tuple[AgentLog, tuple[Record, ...]]], done: Done) -> None:
        """One submit over several logs of this store: all of it is stored or nothing."""
        ...

    async def load(self, agent_id: AgentId) -> LoadedLog:
        """The log with everything that was submitted here before the call.

        Raises:
            UnknownSession: there is no such agent.
            StoreDamaged: a record is missing or unreadable; says which.
        """
        ...

    async def agents(self, root_id: AgentId | None = None) -> tuple[AgentRow, ...]:
        """All agents, or those of one session, in the order in which they were created."""
        ...

    async def flush(self) -> None:
        """Returns when every earlier submit has been answered."""
        ...

    async def put_artifact(self, data: bytes) -> str:
        """Stores the bytes durably and gives their id: the SHA-256 in hexadecimal.

        Raises:
            StoreUnavailable: they could not be stored.
        """
        ...

    async def get_artifact(self, artifact_id: str) -> bytes | None:
        """The bytes, or None when there are none of this id.

        Raises:
            StoreDamaged: the bytes are not those that were put.
        """
        ...


class Keeping(Protocol):
    """What people do with whole sessions; a store that a host runs on need not have it.

    Sessions are named by their roots. Archiving and deleting take the lease
    of the session meanwhile, so neither touches one that is being written.
    """

    async def create_all(self, logs: Sequence[tuple[AgentOpened, tuple[Record, ...]]]) -> None:
        """Several new logs at once, as `Store.create` makes one: all of them are stored or none."""
        ...

    async def artifact_ids(self) -> frozenset[str]:
        """The ids of all artifacts."""
        ...

    async def archive(self, root_id: AgentId, is_archived: bool = True) -> None:
        """Puts the session out of sight or back; nothing of it changes.

        What is appended to one of its logs brings it back by itself.

        Raises:
            UnknownSession: there is no such session.
            SessionBusy: somebody writes it.
        """
        ...

    async def delete(self, *root_ids: AgentId) -> Removed:
        """Removes sessions for good: records, agents, titles, and their artifacts that no other refers to.

        People delete because of secrets, so the artifacts go at once, however
        new, while nobody writes another session of the store; else those put
        less than `GRACE_S` ago stay, as the other may have put the same bytes
        and not yet recorded it. `collect` takes them later.

        What goes is overwritten, but for snippets that SQLite may leave in
        half-filled pages: they go when the file is compacted. The epochs of the
        leases stay, so that a writer of before is refused.

        A large session goes in pieces. If the process dies between them, its
        beginning is left, in the archive, and can be deleted again.

        Raises:
            UnknownSession: one of them is not there; nothing was removed.
            SessionBusy: somebody writes one of them; nothing was removed.
            StoreUnavailable: a full disk, say; what is left is sound.
        """
        ...

    async def collect(self, older_than_s: float = GRACE_S) -> Removed:
        """Removes the artifacts that no record refers to and that were put longer ago than this.

        Every 64 digits in a record that are the id of an artifact count as a
        reference. Others may write meanwhile, if the time is long enough for
        them to record what they put. A session that is copied is safe from its
        first record on.
        """
        ...

    async def sizes(self) -> StoreSizes:
        """How much room every session takes, and what else is in the store; reads all of it."""
        ...


class KeepingStore(Store, Keeping, Protocol):
    """A store with everything."""
