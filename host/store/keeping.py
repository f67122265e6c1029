"""Steps of work on whole sessions in the SQLite file, each a short transaction; archiving is one of them.

Whatever grows with the store is done in pieces, so that other work gets its
turn between them and the write-ahead log stays small.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from actors.address import AgentId
from host.store.holder import session_busy
from host.store.sqlite_table import SqliteTable
from host.store.sqlite_thread import OpenFile

T = TypeVar("T")

PIECE_BYTES = 4 * 2**20
_LEAST_PIECE_BYTES = 16 * 2**10
ROW_BYTES = 100  # what a row takes beside its data, roughly


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block is stored or nothing; nobody else writes meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite rolls back by itself on a full disk, for one
            connection.execute("ROLLBACK")
        raise


def archive(file: OpenFile, root_id: AgentId, *, is_archived: bool) -> None:
    """Marks the main agent's row; what is archived already keeps its time."""
    with transaction(file.connection):
        check_held(file, (root_id,))
        file.connection.execute(
            "UPDATE agents SET archived_at = CASE WHEN ? THEN coalesce(archived_at, ?) END"
            " WHERE agent_id = ?",
            (is_archived, file.now_s(), root_id),
        )


def as_the_disk_allows(file: OpenFile, work: Callable[[int], T], limit_bytes: int = PIECE_BYTES) -> T:
    """Does the work with this limit, with a smaller one where the disk is full.

    Removing overwrites, and that goes through the write-ahead log: on a full
    disk there is room for little at a time.
    """
    while True:
        try:
            return work(limit_bytes)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_FULL or limit_bytes <= _LEAST_PIECE_BYTES:
                raise
        limit_bytes //= 8
        file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def check_held(file: OpenFile, root_ids: Sequence[AgentId]) -> None:
    """Whoever has taken a session over since is not disturbed.

    Raises:
        SessionBusy: somebody has.
    """
    table = SqliteTable(file.connection, file.epochs, file.now_s())
    for root_id in root_ids:
        if table.epoch(root_id) is None:
            raise session_busy(root_id, None)
