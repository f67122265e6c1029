"""The lines of an export, and what they say; docs/export-format.md describes them. Pure.

Every line is strict JSON. A record that holds what JSON lacks (NaN, infinities,
halves of surrogate pairs) carries its fields as a text instead of an object.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from host.transfer.errors import ExportInvalid, ExportTooLarge

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


def record_line(record: RecordLine) -> bytes:
    """The record's line, its data byte for byte where they are JSON.

    Raises:
        ExportTooLarge: it is longer than a line may be.
    """
    place = {"agent": record.agent, "seq": record.seq, "kind": record.kind, "version": record.version}
    if not _is_strict_json(record.data):
        return _fitting(
            _line({**place, "text": record.data.decode()}), f"record {record.seq} of agent {record.agent}"
        )
    line = _line(place)[:-2] + b',"data":' + record.data + b"}\n"
    return _fitting(line, f"record {record.seq} of agent {record.agent}")


def artifact_line(artifact: ArtifactLine) -> bytes:
    """The artifact's line.

    Raises:
        ExportTooLarge: it is longer than a line may be.
    """
    text = base64.b64encode(artifact.data).decode()
    return _fitting(_line({"artifact": artifact.artifact, "base64": text}), f"artifact {artifact.artifact}")


def end_line(end: EndLine) -> bytes:
    return _line({"end": True, "lines": end.lines, "sha256": end.sha256})


def parse_line(line: bytes, number: int) -> Line:
    """What a line says; its number, counted from 1, is for the error.

    Raises:
        ExportInvalid: no line of an export, or one of a newer version.
    """
    try:
        # Not pydantic's parser: it refuses over 200 levels, and a record may have more.
        value: object = json.loads(line.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ExportInvalid(f"line {number}: JSON wanted, but {_first_line(error)}") from error
    if not isinstance(value, dict):
        raise ExportInvalid(f"line {number}: a JSON object wanted, got {type(value).__name__}")
    try:
        return _said(value, number)
    except ValidationError as error:
        raise ExportInvalid(f"line {number}: {_complaints(error)}") from error


def _said(value: dict[str, object], number: int) -> Line:
    if FIRST_FIELD in value:
        _check_version(value[FIRST_FIELD], number)
        return _HeaderModel.model_validate(value).as_header()
    if "artifact" in value:
        return _ArtifactModel.model_validate(value).as_line(number)
    if "end" in value:
        end = _EndModel.model_validate(value)
        return EndLine(end.lines, end.sha256)
    if "text" in value:
        text = _TextModel.model_validate(value)
        data = text.text.encode("utf-8", "surrogatepass")
        return RecordLine(text.agent, text.seq, text.kind, text.version, data)
    if "seq" in value:
        record = _RecordModel.model_validate(value)
        data = json.dumps(record.data, separators=(",", ":")).encode()
        return RecordLine(record.agent, record.seq, record.kind, record.version, data)
    keys = ", ".join(map(repr, list(value)[:6])) or "none"
    raise ExportInvalid(
        f"line {number}: a header, a record, an artifact or the end wanted, got the fields {keys}"
    )


def _check_version(version: object, number: int) -> None:
    if isinstance(version, int) and not isinstance(version, bool) and version > FORMAT_VERSION:
        raise ExportInvalid(
            f"line {number}: this export has version {version} of the format, this program knows up to"
            f" {FORMAT_VERSION}: use the newer program that wrote it"
        )


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _AgentModel(_Model):
    agent: str
    name: str
    records: int


class _HeaderModel(_Model):
    callboard_export: Literal[1]
    session: str
    name: str
    exact: bool
    exported_at: float
    program: str
    agents: list[_AgentModel]

    def as_header(self) -> Header:
        agents = tuple(ExportedAgent(a.agent, a.name, a.records) for a in self.agents)
        return Header(self.session, self.name, self.exact, self.exported_at, self.program, agents)


class _PlaceModel(_Model):
    agent: str
    seq: int
    kind: str
    version: int


class _RecordModel(_PlaceModel):
    data: dict[str, object]


class _TextModel(_PlaceModel):
    text: str


class _ArtifactModel(_Model):
    artifact: str
    base64: str

    def as_line(self, number: int) -> ArtifactLine:
        try:
            data = base64.b64decode(self.base64, validate=True)
        except ValueError as error:
            text = f"line {number}: base64 of artifact {self.artifact!r} wanted, but {_first_line(error)}"
            raise ExportInvalid(text) from error
        if (found := hashlib.sha256(data).hexdigest()) != self.artifact:
            raise ExportInvalid(f"line {number}: artifact {self.artifact!r} has bytes with the hash {found}")
        return ArtifactLine(self.artifact, data)


class _EndModel(_Model):
    end: Literal[True]
    lines: int
    sha256: str


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _fitting(line: bytes, what: str) -> bytes:
    if len(line) > MAX_LINE_BYTES:
        raise ExportTooLarge(
            f"{what} takes {len(line):,} bytes; a line of an export holds at most {MAX_LINE_BYTES:,}"
        )
    return line


def _is_strict_json(data: bytes) -> bool:
    if not any(suspect in data for suspect in _SUSPECTS):
        return True
    try:
        json.dumps(json.loads(data, parse_constant=_no_number), ensure_ascii=False).encode()
    except ValueError:  # of a number that is none, or of a half of a surrogate pair
        return False
    return True


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _complaints(error: ValidationError) -> str:
    told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
    return "; ".join(told)[:300]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
