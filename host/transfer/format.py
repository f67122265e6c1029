"""The lines of an export, and what they say; docs/export-format.md describes them. Pure.

Every line is strict JSON. A record that holds what JSON lacks (NaN, infinities,
halves of surrogate pairs) carries its fields as a text instead of an object.
"""

import base64
import json
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from host.transfer.errors import ExportTooLarge

FORMAT_VERSION = 1
MAX_LINE_BYTES = 256 * 2**20
FIRST_FIELD = "callboard_export"
_SUSPECTS = (b"NaN", b"Infinity", rb"\ud", rb"\uD")


@dataclass(frozen=True, slots=True)
class ExportedAgent:
    """One agent of the session, and how many records of it follow."""

    agent: str
    name: str
    records: int


@dataclass(frozen=True, slots=True)
class Header:
    """The first line. The first agent is the session's main one; `exported_at` is in seconds since the epoch.

    `exact`: nothing was left out, so that the session goes on as it would have here.
    """

    session: str
    name: str
    exact: bool
    exported_at: float
    program: str
    agents: tuple[ExportedAgent, ...]


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A record with its place; `data` is the JSON of its fields, as in a store."""

    agent: str
    seq: int
    kind: str
    version: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ArtifactLine:
    """An artifact; that its bytes have the hash of its id has been checked."""

    artifact: str
    data: bytes


@dataclass(frozen=True, slots=True)
class EndLine:
    """The last line: how many stand before it, and the SHA-256 of all their bytes."""

    lines: int
    sha256: str


Line: TypeAlias = Header | RecordLine | ArtifactLine | EndLine


def header_line(header: Header) -> bytes:
    return _line(
        {
            FIRST_FIELD: FORMAT_VERSION,
            "session": header.session,
            "name": header.name,
            "exact": header.exact,
            "exported_at": header.exported_at,
            "program": header.program,
            "agents": [{"agent": a.agent, "name": a.name, "records": a.records} for a in header.agents],
        }
    )


def record_line(record: RecordLine, *, limit_bytes: int = MAX_LINE_BYTES) -> bytes:
    """The record's line, its data byte for byte where they are JSON.

    Raises:
        ExportTooLarge: it is longer than a line may be.
    """
    place = {"agent": record.agent, "seq": record.seq, "kind": record.kind, "version": record.version}
    if _is_strict_json(record.data):
        line = _line(place)[:-2] + b',"data":' + record.data + b"}\n"
    else:
        line = _line({**place, "text": record.data.decode()})
    return _fitting(line, f"record {record.seq} of agent {record.agent}", limit_bytes)


def artifact_line(artifact: ArtifactLine, *, limit_bytes: int = MAX_LINE_BYTES) -> bytes:
    """The artifact's line.

    Raises:
        ExportTooLarge: it is longer than a line may be.
    """
    line = _line({"artifact": artifact.artifact, "base64": base64.b64encode(artifact.data).decode()})
    return _fitting(line, f"artifact {artifact.artifact}", limit_bytes)


def end_line(end: EndLine) -> bytes:
    return _line({"end": True, "lines": end.lines, "sha256": end.sha256})


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _fitting(line: bytes, what: str, limit_bytes: int) -> bytes:
    if len(line) > limit_bytes:
        raise ExportTooLarge(
            f"{what} takes {len(line):,} bytes; a line of an export holds at most {limit_bytes:,}"
        )
    return line


def _is_strict_json(data: bytes) -> bool:
    if not any(suspect in data for suspect in _SUSPECTS):
        return True
    try:
        json.dumps(json.loads(data, parse_constant=no_number), ensure_ascii=False).encode()
    except ValueError:  # of a number that is none, or of a half of a surrogate pair
        return False
    return True


def no_number(constant: str) -> NoReturn:
    """For a JSON parser: what to do about NaN and the infinities."""
    raise ValueError(f"{constant} is no JSON number")
