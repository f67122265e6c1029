"""The lines of a file of any size, in bounded memory."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from host.transfer.errors import ExportInvalid
from host.transfer.format import MAX_LINE_BYTES
from host.transfer.garbage import what_it_is

# A header of over a hundred thousand agents. What is longer is no export, and is not to fill the memory.
MAX_FIRST_LINE_BYTES = 16 * 2**20
_HEAD_BYTES = 2**16


def lines_of(
    file: BinaryIO,
    *,
    first_limit_bytes: int = MAX_FIRST_LINE_BYTES,
    limit_bytes: int = MAX_LINE_BYTES,
) -> Iterator[bytes]:
    """Every line with the LF at its end, which the last one may lack.

    Raises:
        ExportInvalid: a line that no export has, for its length.
        OSError: the file cannot be read.
    """
    limit, number = first_limit_bytes, 1
    while line := file.readline(limit + 1):
        if len(line) > limit:
            raise ExportInvalid(f"line {number}: at most {limit:,} bytes wanted, got more")
        yield line
        limit, number = limit_bytes, number + 1


@contextmanager
def seekable_copy(stream: BinaryIO) -> Iterator[BinaryIO]:
    """All of a stream that can be read only once, in a file that is gone after the block.

    Raises:
        ExportInvalid: it does not begin as an export does; the rest was not read.
        OSError: it cannot be read, or the copy not be written.
    """
    head = stream.read(_HEAD_BYTES)
    first_line = head[: head.find(b"\n") + 1] or head
    if head and (found := what_it_is(first_line)) is not None:
        raise ExportInvalid(f"an export of a session wanted, got {found}")
    with tempfile.TemporaryFile() as copy:
        copy.write(head)
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy
