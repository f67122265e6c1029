"""Whether anybody writes any session of a store's file."""

import fcntl
import os
from collections.abc import Container
from pathlib import Path


def is_anybody_at_work(folder: Path, own: Container[Path]) -> bool:
    """Whether a lease other than those with these lock files is held, in this process or another.

    Raises:
        OSError: the folder of the lock files cannot be read.
    """
    if not folder.exists():
        return False
    return any(path not in own and _is_locked(path) for path in folder.glob("*.lock"))


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:  # released meanwhile
        return False
    try:
        # Only a dead holder's file can be locked here; whoever takes that session just now is refused once.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
