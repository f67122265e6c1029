"""Finds in the SQLite file which artifacts are referred to, and removes others, piece by piece."""

import sqlite3
from collections.abc import Callable, Container
from contextlib import closing
from dataclasses import dataclass, field

from actors.address import AgentId
from host.store.keeping import PIECE_BYTES, ROW_BYTES, as_the_disk_allows, transaction
from host.store.references import referred
from host.store.sqlite_thread import OpenFile


@dataclass(slots=True)
class Scan:
    """Reads all records once and finds which artifacts they refer to, of those that are `known`.

    What is written meanwhile, `catch_up` reads later.
    """

    known: Container[str]
    references: dict[AgentId, set[str]] = field(default_factory=dict)
    record_bytes: dict[AgentId, int] = field(default_factory=dict)
    referred_to: set[str] = field(default_factory=set)
    _n_seen: dict[AgentId, int] = field(default_factory=dict)
    _after: tuple[bytes, int] = (b"", -1)

    def piece(self, file: OpenFile) -> bool:
        """Reads on; True at the end."""
        n_bytes = 0
        # As bytes: of a damaged id, the text that we would get is not what the table is ordered by.
        rows = file.connection.execute(
            "SELECT CAST(agent_id AS BLOB), seq, data FROM records"
            " WHERE (agent_id, seq) > (CAST(? AS TEXT), ?) ORDER BY agent_id, seq",
            self._after,
        )
        with closing(rows):
            for raw_id, seq, data in rows:
                self._after = raw_id, seq
                self._take(AgentId(raw_id.decode("utf-8", "replace")), seq, data)
                n_bytes += len(data) + ROW_BYTES
                if n_bytes >= PIECE_BYTES:
                    return False
        return True

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Reads what was appended behind the place to which each log has been read."""
        for agent_id, n_records in connection.execute("SELECT agent_id, n_records FROM agents").fetchall():
            n_seen = self._n_seen.get(agent_id, 0)
            if n_records > n_seen:
                rows = connection.execute(
                    "SELECT seq, data FROM records WHERE agent_id = ? AND seq >= ?", (agent_id, n_seen)
                )
                for seq, data in rows:
                    self._take(agent_id, seq, data)

    def _take(self, agent_id: AgentId, seq: int, data: bytes) -> None:
        self._n_seen[agent_id] = max(seq + 1, self._n_seen.get(agent_id, 0))
        self.record_bytes[agent_id] = self.record_bytes.get(agent_id, 0) + len(data)
        if found := referred(data, self.known):
            self.references.setdefault(agent_id, set()).update(found)
            self.referred_to |= found


def artifact_sizes(file: OpenFile) -> dict[str, int]:
    """How many bytes each artifact has."""
    return dict(file.connection.execute("SELECT artifact_id, length(data) FROM artifacts").fetchall())


@dataclass(slots=True)
class Collection:
    """Removes those of the artifacts that nothing refers to by the scan, which has come to its end.

    Those put later than `put_before_s` (seconds since the epoch) stay.
    """

    scan: Scan
    left: list[str]
    put_before_s: Callable[[OpenFile], float]
    n_removed: int = 0
    removed_bytes: int = 0
    n_spared: int = 0
    spared_bytes: int = 0

    def piece(self, file: OpenFile) -> bool:
        """Goes on; True at the end."""
        n_taken, removed, spared = as_the_disk_allows(
            file, lambda limit: _removed_artifacts(file, self, limit)
        )
        del self.left[:n_taken]
        self.n_removed += len(removed)
        self.removed_bytes += sum(removed)
        self.n_spared += len(spared)
        self.spared_bytes += sum(spared)
        return not self.left


def _removed_artifacts(
    file: OpenFile, collection: Collection, limit_bytes: int
) -> tuple[int, list[int], list[int]]:
    """How many were looked at, and the sizes of those that went and of those that were put too late."""
    connection = file.connection
    n_taken, removed, spared = 0, list[int](), list[int]()
    with transaction(connection):
        collection.scan.catch_up(connection)  # in here, so that no reference can come between
        before_s = collection.put_before_s(file)
        for artifact_id in collection.left:
            n_taken += 1
            row = connection.execute(
                "SELECT length(data), created_at FROM artifacts WHERE artifact_id = ?", (artifact_id,)
            ).fetchone()
            if row is None or artifact_id in collection.scan.referred_to:
                continue
            if row[1] > before_s:
                spared.append(row[0])
                continue
            connection.execute("DELETE FROM artifacts WHERE artifact_id = ?", (artifact_id,))
            removed.append(row[0])
            limit_bytes -= row[0] + ROW_BYTES
            if limit_bytes <= 0:
                break
    return n_taken, removed, spared
