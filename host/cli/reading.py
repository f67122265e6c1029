"""Reads the terminal or a pipe without a thread: what waits for a byte can be cancelled at any time."""

import errno
import os
import sys

import anyio
import anyio.lowlevel

_CHUNK_BYTES = 65_536


async def read_some(descriptor: int) -> bytes:
    """The bytes that are there, waiting for the first; empty at the end, of a lost terminal too."""
    try:
        await anyio.wait_readable(descriptor)
    except (OSError, ValueError):
        # A file or /dev/null: the loop cannot watch it, and reading it does not wait.
        await anyio.lowlevel.checkpoint()
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except OSError as error:
        if error.errno in (errno.EIO, errno.EBADF):
            return b""
        raise


class Lines:
    """The lines of a descriptor, decoded as UTF-8; bytes that are none are replaced."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._is_at_end = False

    async def next(self) -> str | None:
        """The next line without its end; None at the end. Cancelling loses nothing."""
        while b"\n" not in self._rest and not self._is_at_end:
            self._rest += await self._more()
        line, newline, self._rest = self._rest.partition(b"\n")
        if not line and not newline:
            return None
        return line.decode("utf-8", "replace").removesuffix("\r")

    async def rest(self) -> str:
        """Everything up to the end."""
        chunks = [self._rest]
        while not self._is_at_end:
            chunks.append(await self._more())
        self._rest = b""
        return b"".join(chunks).decode("utf-8", "replace")

    async def _more(self) -> bytes:
        chunk = await read_some(self._descriptor)
        self._is_at_end = not chunk
        return chunk


def standard_input() -> Lines:
    return Lines(sys.stdin.fileno())
