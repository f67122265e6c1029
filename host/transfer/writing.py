"""A file that appears whole under its name, or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from actors.errors import BadInput


@contextmanager
def whole_file(path: Path, *, may_replace: bool) -> Iterator[BinaryIO]:
    """A file to write; leaving the block puts it on the disk under its name.

    Only its owner may read it. An error in the block, or a signal that ends
    it, leaves nothing; a killed process may leave a `.callboard-….part` beside
    the name, never a part of the file under it.

    Raises:
        BadInput: there is something already that may not be replaced, or the file cannot be made.
        OSError: it cannot be written: a full disk, say.
    """
    _check_free(path, may_replace=may_replace)
    path = path.resolve()  # what a link leads to is replaced, not the link
    try:
        descriptor, name = tempfile.mkstemp(prefix=".callboard-", suffix=".part", dir=path.parent)
    except OSError as error:
        raise BadInput(f"{path}: a file to write wanted, but none can be made: {error.strerror}") from error
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if may_replace:
            os.replace(name, path)
        else:
            _put_where_nothing_is(name, path)
    finally:
        Path(name).unlink(missing_ok=True)
    _sync_folder(path.parent)


def _check_free(path: Path, *, may_replace: bool) -> None:
    if path.is_symlink() or path.exists():
        if not path.is_file():
            raise BadInput(f"{path}: the name of a file wanted, but something else is there")
        if not may_replace:
            raise BadInput(f"{path}: there is a file already; --force replaces it")


def _put_where_nothing_is(name: str, path: Path) -> None:
    """Somebody may have made a file of that name since it was looked for; a link does not replace it."""
    try:
        os.link(name, path)
    except FileExistsError as error:
        raise BadInput(f"{path}: there is a file already; --force replaces it") from error
    except OSError:  # a file system without links
        _check_free(path, may_replace=False)
        os.replace(name, path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
