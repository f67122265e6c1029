"""Writing to the streams of the process, where the reader may go away at any time."""

import json
import sys
from typing import TYPE_CHECKING, TextIO

from host.cli.cells import fitted
from providers.errors import CallboardError

if TYPE_CHECKING:
    from pydantic import JsonValue


class OutputClosed(Exception):
    """Whoever read our output has gone; there is nobody left to tell anything."""


class OutputFailed(CallboardError):
    """The output cannot be written: a full disk, say."""


def put(text: str, stream: TextIO | None = None) -> None:
    """Writes and flushes, to stdout where no stream is given.

    Raises:
        OutputClosed: nobody reads any more.
        OutputFailed: it cannot be written.
    """
    stream = stream or sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except (BrokenPipeError, ConnectionResetError) as error:
        raise OutputClosed from error
    except OSError as error:
        raise OutputFailed(f"the output cannot be written: {error.strerror}") from error


def put_json(value: "JsonValue") -> None:
    """One JSON value as a line of ASCII, which survives every encoding."""
    put(json.dumps(value, separators=(",", ":")) + "\n")


_SHOWN_AS_THEY_ARE = {"\n", "\t"}


def visible(text: str) -> str:
    """The text without what could steer a terminal: control characters and bidirectional overrides go."""
    if text.isprintable():
        return text
    return "".join(c for c in text if c in _SHOWN_AS_THEY_ARE or not _steers(c))


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most `limit` cells of a terminal, cut visibly."""
    return fitted(" ".join(visible(text).split()), limit)


def _steers(character: str) -> bool:
    code = ord(character)
    return code < 0x20 or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
