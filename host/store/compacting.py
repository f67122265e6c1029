"""Writes a store's file anew without its free pages and the gaps in others, while nobody has it open.

Only then nothing is left of what was deleted, and the disk has the room back.

VACUUM would do the same, but the tables would begin at other pages than those
of every other store, which salvage counts on where the first page is lost.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from host.errors import StoreBusy, StoreUnavailable
from host.store.at_work import is_anybody_at_work
from host.store.schema import Durability, open_database, unavailable
from host.store.store_lock import lease_folder, lock_for_repair

_TABLES = ("meta", "agents", "records", "leases", "artifacts")


def compact(path: Path, durability: Durability = "full") -> int:
    """Leaves a file that holds the same and nothing else; gives its bytes.

    Needs as much disk again as the sessions take. On any error the file is as
    it was.

    Raises:
        StoreBusy: somebody has the store open.
        StoreDamaged: it cannot be read whole.
        StoreUnavailable: it cannot be written; a full disk, say.
    """
    new = path.with_name(f"{path.name}.compacting")
    with lock_for_repair(path):
        if is_anybody_at_work(lease_folder(path), ()):  # an older program, which does not lock the store
            raise StoreBusy(f"a session of the store {path} is being written; end that, then try again")
        try:
            _remove(new)
            _copy(path, new, durability)
            os.replace(new, path)
            _sync(path.parent)
            return path.stat().st_size
        except (OSError, sqlite3.Error) as error:
            raise unavailable(path, error) from error
        finally:
            _remove(new)


def _copy(path: Path, new: Path, durability: Durability) -> None:
    # Nobody else has it open: at the end of this nothing of it is left in its write-ahead log.
    with closing(open_database(path, durability)) as connection:
        ((is_busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if is_busy:
            raise StoreUnavailable(f"the store {path} is being read")
    with closing(open_database(new, durability)) as connection:
        connection.execute("ATTACH ? AS old", (str(path),))
        connection.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            connection.execute(f"INSERT OR REPLACE INTO main.{table} SELECT * FROM old.{table}")
        connection.execute("COMMIT")
        connection.execute("DETACH old")
    for used in (path, new):  # closing has deleted them, unless something is wrong
        wal = used.with_name(f"{used.name}-wal")
        if wal.exists() and wal.stat().st_size > 0:
            raise StoreUnavailable(f"the store {path} cannot be written anew: {wal} is not empty")


def _remove(new: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        new.with_name(f"{new.name}{suffix}").unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
