"""The SQLite file: opening it, its tables, and how older ones become today's."""

import os
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from host.errors import StoreDamaged, StoreError, StoreTooNew, StoreUnavailable

Durability: TypeAlias = Literal["full", "normal"]
Migration: TypeAlias = tuple[str, ...]

_BUSY_TIMEOUT_S = 10.0

_VERSION_1: Migration = (
    """
    CREATE TABLE agents (
        position INTEGER PRIMARY KEY,
        agent_id TEXT NOT NULL UNIQUE,
        root_id TEXT NOT NULL,
        parent_id TEXT,
        name TEXT NOT NULL,
        role TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        n_records INTEGER NOT NULL,
        title TEXT
    ) STRICT
    """,
    "CREATE INDEX agents_by_root ON agents (root_id)",
    """
    CREATE TABLE records (
        agent_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (agent_id, seq)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE TABLE leases (root_id TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    """
    CREATE TABLE artifacts (
        artifact_id TEXT NOT NULL PRIMARY KEY,
        data BLOB NOT NULL,
        created_at REAL NOT NULL
    ) STRICT
    """,
)

MIGRATIONS: Sequence[Migration] = (_VERSION_1,)
"""The statements that lead from each version to the next; an empty file has version 0."""


def open_database(
    path: Path, durability: Durability = "full", migrations: Sequence[Migration] = MIGRATIONS
) -> sqlite3.Connection:
    """The store's file, made where it is missing and brought to the newest version.

    Full durability survives a power cut. Normal survives the death of the
    process, a power cut may take the last moments, never the order.

    Raises:
        StoreUnavailable: no such place, no right to it, or not a store's file.
        StoreDamaged: it is no database or a broken one.
        StoreTooNew: a newer version of the program wrote it.
    """
    try:
        _make_file(path)
        connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise unavailable(path, error) from error
    # A damaged text must reach whoever can say which record it was.
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    try:
        _check_version(connection, path, len(migrations))  # before anything is changed in a file of others
        _configure(connection, path, durability)
        _migrate(connection, path, migrations)
    except sqlite3.Error as error:
        connection.close()
        raise unavailable(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def unavailable(path: Path, error: Exception) -> StoreError:
    """What an error of SQLite or the system means for the store."""
    code = getattr(error, "sqlite_errorcode", None)
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreDamaged(f"the store {path} is damaged: {error}")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(
            f"the store {path} was locked by another process for over {_BUSY_TIMEOUT_S:.0f} s"
        )
    return StoreUnavailable(f"the store {path} cannot be used: {error}")


def _make_file(path: Path) -> None:
    """The folder and an empty file that only its owner may read; SQLite's other files follow its rights."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)  # SQLite does so for the files that it makes itself
    finally:
        os.close(folder)


def _configure(connection: sqlite3.Connection, path: Path, durability: Durability) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreUnavailable(
            f"the store {path} cannot be used: its file system does not carry a write-ahead log"
            f" (journal mode wal wanted, got {mode})"
        )
    connection.execute(f"PRAGMA synchronous = {durability.upper()}")


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    # Immediate: of two processes that find an old file, one migrates and the other sees the result.
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _check_version(connection, path, len(migrations))
        if found < len(migrations):
            _run(connection, migrations[found:], len(migrations))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _run(connection: sqlite3.Connection, migrations: Sequence[Migration], version: int) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT"
    )
    for statement in (statement for migration in migrations for statement in migration):
        connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (str(version),))


def _check_version(connection: sqlite3.Connection, path: Path, supported: int) -> int:
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
