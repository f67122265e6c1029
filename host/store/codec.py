"""Records and events as JSON: what stands in a store, and what `--json` prints.

A record is stored as the name and version of its kind beside the JSON of its
fields. The name is the class's, in snake case, and part of the format: a class
that is renamed must keep the old name here.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from actors.address import AgentId
from actors.errors import LogFailed
from actors.events import SessionEvent
from actors.records import Record
from host.errors import StoreDamaged
from host.store.ports import LoadedLog, StoredRecord
from providers.errors import CallboardError


def _by_name(kinds: tuple[Any, ...]) -> dict[str, Any]:
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in kinds}


RECORD_KINDS: Mapping[str, type[Record]] = _by_name(get_args(Record))
EVENT_KINDS: Mapping[str, type[SessionEvent]] = _by_name(get_args(SessionEvent))
RECORD_VERSION = 1
"""Of every kind so far; a kind whose fields change incompatibly gets a number of its own."""

_RECORD_NAMES = {kind: name for name, kind in RECORD_KINDS.items()}
_EVENT_NAMES = {kind: name for name, kind in EVENT_KINDS.items()}

_REPLACED_SURROGATE = "\ufffd\ufffd\ufffd".encode()

# A number with more digits cannot be read back: Python refuses to parse it.
_MAX_INT_DIGITS = 4300
_DIGITS_TO_ZEROS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))


@dataclass(frozen=True, slots=True)
class EncodedRecord:
    """A record as it is stored; `data` is the JSON of its fields in UTF-8."""

    kind: str
    version: int
    data: bytes


def encode_record(record: Record) -> EncodedRecord:
    """The record's stored form; later changes of dicts inside it do not touch it.

    Lone surrogates, infinities and NaN survive.

    Raises:
        LogFailed: a value that is not JSON, over some 250 levels of
            nesting, or a number of over 4,300 digits.
    """
    name = _RECORD_NAMES[type(record)]
    data = _dump(_record_adapter(name), record, name)
    if len(data) > _MAX_INT_DIGITS and b"0" * (_MAX_INT_DIGITS + 1) in data.translate(_DIGITS_TO_ZEROS):
        _refuse_unreadable(data, name)
    return EncodedRecord(name, RECORD_VERSION, data)


def decode_record(encoded: EncodedRecord, *, agent_id: str, seq: int) -> Record:
    """The record that was encoded; where it stood is for the error.

    Raises:
        StoreDamaged: a kind or version that is not known here, or data that
            are not this kind's.
    """

    def damaged(reason: str) -> StoreDamaged:
        text = f"record {seq} of agent {agent_id} cannot be read: {reason}"
        return StoreDamaged(text, agent_id=agent_id, seq=seq)

    if encoded.kind not in RECORD_KINDS or encoded.version != RECORD_VERSION:
        raise damaged(
            f"kind {encoded.kind!r} version {encoded.version!r} is not known here"
            f" (known: version {RECORD_VERSION} of {', '.join(RECORD_KINDS)})"
        )
    try:
        record = _load(_record_adapter(encoded.kind), encoded.data)
    except (ValueError, TypeError, CallboardError, RecursionError) as error:
        raise damaged(f"no {encoded.kind} in its data: {_first_line(error)}") from error
    if record is None:
        raise damaged(f"no {encoded.kind} in its data: null")
    return record


def decode_log(agent_id: AgentId, n_records: int, rows: Iterable[tuple[int, EncodedRecord]]) -> LoadedLog:
    """The log of these rows, which must be all of its `n_records`, in order.

    Raises:
        StoreDamaged: the first record that is missing or unreadable.
    """
    found: list[StoredRecord] = []
    for seq, encoded in rows:
        if seq != len(found):
            break
        found.append(StoredRecord(seq, decode_record(encoded, agent_id=agent_id, seq=seq)))
    if not isinstance(n_records, int):  # a broken row may hold anything
        raise StoreDamaged(f"the number of records of agent {agent_id} cannot be read", agent_id=agent_id)
    if len(found) != n_records:
        what = (
            f"record {len(found)} of agent {agent_id} is missing: there should be {n_records}"
            if len(found) < n_records
            else f"the log of agent {agent_id} has {len(found)} records, it should have {n_records}"
        )
        raise StoreDamaged(what, agent_id=agent_id, seq=min(len(found), n_records))
    return LoadedLog(agent_id, tuple(found))


def event_to_json(event: SessionEvent) -> dict[str, JsonValue]:
    """The event as one JSON object: its kind under `event`, then its fields."""
    name = _EVENT_NAMES[type(event)]
    fields: dict[str, JsonValue] = json.loads(_dump(_event_adapter(name), event, name))
    return {"event": name, **fields}


@cache
def _record_adapter(name: str) -> TypeAdapter[Record | None]:
    return _adapter(RECORD_KINDS[name])


@cache
def _event_adapter(name: str) -> TypeAdapter[SessionEvent | None]:
    return _adapter(EVENT_KINDS[name])


def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Made on first use: building one takes milliseconds.

    `| None`, because pydantic takes no configuration for a bare dataclass;
    without it NaN and the infinities would silently become null.
    """
    return TypeAdapter(kind | None, config=ConfigDict(ser_json_inf_nan="constants"))


def _dump(adapter: TypeAdapter[Any], value: Record | SessionEvent, name: str) -> bytes:
    try:
        data = adapter.dump_json(value, warnings="error")
    except PydanticSerializationError:  # lone surrogates are no UTF-8, for one
        return _dump_as_ascii(adapter, value, name)
    # In keys of a dict, pydantic writes this for a lone surrogate and says nothing.
    return _dump_as_ascii(adapter, value, name) if _REPLACED_SURROGATE in data else data


def _dump_as_ascii(adapter: TypeAdapter[Any], value: Record | SessionEvent, name: str) -> bytes:
    """Slower, with surrogates as escapes. Not pydantic's JSON mode: that replaces them in keys as well."""
    try:
        return json.dumps(adapter.dump_python(value, warnings="error"), separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise LogFailed(f"{name} cannot be stored: {_first_line(error)}") from error


def _load(adapter: TypeAdapter[Record | None], data: bytes) -> Record | None:
    try:
        return adapter.validate_json(data)
    except ValidationError:
        # pydantic's parser refuses lone surrogates and over 200 levels; the json module reads both.
        return adapter.validate_python(json.loads(data))


def _refuse_unreadable(data: bytes, name: str) -> None:
    try:
        json.loads(data)
    except ValueError as error:
        raise LogFailed(f"{name} cannot be stored: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return " ".join(line.strip() for line in lines[:3])[:300]
