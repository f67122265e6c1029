"""The lock behind a lease: one file a session, released by the kernel when its holder dies."""

import fcntl
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from host.store.holder import Holder, session_busy


@dataclass(frozen=True, slots=True)
class LeaseFile:
    """A lock that is held.

    It belongs to this open file, not to the process: a second one in the
    same process is refused as well.
    """

    path: Path
    descriptor: int

    def release(self) -> None:
        """Gives the lock up and takes the file away."""
        # Unlinked while still locked: whoever has opened it meanwhile finds that it is no longer the path's.
        if _is_still_there(self.path, self.descriptor):
            self.path.unlink()
        os.close(self.descriptor)


def take_lease_file(folder: Path, holder: Holder) -> LeaseFile:
    """Locks the file of the holder's session in this folder, which is made where it is missing.

    Raises:
        SessionBusy: somebody else holds it.
        OSError: the file cannot be made or written.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    name = hashlib.sha256(holder.session.encode("utf-8", "surrogatepass")).hexdigest()
    path = folder / f"{name}.lock"
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still_there(path, descriptor):
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, TypeAdapter(Holder).dump_json(holder), 0)
                return LeaseFile(path, descriptor)
        except BlockingIOError:
            busy = session_busy(holder.session, _read_holder(descriptor))
            os.close(descriptor)
            raise busy from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_still_there(path: Path, descriptor: int) -> bool:
    """Whether the open file is the path's: somebody may have taken it away since."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read_holder(descriptor: int) -> Holder | None:
    try:
        return TypeAdapter(Holder).validate_json(os.pread(descriptor, 65_536, 0))
    except ValidationError:  # it has the lock and has not written its name yet
        return None
