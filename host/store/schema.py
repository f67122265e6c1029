"""The SQLite file: its tables, making and opening it."""

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from host.errors import StoreDamaged, StoreError, StoreUnavailable
from host.store.migrating import (
    FAILURES,
    Migration,
    check_version,
    hash_records,
    migrate,
    not_migrated,
    set_not_null,
)

Durability: TypeAlias = Literal["full", "normal"]

BUSY_TIMEOUT_S = 10.0
_RETRY_S = 0.01


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

_VERSION_2: Migration = (
    "ALTER TABLE records ADD COLUMN hash BLOB",  # of host.store.chain
    "ALTER TABLE agents ADD COLUMN head BLOB",  # the hash of its last record
    "ALTER TABLE agents ADD COLUMN archived_at REAL",  # seconds since the epoch; NULL: not archived
    hash_records,
    # An older program that has the file open cannot store records without hashes from here on.
    partial(set_not_null, table="records", column="hash BLOB"),
)

MIGRATIONS: Sequence[Migration] = (_VERSION_1, _VERSION_2)
"""What leads from each version to the next; an empty file has version 0."""

READ_AS_NEWEST: Mapping[int, Sequence[str]] = {
    1: (
        "CREATE TEMP VIEW agents AS SELECT *, NULL AS head, NULL AS archived_at FROM main.agents",
        "CREATE TEMP VIEW records AS SELECT *, NULL AS hash FROM main.records",
    ),
}
"""What makes a connection to an older file, which stays as it is, read like one to the newest version."""


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
        Both of the first also where an older file could not be brought to the
            newest version; the text says so, and that it can still be read.
    """
    try:
        _make_file(path)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise unavailable(path, error) from error
    # A damaged text must reach whoever can say which record it was.
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    try:
        _bring_up(connection, path, durability, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _bring_up(
    connection: sqlite3.Connection, path: Path, durability: Durability, migrations: Sequence[Migration]
) -> None:
    newest = len(migrations)
    try:
        found = check_version(connection, path, newest)  # before anything is changed in a file of others
        _configure(connection, path, durability)
    except (sqlite3.Error, UnicodeError) as error:  # SQLite quotes a broken definition as it stands there
        raise unavailable(path, error) from error
    try:
        migrate(connection, path, migrations)
    except FAILURES as error:
        reason = unavailable(path, error)
        raise not_migrated(path, found, newest, reason) if 0 < found < newest else reason from error


def unavailable(path: Path, error: Exception) -> StoreError:
    """What an error of SQLite or the system means for the store."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what makes it finer
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT) or isinstance(error, UnicodeError):
        return StoreDamaged(f"the store {path} is damaged: {error}")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(
            f"the store {path} was locked by another process for over {BUSY_TIMEOUT_S:.0f} s"
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
    mode = _switched_to_wal(connection)
    if mode != "wal":
        raise StoreUnavailable(
            f"the store {path} cannot be used: its file system does not carry a write-ahead log"
            f" (journal mode wal wanted, got {mode})"
        )
    connection.execute(f"PRAGMA synchronous = {durability.upper()}")


def _switched_to_wal(connection: sqlite3.Connection) -> str:
    """The journal mode that the file has then. Waits for others as long as for any lock.

    SQLite itself does not wait here: two that switch at once could wait for each other.
    """
    give_up_at = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_at:
                raise
            time.sleep(_RETRY_S)
        else:
            return str(mode)
