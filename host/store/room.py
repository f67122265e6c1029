"""How much room the SQLite file takes, and that nothing removed is left in it."""

import sqlite3
from pathlib import Path

from host.store.sizes import FileSize
from host.store.sqlite_thread import OpenFile


def file_size(file: OpenFile) -> FileSize:
    free_pages = _number(file.connection, "freelist_count")
    return FileSize(
        _size_of(file.path),
        _size_of(file.path.with_name(f"{file.path.name}-wal")),
        free_pages * _number(file.connection, "page_size"),
    )


def overwrite_what_is_removed(file: OpenFile) -> None:
    """From here on what this connection removes is overwritten with zeros; builds of SQLite differ.

    Not all of it: a page that was put together from two keeps in its gap what
    stood there. Only writing the file anew takes that away.
    """
    file.connection.execute("PRAGMA secure_delete = ON").fetchall()


def empty_wal(file: OpenFile) -> bool:
    """Brings everything into the main file; False where a reader still needs the write-ahead log."""
    ((is_busy, _, _),) = file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not is_busy


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    ((number,),) = connection.execute(f"PRAGMA {pragma}").fetchall()
    return int(number)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
