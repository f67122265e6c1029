"""Who has a whole store open: a lock on the folder of its leases, which stays where it is for good.

Whoever uses the store shares it, whoever repairs the store has it alone. It
belongs to the open folder, not to the process: two stores of one process are
two users. The kernel releases it when the process dies.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from host.errors import StoreBusy, StoreError, StoreUnavailable


@dataclass(frozen=True, slots=True)
class StoreLock:
    """A lock that is held until it is released."""

    descriptor: int

    def release(self) -> None:
        os.close(self.descriptor)


def lease_folder(path: Path) -> Path:
    """The folder beside the store's file that holds the locks of its sessions."""
    return path.with_name(f"{path.name}-leases")


def share_store(path: Path) -> StoreLock:
    """The lock of somebody who uses the store, which keeps it from being repaired. Never waits.

    Makes the folder, and those above it, where they are missing.

    Raises:
        StoreBusy: the store is being repaired.
        StoreUnavailable: the folder cannot be made or opened.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return StoreLock(_locked(lease_folder(path), fcntl.LOCK_SH))
    except BlockingIOError as error:
        raise _in_repair(path) from error
    except OSError as error:
        raise _unusable(path, error) from error


def share_store_to_read(path: Path) -> StoreLock | None:
    """As `share_store`, but makes nothing: None where the folder is not there or may not be read.

    Raises:
        StoreBusy: the store is being repaired.
    """
    try:
        return StoreLock(_locked(lease_folder(path), fcntl.LOCK_SH, may_make=False))
    except BlockingIOError as error:
        raise _in_repair(path) from error
    except OSError:  # then nobody can lock it from here
        return None


@contextmanager
def lock_for_repair(path: Path) -> Iterator[None]:
    """Has the store alone inside the block: nobody opens it meanwhile. Never waits.

    Raises:
        StoreBusy: somebody has it open, in this process or another, or repairs it.
        StoreUnavailable: there is no such store, or its folder cannot be locked.
    """
    if not path.exists():
        raise StoreUnavailable(f"there is no store {path}")
    try:
        lock = StoreLock(_locked(lease_folder(path), fcntl.LOCK_EX))
    except BlockingIOError as error:
        raise StoreBusy(
            f"the store {path} is in use, in this process or another; end what uses it, then try again"
        ) from error
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        yield
    finally:
        lock.release()


def _locked(folder: Path, kind: int, *, may_make: bool = True) -> int:
    while True:
        if may_make:
            folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            if os.path.samestat(folder.stat(), os.fstat(descriptor)):
                return descriptor
        except FileNotFoundError:  # taken away since it was opened
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _in_repair(path: Path) -> StoreBusy:
    return StoreBusy(f"the store {path} is being repaired by another process; try again when that has ended")


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreUnavailable(f"the store {path} cannot be used: {error}")
