"""Writes a session's export to a file or to standard output."""

import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from actors.errors import BadInput
from host.cli.finding import find_session
from host.cli.options import Settings
from host.cli.output import OutputClosed, OutputFailed, visible
from host.cli.stores import naming_the_doctor, store_to_read
from host.transfer import export_session, whole_file

_STDOUT = Path("-")


async def export_to(
    session: str, output: Path | None, settings: Settings, *, is_exact: bool, may_replace: bool
) -> None:
    """Writes the export, and says on stderr what was written to which file.

    Raises:
        BadInput: the output is no place for it.
        UnknownSession, StoreError, ExportTooLarge: there is nothing to export, or it cannot be read.
        OutputFailed, OutputClosed: it cannot be written.
    """
    if output is None and sys.stdout.isatty():
        raise BadInput("an export is for a file, not a terminal: name one with --output; `-o -` prints it")
    with naming_the_doctor():
        told = await _exported(session, output, settings, is_exact=is_exact, may_replace=may_replace)
    if told:
        print(told, file=sys.stderr)


async def _exported(
    session: str, output: Path | None, settings: Settings, *, is_exact: bool, may_replace: bool
) -> str:
    async with store_to_read(settings) as store:
        root = find_session([row for row in await store.agents() if row.parent_id is None], session)
        lines = export_session(
            store, root.agent_id, exported_at=time.time(), program=version("callboard"), is_exact=is_exact
        )
        async with aclosing(lines):
            try:
                return await _write(lines, output, may_replace=may_replace)
            except (BrokenPipeError, ConnectionResetError) as error:
                raise OutputClosed from error
            except OSError as error:
                where = "" if output is None else f" to {visible(str(output))}"
                raise OutputFailed(f"the export cannot be written{where}: {error.strerror}") from error


async def _write(lines: AsyncGenerator[bytes], output: Path | None, *, may_replace: bool) -> str:
    if output is None or output == _STDOUT:
        await _copy(lines, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return ""
    with whole_file(output, may_replace=may_replace) as file:
        n_bytes = await _copy(lines, file)
    return f"{n_bytes:,} bytes written to {visible(str(output))}"


async def _copy(lines: AsyncGenerator[bytes], file: BinaryIO) -> int:
    n_bytes = 0
    async for line in lines:
        file.write(line)
        n_bytes += len(line)
    return n_bytes
