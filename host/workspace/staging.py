"""New contents, written in full beside their places before any place changes. Blocks: for worker threads."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from host.workspace.looking import nearest_folder


class Staging:
    """Contents that wait beside their paths, so that a full disk shows before anything has changed.

    A content stands in the file that `waiting` names: always the same one for a
    path, so that what a killed process left is found and taken away.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._made_folders: list[str] = []

    def put(self, path: str, content: bytes, mode: int) -> None:
        """Writes a content down beside its path, and makes the folders above it.

        Raises:
            OSError: it could not be written.
        """
        self._make_folders(path)
        beside = waiting(path)
        with suppress(FileNotFoundError):
            os.unlink(beside)
        # For nobody else to read until it has the permission bits of the file.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, mode)
            # Or a power failure after the rename could leave an empty file where the old one was.
            os.fsync(descriptor)

    def clear(self) -> None:
        """Takes away what still waits, and the folders that were made and hold nothing."""
        for path in self._paths:
            with suppress(OSError):
                os.unlink(waiting(path))
        for folder in reversed(self._made_folders):
            with suppress(OSError):
                os.rmdir(folder)

    def _make_folders(self, path: str) -> None:
        nearest = Path(nearest_folder(path))
        for part in Path(path).parent.relative_to(nearest).parts:
            nearest /= part
            nearest.mkdir(exist_ok=True)
            self._made_folders.append(str(nearest))


def waiting(path: str) -> str:
    """Where the new content of a path waits."""
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return os.path.join(os.path.dirname(path), f".callboard-{name}.part")
