"""The JSON documents of a text: one, or one after the other (JSON Lines), and where each begins.

A document may spread over many lines. Where most lines are documents of their
own, one that is none does not keep the others from being read.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

MAX_DEPTH = 200
_MAX_DIGITS = 4_000  # Python itself converts no more
_BLANKS = re.compile(r"[ \t\n\r]*")  # only these: U+2028 and the like belong to a text


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value and the offset in the text at which it begins."""

    value: JsonValue
    offset: int


@dataclass(frozen=True, slots=True)
class Broken:
    """No JSON at this offset; `reason` says why in one line."""

    reason: str
    offset: int


Documents: TypeAlias = tuple[Document | Broken, ...]


def documents_of(text: str) -> Documents:
    """Every document of the text in order; a single `Broken` where it is no JSON at all."""
    found: list[Document | Broken] = []
    for document in _documents(text):
        if isinstance(document, Broken):
            by_line = tuple(_lines(text))
            n_good = sum(isinstance(line, Document) for line in by_line)
            return by_line if n_good * 2 >= len(by_line) else (document,)
        found.append(document)
    return tuple(found)


def _documents(text: str) -> Iterator[Document | Broken]:
    at = skip_blanks(text, 0)
    while at < len(text):
        document, end = _document(text, at)
        yield document
        if isinstance(document, Broken):
            return
        at = skip_blanks(text, end)


def _lines(text: str) -> Iterator[Document | Broken]:
    offset = 0
    for line in text.split("\n"):
        at = skip_blanks(line, 0)
        if at < len(line):
            document, end = _document(line, at)
            if isinstance(document, Document) and skip_blanks(line, end) < len(line):
                document = Broken(f"something stands behind the value, at column {end + 1}", end)
            if isinstance(document, Document):
                yield Document(document.value, document.offset + offset)
            else:
                yield Broken(document.reason, offset + at)
        offset += len(line) + 1


def skip_blanks(text: str, at: int) -> int:
    """The offset of the next character that is no blank of JSON."""
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _document(text: str, at: int) -> tuple[Document | Broken, int]:
    try:
        value, end = DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return Broken(f"{error.msg}, at column {error.colno}", error.pos), at
    except ValueError as error:
        return Broken(str(error), at), at
    except RecursionError:
        return Broken(f"nested deeper than {MAX_DEPTH} levels", at), at
    if _is_deep(value):
        return Broken(f"nested deeper than {MAX_DEPTH} levels", at), at
    return Document(value, at), end


def _is_deep(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level if isinstance(outer, dict | list) for inner in _members(outer)]
        if not level:
            return False
    return True


def _members(value: dict[str, JsonValue] | list[JsonValue]) -> Iterator[JsonValue]:
    return iter(value.values() if isinstance(value, dict) else value)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _MAX_DIGITS else float(digits)


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON number")


DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_no_number)
