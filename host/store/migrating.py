"""How a file with the tables of an older version becomes today's."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from actors.address import AgentId
from host.errors import StoreDamaged, StoreError, StoreTooNew, StoreUnavailable
from host.store.chain import first_link, link
from host.store.codec import EncodedRecord

Step: TypeAlias = str | Callable[[sqlite3.Connection], None]
Migration: TypeAlias = tuple[Step, ...]
"""Statements, and functions that work on the connection inside the transaction of all migrations."""

FAILURES = (sqlite3.Error, OSError, ValueError)
"""What a step of a migration may raise."""

_HASHED_AT_ONCE = 1000


def hash_records(connection: sqlite3.Connection) -> None:
    """Gives every record its hash and every agent its head, holding few records at once.

    A record that is missing or cannot be decoded keeps nobody from the other
    sessions: it is found when its log is loaded, as it was before.
    """
    agents = "SELECT agent_id FROM agents UNION SELECT agent_id FROM records"
    for (agent_id,) in connection.execute(agents).fetchall():
        head, after = first_link(agent_id), -1
        while hashes := list(_next_hashes(connection, agent_id, head, after)):
            connection.executemany(
                "UPDATE records SET hash = ? WHERE agent_id = ? AND seq = ?",
                [(found, agent_id, seq) for found, seq in hashes],
            )
            head, after = hashes[-1]
        connection.execute("UPDATE agents SET head = ? WHERE agent_id = ?", (head, agent_id))
    # What is left belongs to an id that is damaged, and finds no row.
    connection.execute("UPDATE records SET hash = x'' WHERE hash IS NULL")


def _next_hashes(
    connection: sqlite3.Connection, agent_id: AgentId, head: bytes, after: int
) -> Iterator[tuple[bytes, int]]:
    rows = connection.execute(
        "SELECT seq, kind, version, data FROM records WHERE agent_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (agent_id, after, _HASHED_AT_ONCE),
    )
    for seq, *columns in rows:
        if seq <= after:  # SQLite goes by the order of its pages, which may be broken
            error = sqlite3.DatabaseError(f"the records of agent {agent_id} are out of order")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        after, head = seq, link(head, EncodedRecord(*columns))
        yield head, seq


def set_not_null(connection: sqlite3.Connection, *, table: str, column: str) -> None:
    """No row of this table without this column from here on, given as it was added; all have it now.

    SQLite has no statement for it; a new table in the place of this one would
    not begin at the page where every store's does, which salvage counts on.
    """
    (text,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if text.count(column) != 1:
        raise ValueError(f"{column!r} wanted once in the definition of {table}, got {text!r}")
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    try:
        connection.execute(
            "UPDATE sqlite_master SET sql = ? WHERE name = ?",
            (text.replace(column, f"{column} NOT NULL"), table),
        )
    finally:
        connection.execute("PRAGMA writable_schema = OFF")
    connection.execute(f"PRAGMA schema_version = {version + 1}")  # so that all connections read it anew


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Brings the file to the newest version in one transaction, or leaves it as it is.

    Raises:
        StoreTooNew: a newer version of the program wrote it.
        StoreUnavailable: not a store's file.
        sqlite3.Error, OSError, ValueError: a step failed; the file is as it was.
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


def not_migrated(path: Path, found: int, wanted: int, reason: StoreError) -> StoreError:
    """The error of a failed migration, of the reason's type."""
    return type(reason)(
        f"the store {path} has version {found} and could not be brought to version {wanted}: {reason}."
        " It is as it was: it can still be read (`callboard log`, `callboard export`), and written by"
        " the older program"
    )


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
        StoreDamaged: it has lost its tables.
    """
    with _one_look(connection):
        found = _version(connection, path)
    if found > supported:
        raise StoreTooNew(
            f"the store {path} has version {found}, this program knows up to {supported}:"
            " use the newer program that wrote it",
            found=found,
            supported=supported,
        )
    return found


@contextmanager
def _one_look(connection: sqlite3.Connection) -> Iterator[None]:
    """What is read inside the block is of one moment: another process may be making the file."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        (n_pages,) = connection.execute("PRAGMA page_count").fetchone()
        if n_pages > 1:  # new tables would be laid over what is there
            raise StoreDamaged(
                f"the store {path} is damaged: its tables are lost, and it has {n_pages} pages"
            )
        return 0
    row = None
    if "meta" in tables:
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is None or not str(row[0]).isdecimal():
        raise StoreUnavailable(f"{path} is an SQLite database, but not a store of this program")
    return int(row[0])
