"""Reading JSON of others: what is missing or of the wrong type counts as absent.

Compatible servers leave fields out, send null for them, or a number for a
string; a decoder asks for what it needs and gets an empty value otherwise.
"""

import json
from collections.abc import Mapping
from typing import NoReturn, TypeAlias

from pydantic import JsonValue

JsonObject: TypeAlias = Mapping[str, JsonValue]

MAX_DEPTH = 100

_NOTHING: JsonObject = {}


def parse_json(text: str) -> JsonValue:
    """The value of a JSON text.

    Raises:
        ValueError: it is no JSON, or nests deeper than `MAX_DEPTH` (it could not be sent back).
    """
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    return value


def text_at(value: JsonObject, key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def count_at(value: JsonObject, key: str) -> int:
    found = value.get(key)
    is_count = isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1e15
    return int(found) if is_count and isinstance(found, int | float) else 0


def index_at(value: JsonObject, key: str) -> int | None:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def object_at(value: JsonObject, key: str) -> JsonObject:
    found = value.get(key)
    return found if isinstance(found, dict) else _NOTHING


def objects_at(value: JsonObject, key: str) -> list[dict[str, JsonValue]]:
    found = value.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


class TextPieces:
    """Joins pieces of a text; a surrogate pair that a server cut in two becomes one character.

    What is pushed comes out at once, but for half a pair at the very end,
    which waits for its other half.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._half = ""

    def push(self, piece: str) -> str:
        """The text that can be shown now."""
        if not self._half and piece.isascii():
            self._pieces.append(piece)
            return piece
        piece = self._half + piece
        self._half = ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        whole = joined_surrogates(piece)
        self._pieces.append(whole)
        return whole

    @property
    def text(self) -> str:
        """Everything so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return "".join(self._pieces) + ("\ufffd" if self._half else "")


def joined_surrogates(text: str) -> str:
    """The text with surrogate pairs joined and lone halves as U+FFFD, so that it has a UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _depth(value: JsonValue) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth - 1
