"""The JSON format of projection cases, and what a case becomes."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, assert_never

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from actors.errors import BadInput
from actors.history import (
    Authority,
    Entry,
    EntryId,
    MessageEntry,
    Origin,
    Presentation,
    ReminderEntry,
    authority_of,
)
from providers.model import (
    Block,
    CacheMark,
    Content,
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _CacheControl(_Strict):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class _Call(_Strict):
    id: str
    name: str
    input: JsonValue = None


class _Text(BaseModel):
    model_config = ConfigDict(extra="allow")
    type: Literal["text"]
    text: str


class _Image(BaseModel):
    model_config = ConfigDict(extra="allow")
    type: Literal["image"]
    media_type: str
    data_url: str


class _Reasoning(BaseModel):
    model_config = ConfigDict(extra="allow")
    type: Literal["reasoning"]
    text: str = ""
    signature: str | None = None
    data: str | None = None
    item_id: str | None = None
    model: str | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="allow")
    type: Literal["file"]
    media_type: str = "application/octet-stream"
    text: str | None = None
    data_url: str | None = None
    name: str | None = None


_AnyBlock: TypeAlias = Annotated[_Text | _Image | _Reasoning | _File, Field(discriminator="type")]


class _MessageCase(_Strict):
    kind: Literal["message"]
    role: Role
    content: str | list[_AnyBlock] | None = None
    source: str | None = None
    presentation: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    cache_control: _CacheControl | None = None
    origin: Origin | None = None
    sender: str | None = None


class _ReminderCase(_Strict):
    kind: Literal["reminder"]
    source: str
    content: str
    presentation: str | None = None
    cache_control: _CacheControl | None = None
    origin: Origin | None = None


_AnyEntry: TypeAlias = Annotated[_MessageCase | _ReminderCase, Field(discriminator="kind")]


class _Input(_Strict):
    entries: list[_AnyEntry]
    apply_cache_control: bool = False
    skip_cache_write: bool = False
    mid_conversation_system: bool = False
    peers_may_use_system_role: bool = False


class _Case(BaseModel):
    """`rule`, `expected` and the like may stand beside; they are not read."""

    name: str
    input: _Input


@dataclass(frozen=True, slots=True)
class Case:
    """A case as values. `raw_blocks` finds, by identity, what a block looked like in the file."""

    name: str
    entries: tuple[Entry, ...]
    apply_cache_control: bool
    skip_cache_write: bool
    mid_conversation_system: bool
    peers_may_use_system_role: bool
    raw_blocks: dict[int, JsonValue] = field(default_factory=dict)


def read_case(value: JsonValue) -> Case:
    """A case from its JSON value.

    Raises:
        BadInput: naming every place where the value is not what the format wants.
    """
    try:
        case = _Case.model_validate(value)
    except ValidationError as exc:
        raise BadInput(f"{_name_of(value)} is not a projection case: {_faults(exc)}") from exc
    raw_blocks: dict[int, JsonValue] = {}
    entries = tuple(_entry(at, entry, raw_blocks) for at, entry in enumerate(case.input.entries))
    return Case(
        case.name,
        entries,
        case.input.apply_cache_control,
        case.input.skip_cache_write,
        case.input.mid_conversation_system,
        case.input.peers_may_use_system_role,
        raw_blocks,
    )


_MAX_FAULTS = 5


def _name_of(value: JsonValue) -> str:
    name = value.get("name") if isinstance(value, dict) else None
    return repr(name) if isinstance(name, str) else "the value"


def _faults(exc: ValidationError) -> str:
    faults = exc.errors(include_url=False, include_input=False)
    told = [f"{'.'.join(map(str, fault['loc'])) or 'case'}: {fault['msg']}" for fault in faults[:_MAX_FAULTS]]
    if len(faults) > _MAX_FAULTS:
        told.append(f"and {len(faults) - _MAX_FAULTS} more")
    return "; ".join(told)


def _entry(at: int, entry: _MessageCase | _ReminderCase, raw_blocks: dict[int, JsonValue]) -> Entry:
    origin = entry.origin or _assumed_origin(entry)
    authority = authority_of(origin) if entry.origin is not None else _assumed_authority(entry, origin)
    entry_id = EntryId(f"case-{at}")
    cache = None if entry.cache_control is None else CacheMark(entry.cache_control.ttl)
    if isinstance(entry, _ReminderCase):
        return ReminderEntry(
            entry_id, entry.source, entry.content, origin, authority, entry.presentation, cache=cache
        )
    message = Message(
        entry.role,
        _content(entry.content, raw_blocks),
        tuple(ToolCall(call.id, call.name, call.input) for call in entry.tool_calls or ()),
        entry.tool_call_id,
        entry.tool_name,
        entry.is_error,
        cache,
    )
    return MessageEntry(
        entry_id, message, origin, authority, entry.source, entry.presentation, sender=entry.sender
    )


_ORIGINS = {
    Presentation.USER_STEER: Origin.USER,
    Presentation.COORDINATOR_STEER: Origin.COORDINATOR,
    Presentation.COORDINATOR_INPUT: Origin.COORDINATOR,
    Presentation.SUBAGENT_REPLY_STEER: Origin.PEER_AGENT,
    Presentation.SUBAGENT_REPLY: Origin.PEER_AGENT,
}
_ROLE_ORIGINS = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.MODEL, Role.TOOL: Origin.TOOL}
# A file that does not say who wrote these is believed no further than their weakest author:
# skills may be the project's, and a notification quotes the agent that it is about.
_DOUBTFUL_SOURCES = frozenset({"skills_listing", "queued_system_notification"})
_DOUBTFUL_PRESENTATIONS = frozenset({Presentation.TASK_NOTIFICATION, Presentation.TASK_NOTIFICATION_STEER})


def _assumed_origin(entry: _MessageCase | _ReminderCase) -> Origin:
    by_presentation = {p.value: origin for p, origin in _ORIGINS.items()}
    if entry.presentation in by_presentation:
        return by_presentation[entry.presentation]
    if isinstance(entry, _ReminderCase) or entry.source not in (None, "real_user"):
        return Origin.HOST
    return _ROLE_ORIGINS.get(entry.role, Origin.HOST)


def _assumed_authority(entry: _MessageCase | _ReminderCase, origin: Origin) -> Authority:
    is_doubtful = entry.source in _DOUBTFUL_SOURCES or entry.presentation in _DOUBTFUL_PRESENTATIONS
    return Authority.DATA if is_doubtful else authority_of(origin)


def _content(content: str | list[_AnyBlock] | None, raw_blocks: dict[int, JsonValue]) -> Content:
    if content is None or isinstance(content, str):
        return content
    blocks = []
    for raw in content:
        block = _block(raw)
        raw_blocks[id(block)] = raw.model_dump(mode="json", exclude_unset=True)
        blocks.append(block)
    return tuple(blocks)


def _block(raw: _Text | _Image | _Reasoning | _File) -> Block:
    match raw:
        case _Text(text=text):
            return TextBlock(text)
        case _Image():
            return ImageBlock(raw.media_type, raw.data_url)
        case _Reasoning():
            return ReasoningBlock(raw.text, raw.signature, raw.data, raw.item_id, raw.model)
        case _File():
            return FileBlock(raw.media_type, raw.text, raw.data_url, raw.name)
        case _:
            assert_never(raw)
