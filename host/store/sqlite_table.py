"""A store's rows in SQLite."""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from functools import cache

from pydantic import TypeAdapter, ValidationError

from actors.address import AgentId
from host.errors import StoreDamaged
from host.store.chain import checked, first_link, link
from host.store.codec import EncodedRecord
from host.store.ports import AgentRow
from host.store.streams import Part, row_of

_COLUMNS = tuple(field.name for field in fields(AgentRow))
_ROW = ", ".join(_COLUMNS)

_MAX_KNOWN = 10_000


@dataclass(slots=True)
class _Known:
    """What the listing says of one log, with what this transaction adds to it."""

    root_id: AgentId
    n_records: int
    head: bytes
    title: str | None = None


@dataclass(slots=True)
class SqliteTable:
    """`host.store.streams.Table`, from one transaction to the next.

    `held` are the leases of this store, root to epoch. What was looked up is
    kept: inside a transaction nobody else writes, and at the beginning of the
    next one SQLite tells whether anybody else has written since. Whoever
    changes rows or leases on this connection in another way calls `forget`.
    """

    connection: sqlite3.Connection
    held: Mapping[AgentId, int]
    now_s: float = 0.0
    _data_version: int = -1
    _known: dict[AgentId, _Known] = field(default_factory=dict)
    _epochs: dict[AgentId, int | None] = field(default_factory=dict)
    _shown: set[AgentId] = field(default_factory=set)
    _changed: dict[AgentId, _Known] = field(default_factory=dict)
    _rows: list[tuple[AgentId, int, str, int, bytes, bytes]] = field(default_factory=list)

    def begin(self, now_s: float) -> None:
        """Begins a transaction; only this connection writes until it ends."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.now_s = now_s
        # Asked inside the transaction: the answer then holds until it ends. Own commits do not count.
        (version,) = self.connection.execute("PRAGMA data_version").fetchone()
        if version != self._data_version or len(self._known) > _MAX_KNOWN:
            self.forget()
        self._data_version = version

    def forget(self) -> None:
        """Looks everything up anew from here on."""
        self._known, self._epochs, self._shown = {}, {}, set()
        self._changed, self._rows = {}, []

    def session_of(self, agent_id: AgentId) -> tuple[AgentId, int] | None:
        known = self._known.get(agent_id)
        if known is None:
            row = self.connection.execute(
                "SELECT root_id, n_records, head FROM agents WHERE agent_id = ?", (agent_id,)
            ).fetchone()
            if row is None:
                return None
            root_id, n_records, head = row
            # A head that was lost: the next load finds that nothing follows from it.
            known = self._known[agent_id] = _Known(root_id, n_records, head or b"")
        return known.root_id, known.n_records

    def epoch(self, root_id: AgentId) -> int | None:
        if root_id not in self._epochs:
            row = self.connection.execute("SELECT epoch FROM leases WHERE root_id = ?", (root_id,)).fetchone()
            is_ours = row is not None and row[0] == self.held.get(root_id)
            self._epochs[root_id] = row[0] if is_ours else None
        return self._epochs[root_id]

    def write(self, part: Part) -> None:
        agent_id = part.stream.agent_id
        if part.opened is not None:
            _insert_agent(self.connection, row_of(part.opened, self.now_s))
            self._known[agent_id] = _Known(part.opened.root_id, 0, first_link(agent_id))
        known = self._changed[agent_id] = self._known[agent_id]
        for seq, record in enumerate(part.records, part.first_seq):
            known.head = link(known.head, record)
            self._rows.append((agent_id, seq, record.kind, record.version, record.data, known.head))
        known.n_records += len(part.records)
        known.title = known.title or part.title

    def commit(self) -> None:
        """Writes the records, brings the listing up to date once for all of them, and commits."""
        self.connection.executemany(
            "INSERT INTO records (agent_id, seq, kind, version, data, hash) VALUES (?, ?, ?, ?, ?, ?)",
            self._rows,
        )
        self.connection.executemany(
            "UPDATE agents SET n_records = ?, head = ?, updated_at = ?, title = coalesce(title, ?),"
            " archived_at = NULL WHERE agent_id = ?",
            [
                (known.n_records, known.head, self.now_s, known.title, agent_id)
                for agent_id, known in self._changed.items()
            ],
        )
        roots = {known.root_id for known in self._changed.values()} - self._shown
        self.connection.executemany(
            "UPDATE agents SET archived_at = NULL WHERE agent_id = ? AND archived_at IS NOT NULL",
            [(root_id,) for root_id in roots],
        )
        self.connection.execute("COMMIT")
        self._shown |= roots
        self._changed, self._rows = {}, []

    def roll_back(self) -> None:
        """Nothing of the transaction is kept."""
        self.forget()
        if self.connection.in_transaction:  # SQLite rolls back by itself on a full disk, for one
            self.connection.execute("ROLLBACK")


def _insert_agent(connection: sqlite3.Connection, row: AgentRow) -> None:
    places = ", ".join("?" for _ in _COLUMNS)
    connection.execute(f"INSERT INTO agents ({_ROW}) VALUES ({places})", astuple(row))


def take_epoch(connection: sqlite3.Connection, root_id: AgentId) -> int:
    """A higher epoch than any before; whoever wrote under a lower one is fenced."""
    ((epoch,),) = connection.execute(
        "INSERT INTO leases (root_id, epoch) VALUES (?, 1)"
        " ON CONFLICT (root_id) DO UPDATE SET epoch = epoch + 1 RETURNING epoch",
        (root_id,),
    ).fetchall()
    return int(epoch)


@dataclass(frozen=True, slots=True)
class LogRows:
    """A log as it is stored: how many records it should have, the hash of the last, and its rows in order.

    Of a file of version 1, which has no hashes, `hashes` is None.
    """

    n_records: int
    head: bytes | None
    records: Sequence[tuple[int, EncodedRecord]]
    hashes: Sequence[bytes | None] | None

    def checked(self, agent_id: AgentId) -> Iterable[tuple[int, EncodedRecord]]:
        """The rows, each checked by its hash where there are hashes; raises as `chain.checked` does."""
        if self.hashes is None:
            return self.records
        return checked(agent_id, self.n_records, self.head, self.records, self.hashes)


def read_log(connection: sqlite3.Connection, agent_id: AgentId, *, has_hashes: bool = True) -> LogRows | None:
    """The log of an agent; None where there is no such agent. A file of version 1 has no hashes."""
    connection.execute("BEGIN")
    try:
        row = connection.execute(
            "SELECT n_records, head FROM agents WHERE agent_id = ?", (agent_id,)
        ).fetchone()
        rows = connection.execute(
            "SELECT seq, kind, version, data, hash FROM records WHERE agent_id = ? ORDER BY seq",
            (agent_id,),
        ).fetchall()
    finally:
        connection.execute("ROLLBACK")
    if row is None:
        return None
    records = [(seq, EncodedRecord(kind, version, data)) for seq, kind, version, data, _ in rows]
    n_records, head = row
    return LogRows(n_records, head, records, [row[4] for row in rows] if has_hashes else None)


def read_agents(connection: sqlite3.Connection, root_id: AgentId | None) -> tuple[AgentRow, ...]:
    rows = connection.execute(
        f"SELECT {_ROW} FROM agents WHERE ?1 IS NULL OR root_id = ?1 ORDER BY position", (root_id,)
    ).fetchall()
    try:
        return tuple(_rows_adapter().validate_python([dict(zip(_COLUMNS, row, strict=True)) for row in rows]))
    except ValidationError as error:
        raise StoreDamaged(f"the listing of agents cannot be read: {error}") from error


@cache
def _rows_adapter() -> TypeAdapter[list[AgentRow]]:
    return TypeAdapter(list[AgentRow])


def put_artifact(connection: sqlite3.Connection, data: bytes, now_s: float) -> str:
    artifact_id = hashlib.sha256(data).hexdigest()
    connection.execute(
        # The time is that of the last put: what collects unused ones spares those put lately.
        "INSERT INTO artifacts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET created_at = excluded.created_at",
        (artifact_id, data, now_s),
    )
    return artifact_id


def get_artifact(connection: sqlite3.Connection, artifact_id: str) -> bytes | None:
    row = connection.execute("SELECT data FROM artifacts WHERE artifact_id = ?", (artifact_id,)).fetchone()
    if row is None:
        return None
    data = bytes(row[0])
    if (found := hashlib.sha256(data).hexdigest()) != artifact_id:
        raise StoreDamaged(f"artifact {artifact_id} is not what was put: its bytes have the hash {found}")
    return data
