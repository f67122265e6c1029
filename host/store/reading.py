"""Opening a store's file only to read it: of any version up to today's, as it is."""

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from host.errors import StoreDamaged, StoreUnavailable
from host.store.migrating import check_version
from host.store.schema import BUSY_TIMEOUT_S, MIGRATIONS, READ_AS_NEWEST, unavailable

_FIRST_VERSION_WITH_HASHES = 2


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The tables of an old file have today's columns, empty; `has_hashes` tells if logs can be checked."""

    connection: sqlite3.Connection
    has_hashes: bool


def open_for_reading(path: Path) -> ReadFile:
    """The file without a change to it; others may go on writing it.

    What SQLite puts beside it for its readers is taken away with the last
    connection, by whoever might write the file; an empty `-wal` that stays is
    harmless. Where nothing may be put there, the file can be read unless a
    `-wal` holds what was written last and nobody who may has it open.

    Raises:
        StoreUnavailable: it is not there, cannot be read here, or is no store's file.
        StoreDamaged: it is no database or a broken one.
        StoreTooNew: a newer version of the program wrote it.
    """
    try:
        _check_there(path)
        connection = _connected(path)
    except (OSError, sqlite3.Error) as error:
        raise unavailable(path, error) from error
    try:
        version = check_version(connection, path, len(MIGRATIONS))
        if version == 0:
            raise StoreUnavailable(f"the store {path} is empty: nothing was ever stored in it")
        for statement in READ_AS_NEWEST.get(version, ()):
            connection.execute(statement)
    except (sqlite3.Error, UnicodeError) as error:
        connection.close()
        raise unavailable(path, error) from error
    except BaseException:
        connection.close()
        raise
    return ReadFile(connection, version >= _FIRST_VERSION_WITH_HASHES)


def _check_there(path: Path) -> None:
    if not path.exists():
        raise StoreUnavailable(f"there is no store {path}")
    if path.stat().st_size == 0 and _wal_bytes(path):
        # SQLite would delete the log, though all may be in it.
        raise StoreDamaged(f"the store {path} is damaged: the file is empty, though the log beside it is not")


def _connected(path: Path) -> sqlite3.Connection:
    try:
        return _connection(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise
        if not os.access(path, os.R_OK) or path.is_dir():
            raise
        if _wal_bytes(path):
            raise StoreUnavailable(
                f"the store {path} cannot be read where it is: {path.name}-wal holds what was written last,"
                " and reading that takes the right to write in its folder; copy both files to another"
                " folder and read them there"
            ) from error
        # No log, so the file is complete; SQLite only misses the right to make one.
        return _connection(path, "mode=ro&immutable=1")


def _connection(path: Path, options: str) -> sqlite3.Connection:
    has_wal = _wal_bytes(path) is not None
    connection = sqlite3.connect(
        _uri(path, options), uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, factory=_Reader
    )
    connection.made_wal_of = None if has_wal else path
    try:
        # A damaged text must reach whoever can say which record it was.
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # only now the files are opened
    except BaseException:
        connection.close()
        raise
    return connection


class _Reader(sqlite3.Connection):
    """A connection that takes away what it was the first to need: SQLite's readers leave that to writers."""

    made_wal_of: Path | None = None

    def close(self) -> None:
        super().close()
        path, self.made_wal_of = self.made_wal_of, None
        if path is not None and _wal_bytes(path) == 0:
            # The last to leave takes the log away, if it might write; SQLite sees to it that nobody needs it.
            with (
                suppress(sqlite3.Error),
                closing(sqlite3.connect(_uri(path, "mode=rw"), uri=True, timeout=0)) as last,
            ):
                last.execute("SELECT 1 FROM sqlite_master").fetchone()


def _uri(path: Path, options: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{options}"


def _wal_bytes(path: Path) -> int | None:
    """The length of the log beside the file; None where there is none."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size
    except FileNotFoundError:
        return None
