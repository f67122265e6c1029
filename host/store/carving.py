"""Rows out of the pages of a file, without the tree that should lead to them.

One broken page of a tree hides all that lies below it. The pages below are
whole, and what they hold can be told by its hash. Old copies of a page are
read as well: records and artifacts never change, so one is as good as another.
The layout is that of SQLite's file format, version 3.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from host.store.wreck import Row, Value

_PAGE = 4096
_WAL_HEADER, _FRAME_HEADER = 32, 24
_INDEX_INTERIOR, _INDEX_LEAF, _TABLE_LEAF = 2, 10, 13
_INDEX_LOCAL = (_PAGE - 12) * 64 // 255 - 23
_TABLE_LOCAL = _PAGE - 35
_LEAST_LOCAL = (_PAGE - 12) * 32 // 255 - 23
_MOST_BYTES = 1_000_000_000
_INT_BYTES = (0, 1, 2, 3, 4, 6, 8)
_RECORD = ("agent_id", "seq", "kind", "version", "data", "hash")
_ARTIFACT = ("artifact_id", "data", "created_at")


class _NoCell(Exception):
    """What stands there is no row."""


@dataclass(slots=True)
class Carving:
    """The rows of records and artifacts that the pages of a file and its write-ahead log hold.

    Nothing says that they are as they were written, nor that they belong to
    the store still: that is for whoever knows their hashes.
    """

    files: tuple[Path, ...]
    _pages: dict[int, list[tuple[Path, int]]] = field(default_factory=dict)
    _records: dict[str, list[tuple[Path, int, int]]] = field(default_factory=dict)
    _artifacts: dict[str, list[tuple[Path, int, int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> "Carving":
        """Looks at every page once; the rows themselves are read when they are asked for."""
        carving = cls((path, path.with_name(f"{path.name}-wal")))
        places = [place for file in carving.files for place in _places(file)]
        for number, file, at in places:
            carving._pages.setdefault(number, []).append((file, at))
        for _, file, at in places:
            carving._look(file, at)
        return carving

    def records(self, agent_id: str) -> Iterator[Row]:
        """The rows of one log, in no order, some more than once."""
        for place in self._records.get(agent_id, ()):
            yield from self._row(place, _RECORD)

    def artifact(self, artifact_id: str) -> Iterator[bytes]:
        """What may be the bytes of this artifact."""
        for place in self._artifacts.get(artifact_id, ()):
            for row in self._row(place, _ARTIFACT):
                if isinstance(data := row["data"], bytes):
                    yield data

    def _row(self, place: tuple[Path, int, int], columns: tuple[str, ...]) -> Iterator[Row]:
        file, at, cell = place
        try:
            values = _values(self._payload(_read(file, at), cell))
        except _NoCell:
            return
        if len(values) == len(columns):
            yield dict(zip(columns, values, strict=True))

    def _look(self, file: Path, at: int) -> None:
        page = _read(file, at)
        for cell in _cells(page):
            try:
                first = _values(self._payload(page, cell, n_wanted=_LEAST_LOCAL), only_first=True)
            except _NoCell:
                continue
            if first and isinstance(name := first[0], str):
                found = self._artifacts if page[0] == _TABLE_LEAF else self._records
                found.setdefault(name, []).append((file, at, cell))

    def _payload(self, page: bytes, cell: int, n_wanted: int = _MOST_BYTES) -> bytes:
        """The bytes of a row, at least as many as are wanted."""
        at = cell + (4 if page[0] == _INDEX_INTERIOR else 0)
        size, at = _varint(page, at)
        if page[0] == _TABLE_LEAF:
            _, at = _varint(page, at)
        limit = _TABLE_LOCAL if page[0] == _TABLE_LEAF else _INDEX_LOCAL
        if not 0 < size <= _MOST_BYTES:
            raise _NoCell
        n_local = size
        if size > limit:
            n_local = _LEAST_LOCAL + (size - _LEAST_LOCAL) % (_PAGE - 4)
            n_local = n_local if n_local <= limit else _LEAST_LOCAL
        payload = bytearray(page[at : at + n_local])
        if len(payload) < n_local:
            raise _NoCell
        if n_local < min(size, n_wanted):
            (number,) = struct.unpack(">I", page[at + n_local : at + n_local + 4].ljust(4, b"\0"))
            self._follow(number, size, payload)
        return bytes(payload)

    def _follow(self, number: int, size: int, payload: bytearray) -> None:
        """Adds what lies on the pages behind; of each, the newest copy."""
        while len(payload) < size:
            places = self._pages.get(number)
            if not places:
                raise _NoCell
            file, at = places[-1]
            page = _read(file, at)
            number = int.from_bytes(page[:4])
            payload += page[4 : 4 + size - len(payload)]


def _places(file: Path) -> Iterator[tuple[int, Path, int]]:
    """Each page of a file: its number and where it stands."""
    if not file.exists():
        return
    size = file.stat().st_size
    if not file.name.endswith("-wal"):
        yield from ((number, file, at) for number, at in enumerate(range(0, size - _PAGE + 1, _PAGE), 1))
        return
    with file.open("rb") as opened:
        for frame in range(_WAL_HEADER, size - _FRAME_HEADER - _PAGE + 1, _FRAME_HEADER + _PAGE):
            opened.seek(frame)
            yield int.from_bytes(opened.read(4)), file, frame + _FRAME_HEADER


def _read(file: Path, at: int) -> bytes:
    with file.open("rb") as opened:
        opened.seek(at)
        return opened.read(_PAGE)


def _cells(page: bytes) -> Iterator[int]:
    if page[0] not in (_INDEX_INTERIOR, _INDEX_LEAF, _TABLE_LEAF):
        return
    first = 12 if page[0] == _INDEX_INTERIOR else 8
    n_cells = int.from_bytes(page[3:5])
    for at in range(first, min(first + 2 * n_cells, _PAGE - 1), 2):
        cell = int.from_bytes(page[at : at + 2])
        if first + 2 * n_cells <= cell < _PAGE - 4:
            yield cell


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        if at + n >= len(data):
            raise _NoCell
        byte = data[at + n]
        if n == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    raise _NoCell


def _values(payload: bytes, *, only_first: bool = False) -> list[Value]:
    """The columns of a row."""
    end, at = _varint(payload, 0)
    body = end
    values: list[Value] = []
    while at < end and not (only_first and values):
        kind, at = _varint(payload, at)
        n_bytes = (kind - 12) // 2 if kind >= 12 else 8 if kind == 7 else _INT_BYTES[min(kind, 6)]
        n_bytes = 0 if kind in (0, 8, 9) else n_bytes
        data = payload[body : body + n_bytes]
        if len(data) < n_bytes or kind in (10, 11):
            raise _NoCell
        values.append(_value(kind, data))
        body += n_bytes
    return values


def _value(kind: int, data: bytes) -> Value:
    if kind >= 12:
        return data.decode("utf-8", "replace") if kind % 2 else data
    if kind == 0:
        return None
    if kind == 7:
        return float(struct.unpack(">d", data)[0])
    return kind - 8 if kind in (8, 9) else int.from_bytes(data, signed=True)
