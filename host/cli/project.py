"""`callboard project`"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

if TYPE_CHECKING:
    from pydantic import JsonValue


def project(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Cases, one JSON object a line; `-` is standard input.")
    ],
    tokens: Annotated[
        bool,
        typer.Option("--tokens", help="Present with the tokens of the test vectors, not with the texts."),
    ] = False,
) -> None:
    """Show what histories become before they are sent: one JSON object a line, in the order of the cases.

    A line that is no case gives its `name`, an `error` and a `message`, and does not stop the others.
    """
    from host.cli.output import put_json

    with _opened(file) as lines:
        for line in lines:
            if line.strip():
                put_json(_answer(line, tokens=tokens))


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    from actors.errors import BadInput

    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        opened = open(file, "rb")  # noqa: SIM115 - closed below; only opening it may fail this way
    except OSError as error:
        raise BadInput(f"{file}: a file of cases wanted, but it cannot be read: {error.strerror}") from error
    with opened:
        yield opened


def _answer(line: bytes, *, tokens: bool) -> "dict[str, JsonValue]":
    from actors.errors import BadInput
    from actors.projection.cases import run_case

    name: JsonValue = None
    try:
        value: JsonValue = json.loads(line, parse_constant=_no_number)
        if isinstance(value, dict):
            name = value.get("name")
        return run_case(value, tokens=tokens)
    except UnicodeDecodeError as error:
        return _error(name, f"UTF-8 wanted, got other bytes at {error.start}")
    except (ValueError, RecursionError) as error:
        return _error(name, f"this is no JSON: {error}")
    except BadInput as error:
        return _error(name, str(error))


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON number")


def _error(name: "JsonValue", message: str) -> "dict[str, JsonValue]":
    return {"name": name if isinstance(name, str) else None, "error": "bad_input", "message": message}
