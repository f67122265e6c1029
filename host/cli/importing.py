"""Reads an export from a file or from standard input into the store."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from actors.errors import BadInput
from host.cli.options import Settings
from host.cli.output import put, put_json, visible
from host.cli.stores import store_to_write
from host.transfer import ExportInvalid, Imported, check_export, seekable_copy, store_export


@contextmanager
def told(name: str) -> Iterator[None]:
    """Says of errors in the block which file they are about."""
    shown = "standard input" if name == "-" else visible(name)
    try:
        yield
    except ExportInvalid as error:
        raise ExportInvalid(f"{shown}: {visible(str(error))}") from error
    except OSError as error:
        raise BadInput(f"{shown}: an export wanted, but it cannot be read: {error.strerror}") from error


@contextmanager
def opened_export(name: str) -> Iterator[BinaryIO]:
    """The file of this name, or a copy of it where it can be read only once."""
    if name == "-":
        with seekable_copy(sys.stdin.buffer) as copy:
            yield copy
        return
    with open(name, "rb") as file:
        if file.seekable():
            yield file
        else:
            with seekable_copy(file) as copy:
                yield copy


async def import_from(file: BinaryIO, name: str, settings: Settings, *, as_json: bool) -> None:
    """Imports the session and says what came; the name of the file is for errors.

    Raises:
        ExportInvalid: it is no whole export; the store was not even opened.
        BadInput: the file cannot be read.
        AlreadyThere, StoreError, LogFailed: the store does not take it.
    """
    store = store_to_write(settings)
    with told(name):
        checked = await check_export(file)
        file.seek(0)
        async with store:
            imported = await store_export(store, file, checked)
    _tell(imported, as_json=as_json)


def _tell(imported: Imported, *, as_json: bool) -> None:
    header = imported.header
    if as_json:
        put_json(
            {
                "session": header.session,
                "name": header.name,
                "exact": header.exact,
                "n_agents": len(header.agents),
                "n_records": imported.n_records,
                "n_artifacts": imported.n_artifacts,
            }
        )
        return
    parts = (
        _count(len(header.agents), "agent"),
        _count(imported.n_records, "record"),
        _count(imported.n_artifacts, "large text"),
    )
    put(f"imported {header.session} ({visible(header.name)}): {', '.join(parts)}\n")
    put(f"`callboard resume {header.session}` goes on\n")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
