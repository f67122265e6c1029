"""What the lines of an export say, read back. Pure."""

import base64
import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from host.transfer.errors import ExportInvalid
from host.transfer.format import (
    FIRST_FIELD,
    FORMAT_VERSION,
    ArtifactLine,
    EndLine,
    ExportedAgent,
    Header,
    Line,
    RecordLine,
    no_number,
)


def parse_line(line: bytes, number: int) -> Line:
    """What a line says; its number, counted from 1, is for the error.

    Raises:
        ExportInvalid: no line of an export, or one of a newer version.
    """
    try:
        # Not pydantic's parser: it refuses over 200 levels, and a record may have more.
        value: object = json.loads(line.decode(), parse_constant=no_number)
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
    if type(version) is int and version > FORMAT_VERSION:
        raise ExportInvalid(
            f"line {number}: this export has version {version} of the format, this program knows up to"
            f" {FORMAT_VERSION}: use the newer program that wrote it"
        )
    if type(version) is not int or version != FORMAT_VERSION:
        raise ExportInvalid(f"line {number}: version {FORMAT_VERSION} of the format wanted, got {version!r}")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _AgentModel(_Model):
    agent: str
    name: str
    records: int


class _HeaderModel(_Model):
    callboard_export: int
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


def _complaints(error: ValidationError) -> str:
    told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
    return "; ".join(told)[:300]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
