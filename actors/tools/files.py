"""What the file tools share: how a model names a file, and what it has seen of it."""

import errno
import os
import secrets
import stat
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, NoReturn

from pydantic import Field, JsonValue

from actors.errors import BadInput
from actors.tools.model import ToolContext

Stamp = tuple[int, int]
"""Modification time in ns, and size in bytes."""

FilePath = Annotated[str, Field(min_length=1, description="The file, absolute or from the working folder.")]

BINARY_SNIFF_BYTES = 8_192

# Two agents of one process must not both find a file unchanged and then replace it.
_REPLACING = threading.Lock()


def path_subject(sent: JsonValue) -> str:
    """The path of an input as permission patterns see it: `~` expanded, no `.` or `..` inside."""
    path = sent.get("path") if isinstance(sent, dict) else None
    return os.path.normpath(os.path.expanduser(str(path))) if path else "."


def locate(context: ToolContext, path: str) -> Path:
    """The absolute path that the model means; links are not followed.

    Raises:
        BadInput: no file system could hold the name.
    """
    if "\0" in path:
        raise BadInput(f"a path holds no NUL character; got {path!r}")
    return Path(os.path.normpath(context.cwd.absolute() / os.path.expanduser(path)))


def shown(context: ToolContext, path: Path | str) -> str:
    """How answers name an absolute path: from the working directory where it lies inside."""
    text, cwd = str(path), str(context.cwd.absolute())
    if text == cwd:
        return "."
    # Not by pathlib, which takes longer to look at ten thousand names than a disk to list them.
    return text.removeprefix(f"{cwd.rstrip('/')}/")


def stamp_of(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size


def require_regular(path: Path, name: str) -> os.stat_result:
    """The status of a file that can be opened without side effects.

    Raises:
        BadInput: nothing there, a directory, or a device, pipe or socket.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as exc:
        refuse(f"cannot open {name}", exc)
    if stat.S_ISDIR(status.st_mode):
        raise BadInput(f"{name} is a directory; list its files with Glob (path={name!r}, pattern='*')")
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{name} is no regular file but a device, pipe or socket")
    return status


def require_seen(files_read: Mapping[Path, Stamp], real: Path, name: str, verb: str) -> None:
    """Refuses to change what the agent has not seen as it is now.

    Raises:
        BadInput: not read yet, or changed since.
    """
    seen = files_read.get(real)
    if seen is None:
        raise BadInput(f"{name} exists and you have not read it; Read it before you {verb} it")
    if seen != stamp_of(require_regular(real, name)):
        raise BadInput(f"{name} has changed since you read it; Read it again before you {verb} it")


def require_writable(real: Path) -> None:
    """Finds out before anything is recorded whether the file, or a new one there, could be written.

    Raises:
        OSError: it could not.
    """
    if real.exists():
        if not os.access(real, os.W_OK):
            raise PermissionError(errno.EACCES, "the file is write-protected", str(real))
        return
    folder = next(folder for folder in real.parents if os.path.lexists(folder))
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "no right to make something in its folder", str(folder))


def missing_folders(real: Path) -> tuple[Path, ...]:
    """The folders above a path that do not exist, outermost first."""
    return tuple(folder for folder in reversed(real.parents) if not os.path.lexists(folder))


def replace_file(real: Path, data: bytes, last_look: Callable[[], None]) -> Stamp:
    """Puts the bytes in place in one step and gives the new stamp; an old file's mode stays.

    Whoever reads meanwhile sees the old or the new content, never a part.
    `last_look` is called right before; the file stays as it is if it raises.
    """
    old_mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else None
    beside = real.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(data)
            if old_mode is not None:
                os.fchmod(file.fileno(), old_mode)
            file.flush()
            written = os.fstat(file.fileno())
        with _REPLACING:
            last_look()
            beside.replace(real)
    finally:
        beside.unlink(missing_ok=True)
    return stamp_of(written)


def refuse(what: str, error: OSError | ValueError) -> NoReturn:
    """Turns an error of the operating system into one that the model can read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    raise BadInput(f"{what}: {reason}") from error


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file say that it is not text."""
    return b"\0" in head
