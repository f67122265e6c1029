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


@dataclass(slots=True)
class SqliteTable:
    """`host.store.streams.Table` for one transaction.

    `held` are the leases of this store, root to epoch. What was looked up is
    kept: nobody else writes while the transaction lasts.
    """

    connection: sqlite3.Connection
    held: Mapping[AgentId, int]
    now_s: float
    _sessions: dict[AgentId, tuple[AgentId, int]] = field(default_factory=dict)
    _heads: dict[AgentId, bytes] = field(default_factory=dict)
    _epochs: dict[AgentId, int | None] = field(default_factory=dict)
    _titles: dict[AgentId, str | None] = field(default_factory=dict)

    def session_of(self, agent_id: AgentId) -> tuple[AgentId, int] | None:
        if agent_id not in self._sessions:
            row = self.connection.execute(
                "SELECT root_id, n_records, head FROM agents WHERE agent_id = ?", (agent_id,)
            ).fetchone()
            if row is None:
                return None
            root_id, n_records, head = row
            self._sessions[agent_id] = root_id, n_records
            self._heads[agent_id] = head or b""  # lost: the next load finds that nothing follows from it
        return self._sessions[agent_id]

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
            self._sessions[agent_id] = (part.opened.root_id, 0)
            self._heads[agent_id] = first_link(agent_id)
        rows = []
        head = self._heads[agent_id]
        for seq, record in enumerate(part.records, part.first_seq):
            head = link(head, record)
            rows.append((agent_id, seq, record.kind, record.version, record.data, head))
        self._heads[agent_id] = head
        self.connection.executemany(
            "INSERT INTO records (agent_id, seq, kind, version, data, hash) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
        root_id, n_records = self._sessions[agent_id]
        self._sessions[agent_id] = (root_id, n_records + len(part.records))
        self._titles[agent_id] = self._titles.get(agent_id) or part.title

    def finish(self) -> None:
        """Brings the listing up to date, once for all that was written."""
        self.connection.executemany(
            "UPDATE agents SET n_records = ?, head = ?, updated_at = ?, title = coalesce(title, ?),"
            " archived_at = NULL WHERE agent_id = ?",
            [
                (self._sessions[agent_id][1], self._heads[agent_id], self.now_s, title, agent_id)
                for agent_id, title in self._titles.items()
            ],
        )
        roots = {self._sessions[agent_id][0] for agent_id in self._titles} - self._titles.keys()
        self.connection.executemany(
            "UPDATE agents SET archived_at = NULL WHERE agent_id = ? AND archived_at IS NOT NULL",
            [(root_id,) for root_id in roots],
        )


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
