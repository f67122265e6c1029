"""Opening a store's file that may be broken, only to read it."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

from host.errors import StoreDamaged, StoreUnavailable
from host.store.schema import open_database, unavailable
from host.store.wreck import Wreck

_BUSY_TIMEOUT_S = 10.0
_PAGE_BYTES = 4096
_VALID_FOR = slice(92, 96)


@contextmanager
def open_wreck(path: Path) -> Iterator[Wreck]:
    """The store's file as it is at this moment; others may go on writing it.

    Where its first page is lost, a copy with the first page of a new store is
    read instead.

    Raises:
        StoreUnavailable: it is not there, may not be read, or is no store's file.
        StoreDamaged: nothing of a store can be found in it.
    """
    connection = None if _would_lose_its_wal(path) else _begun(path)
    if connection is not None:
        try:
            yield Wreck(connection)
        finally:
            connection.close()
        return
    with _first_page_replaced(path) as wreck:
        yield wreck


def _would_lose_its_wal(path: Path) -> bool:
    """Beside a file of no length SQLite deletes the write-ahead log, though all may be in it."""
    wal = path.with_name(f"{path.name}-wal")
    try:
        return path.stat().st_size == 0 and wal.exists() and wal.stat().st_size > 0
    except FileNotFoundError as error:
        raise StoreUnavailable(f"there is no store {path}") from error
    except OSError as error:
        raise unavailable(path, error) from error


def _begun(path: Path) -> sqlite3.Connection | None:
    """A connection inside a transaction, so that all it reads is of one moment; None: no table is left."""
    connection = _connect(path)
    try:
        connection.execute("BEGIN")
        names = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        (n_pages,) = connection.execute("PRAGMA page_count").fetchone()
    except (sqlite3.Error, UnicodeError) as error:
        connection.close()
        if isinstance(reason := unavailable(path, error), StoreDamaged):
            return None
        raise reason from error
    if {"agents", "records"} <= names or (not names and n_pages <= 1):
        return connection
    connection.close()
    if names and names.isdisjoint({"agents", "records", "meta"}):
        raise StoreUnavailable(f"{path} is an SQLite database, but not a store of this program")
    return None


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        connection.execute("PRAGMA cell_size_check = ON")
        # A broken line of the schema must not hide the others.
        connection.execute("PRAGMA writable_schema = ON")
    except sqlite3.Error as error:
        raise unavailable(path, error) from error
    return connection


@contextmanager
def _first_page_replaced(path: Path) -> Iterator[Wreck]:
    """A copy that begins like a new store: the tables of every store begin at the same pages."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.reading-") as folder:
            copy = Path(folder) / "copy.db"
            _copy(path, copy, _first_page(Path(folder) / "new.db"))
            connection = _connect(copy)
            try:
                connection.execute("BEGIN")
                wreck = Wreck(connection, has_lost_first_page=True)
                if not (wreck.agent_rows() or wreck.ids_of_records()):
                    raise StoreDamaged(f"{path} is no database, and nothing of a store can be found in it")
                yield wreck
            finally:
                connection.close()
    except OSError as error:
        raise unavailable(path, error) from error


def _first_page(new: Path) -> bytes:
    open_database(new).close()
    page = bytearray(new.read_bytes()[:_PAGE_BYTES])
    page[_VALID_FOR] = bytes(4)  # so that SQLite counts the pages of the file and not what the header says
    return bytes(page)


def _copy(path: Path, copy: Path, first_page: bytes) -> None:
    shutil.copyfile(path, copy)
    with copy.open("r+b") as file:
        file.write(first_page)
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists():
        shutil.copyfile(wal, f"{copy}-wal")
