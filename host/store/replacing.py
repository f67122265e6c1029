"""Puts a repaired store into the place of the damaged one, so that a kill at any moment leaves one of them.

A write-ahead log that holds every page makes the new store out of whatever
file it lies beside. So one rename, of that log, is the whole change; what
comes before keeps the damaged files, what follows only tidies up. Nobody may
have the store open meanwhile.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ENDINGS = ("", "-wal", "-shm")
_PAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class NewStore:
    """Where a repaired store is made: a file, and a write-ahead log that holds all of it as well."""

    file: Path

    @classmethod
    def beside(cls, path: Path) -> "NewStore":
        """What an earlier attempt left there is taken away."""
        new = cls(path.with_name(f"{path.name}.repairing"))
        new.discard()
        return new

    @property
    def whole_wal(self) -> Path:
        return self.file.with_name(f"{self.file.name}-whole")

    @property
    def copy(self) -> Path:
        """Where the damaged files are copied to before they get their name."""
        return self.file.with_name(f"{self.file.name}-copy")

    def discard(self) -> None:
        for file in (self.file, self.whole_wal, self.copy):
            for ending in _ENDINGS:
                _with(file, ending).unlink(missing_ok=True)

    def finish(self, connection: sqlite3.Connection) -> None:
        """Closes the connection that has written it, durably; nothing was checkpointed before."""
        # Closing brings the pages into the file and unlinks the log: this name of it stays.
        os.link(_with(self.file, "-wal"), self.whole_wal)
        connection.close()
        _sync(self.whole_wal)
        _sync(self.file)
        _sync(self.file.parent)


def replace_store(path: Path, new: NewStore, kept: Path) -> Iterator[str]:
    """Takes the steps one by one and says what was done; `kept` is the new name of the damaged files.

    Raises:
        OSError: a step failed; the store is the damaged one or the new one.
    """
    for ending in reversed(_ENDINGS):  # the file itself last: with it, all are there
        if (damaged := _with(path, ending)).exists():
            shutil.copy(damaged, new.copy)
            _sync(new.copy)
            new.copy.rename(_with(kept, ending))
    _sync(path.parent)
    yield f"the damaged files are kept as {kept}"
    if path.stat().st_size == 0:
        # Beside a file of no length SQLite would delete the log.
        new.copy.write_bytes(bytes(_PAGE_BYTES))
        new.copy.chmod(path.stat().st_mode)
        new.copy.rename(path)
        yield "the empty file has a page"
    new.whole_wal.rename(_with(path, "-wal"))
    _sync(path.parent)
    yield "the log of the new store is in place"
    new.file.rename(path)
    _sync(path.parent)
    yield "the new store is in place"
    for ending in ("-wal", "-shm"):
        _with(path, ending).unlink(missing_ok=True)
    _sync(path.parent)
    yield "done"


def _with(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
