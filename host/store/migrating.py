"""How a file with the tables of an older version becomes today's."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from actors.address import AgentId
from host.errors import StoreTooNew, StoreUnavailable
from host.store.chain import first_link, link
from host.store.codec import EncodedRecord

Step: TypeAlias = str | Callable[[sqlite3.Connection], None]
Migration: TypeAlias = tuple[Step, ...]
"""Statements, and functions that work on the connection inside the transaction of all migrations."""

_HASHED_AT_ONCE = 1000


def hash_records(connection: sqlite3.Connection) -> None:
    """Gives every record its hash and every agent its head, holding few records at once.

    A record that is missing or cannot be decoded keeps nobody from the other
    sessions: it is found when its log is loaded, as it was before.
    """
    for (agent_id,) in connection.execute("SELECT agent_id FROM agents ORDER BY position").fetchall():
        head, after = first_link(agent_id), -1
        while hashes := list(_next_hashes(connection, agent_id, head, after)):
            connection.executemany(
                "UPDATE records SET hash = ? WHERE agent_id = ? AND seq = ?",
                [(found, agent_id, seq) for found, seq in hashes],
            )
            head, after = hashes[-1]
        connection.execute("UPDATE agents SET head = ? WHERE agent_id = ?", (head, agent_id))


def _next_hashes(
    connection: sqlite3.Connection, agent_id: AgentId, head: bytes, after: int
) -> Iterator[tuple[bytes, int]]:
    rows = connection.execute(
        "SELECT seq, kind, version, data FROM records WHERE agent_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (agent_id, after, _HASHED_AT_ONCE),
    )
    for seq, *columns in rows:
        head = link(head, EncodedRecord(*columns))
        yield head, seq


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Brings the file to the newest version in one transaction, or leaves it as it is.

    Raises:
        StoreTooNew: a newer version of the program wrote it.
        StoreUnavailable: not a store's file.
        StoreError: a migration failed; says that the file is as it was.
    """
    # Immediate: of two processes that find an old file, one migrates and the other sees the result.
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = check_version(connection, path, len(migrations))
        if found < len(migrations):
            _run(connection, migrations[found:], len(migrations))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _run(connection: sqlite3.Connection, migrations: Sequence[Migration], version: int) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT"
    )
    for step in (step for migration in migrations for step in migration):
        if isinstance(step, str):
            connection.execute(step)
        else:
            step(connection)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (str(version),))


def check_version(connection: sqlite3.Connection, path: Path, supported: int) -> int:
    """The file's version, 0 for an empty one.

    Raises:
        StoreTooNew: it is higher than what is supported.
        StoreUnavailable: not a store's file.
    """
    found = _version(connection, path)
    if found > supported:
        raise StoreTooNew(
            f"the store {path} has version {found}, this program knows up to {supported}:"
            " use the newer program that wrote it",
            found=found,
            supported=supported,
        )
    return found


def _version(connection: sqlite3.Connection, path: Path) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    row = None
    if "meta" in tables:
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is None or not str(row[0]).isdecimal():
        raise StoreUnavailable(f"{path} is an SQLite database, but not a store of this program")
    return int(row[0])
