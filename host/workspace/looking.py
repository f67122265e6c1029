"""What stands at a path now, and whether it could be replaced. Only reads; blocks: for worker threads."""

import hashlib
import os
import stat

from host.workspace.plan import Found, Obstacle, Sight, Stamp

_CHUNK_BYTES = 1 << 20


def look(path: str) -> Sight:
    """The file at an absolute path whose folders are no links.

    No more is read than the file held when it was opened, however it grows.
    """
    return look_inside(path, max_bytes=0)[0]


def look_inside(path: str, *, max_bytes: int) -> tuple[Sight, bytes | None]:
    """The same with the bytes of the file; None for one of more than `max_bytes`, and for what is no file."""
    if not os.path.isabs(path) or os.path.normpath(path) != path or "\0" in path:
        return Obstacle("is no plain absolute path"), None
    try:
        parent = os.path.dirname(path)
        if (real := os.path.realpath(parent)) != parent:
            return Obstacle(f"lies behind a link now: its folder is {real}"), None
        if (kind := _kind(os.lstat(path).st_mode)) is not None:
            return Obstacle(f"is {kind} now; move it away first"), None
        return _read(path, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except OSError as exc:
        return Obstacle(f"cannot be read: {exc.strerror}"), None


def stamp_at(path: str) -> Stamp | None:
    """The stamp of what stands at a path; None: nothing."""
    try:
        return _stamp(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def hindrance(path: str) -> str | None:
    """Why nothing could be put in place or removed there; None if nothing speaks against it."""
    try:
        if os.path.lexists(path) and not os.access(path, os.W_OK):
            return "is write-protected"
        folder = nearest_folder(path)
        if not os.path.isdir(folder):
            return f"cannot be written: {folder} is no folder"
        if not os.access(folder, os.W_OK | os.X_OK):
            return f"cannot be written: no right to change the folder {folder}"
    except OSError as exc:
        return f"cannot be written: {exc.strerror}"
    return None


def nearest_folder(path: str) -> str:
    """The innermost of the folders above a path that exists, whatever it is."""
    folder = os.path.dirname(path)
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _kind(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a device, pipe or socket"


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _read(path: str, max_bytes: int) -> tuple[Sight, bytes | None]:
    # Not blocking: what became a pipe a moment ago would wait for its writer for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        # Taken before the content: a change while reading makes the stamp stale, not the content.
        status = os.fstat(descriptor)
        if (kind := _kind(status.st_mode)) is not None:
            return Obstacle(f"is {kind} now; move it away first"), None
        digest, left, chunks = hashlib.sha256(), status.st_size, list[bytes]()
        while left > 0 and (chunk := file.read(min(left, _CHUNK_BYTES))):
            digest.update(chunk)
            left -= len(chunk)
            if status.st_size <= max_bytes:
                chunks.append(chunk)
    found = Found(digest.hexdigest(), stat.S_IMODE(status.st_mode), status.st_size, _stamp(status))
    return found, b"".join(chunks) if status.st_size <= max_bytes else None
