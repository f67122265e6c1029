"""Takes sessions out of the SQLite file, piece by piece."""

from collections.abc import Container, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from actors.address import AgentId
from host.store.keeping import PIECE_BYTES, ROW_BYTES, as_the_disk_allows, check_held, transaction
from host.store.references import referred
from host.store.sqlite_thread import OpenFile


@dataclass(slots=True)
class Deletion:
    """Takes sessions away, the end of the youngest log first.

    After every piece the store is sound: what is left of a session is its
    beginning, in the archive, and can be deleted again.
    """

    root_ids: Sequence[AgentId]
    known: Container[str]
    piece_bytes: int = PIECE_BYTES
    n_agents: int = 0
    n_records: int = 0
    record_bytes: int = 0
    references: set[str] = field(default_factory=set)

    def piece(self, file: OpenFile) -> bool:
        """Goes on; True when all of them are gone."""
        piece = as_the_disk_allows(file, lambda limit: _removed_records(file, self, limit), self.piece_bytes)
        self.n_agents += piece.n_agents
        self.n_records += piece.n_records
        self.record_bytes += piece.record_bytes
        self.references |= piece.references
        return piece.is_last


@dataclass(slots=True)
class _Piece:
    n_left: int
    n_agents: int = 0
    n_records: int = 0
    record_bytes: int = 0
    references: set[str] = field(default_factory=set)
    is_last: bool = False


def _removed_records(file: OpenFile, deletion: Deletion, limit_bytes: int) -> _Piece:
    piece = _Piece(limit_bytes)
    with transaction(file.connection):
        check_held(file, deletion.root_ids)
        for root_id in deletion.root_ids:
            agent_ids = file.connection.execute(
                "SELECT agent_id FROM agents WHERE root_id = ? ORDER BY position DESC", (root_id,)
            ).fetchall()
            for (agent_id,) in agent_ids:
                _shorten(file, agent_id, deletion.known, piece)
                if piece.n_left <= 0:
                    return piece
    piece.is_last = True
    return piece


def _shorten(file: OpenFile, agent_id: AgentId, known: Container[str], piece: _Piece) -> None:
    """Takes records from the end of a log, and the agent with the last of them."""
    connection = file.connection
    rows = connection.execute(
        "SELECT seq, data FROM records WHERE agent_id = ? ORDER BY seq DESC", (agent_id,)
    )
    cut = None
    with closing(rows):
        for seq, data in rows:
            if piece.n_left <= 0:
                break
            cut = seq
            piece.n_left -= len(data) + ROW_BYTES
            piece.n_records += 1
            piece.record_bytes += len(data)
            piece.references |= referred(data, known)
        else:
            seq = None
    if cut is not None:
        connection.execute("DELETE FROM records WHERE agent_id = ? AND seq >= ?", (agent_id, cut))
    if seq is None:
        connection.execute("DELETE FROM agents WHERE agent_id = ?", (agent_id,))
        piece.n_agents += 1
        return
    connection.execute(
        "UPDATE agents SET n_records = ?1, head = (SELECT hash FROM records WHERE agent_id = ?2 AND seq = ?3)"
        " WHERE agent_id = ?2",
        (seq + 1, agent_id, seq),
    )
    connection.execute(
        "UPDATE agents SET archived_at = coalesce(archived_at, ?) WHERE agent_id ="
        " (SELECT root_id FROM agents WHERE agent_id = ?)",
        (file.now_s(), agent_id),
    )
