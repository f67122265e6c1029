"""Requests to be compared, in few words."""

from dataclasses import dataclass, field

from actors.history import Authority, Entry, EntryId, MessageEntry, Origin, ReminderEntry
from actors.projection import Projection, ProjectionOptions, project
from providers.model import Block, CacheMark, Message, ReasoningBlock, Role, TextBlock, ToolCall
from tests.actors.projection.histories import READER


@dataclass(frozen=True)
class Request:
    """A request as it is compared."""

    entries: tuple[Entry, ...]
    options: ProjectionOptions = field(default_factory=ProjectionOptions)
    n_prefix: int = 0
    projection: Projection = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "projection", project(self.entries, self.options))


def said(
    entry_id: str, role: Role, text: str, *, source: str | None = None, presentation: str | None = None
) -> MessageEntry:
    origin = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.MODEL}.get(role, Origin.HOST)
    return MessageEntry(EntryId(entry_id), Message(role, text), origin, Authority.DATA, source, presentation)


def user(entry_id: str, text: str = "words") -> MessageEntry:
    return said(entry_id, Role.USER, text)


def answer(entry_id: str, text: str = "an answer") -> MessageEntry:
    return said(entry_id, Role.ASSISTANT, text)


def calling(entry_id: str, *call_ids: str) -> MessageEntry:
    calls = tuple(ToolCall(call_id, "Read", {"path": call_id}) for call_id in call_ids)
    message = Message(Role.ASSISTANT, "I look.", calls)
    return MessageEntry(EntryId(entry_id), message, Origin.MODEL, Authority.DATA)


def result(entry_id: str, call_id: str, text: str = "found") -> MessageEntry:
    message = Message(Role.TOOL, text, tool_call_id=call_id, tool_name="Read", is_error=False)
    return MessageEntry(EntryId(entry_id), message, Origin.TOOL, Authority.DATA)


def reminder(entry_id: str, source: str, body: str = "remember") -> ReminderEntry:
    return ReminderEntry(EntryId(entry_id), source, body)


def thinking(entry_id: str, request_fingerprint: str | None = None, model: str = READER) -> MessageEntry:
    content: tuple[Block, ...] = (ReasoningBlock("hm", signature="sealed", model=model), TextBlock("So."))
    return MessageEntry(
        EntryId(entry_id),
        Message(Role.ASSISTANT, content),
        Origin.MODEL,
        Authority.DATA,
        model=model,
        request_fingerprint=request_fingerprint,
    )


def system(entry_id: str, text: str) -> MessageEntry:
    message = Message(Role.SYSTEM, text, cache=CacheMark())
    return MessageEntry(EntryId(entry_id), message, Origin.HOST, Authority.HOST)
