"""Entries in few words."""

from actors.history import Authority, EntryId, MessageEntry, Origin, Presentation, ReminderEntry, authority_of
from providers.model import Content, Message, Role, ToolCall


def said(role: Role, content: Content, *, source: str | None = None) -> MessageEntry:
    origin = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.MODEL}.get(role, Origin.HOST)
    return MessageEntry(EntryId("e"), Message(role, content), origin, authority_of(origin), source)


def user(content: Content, *, source: str = "real_user") -> MessageEntry:
    return said(Role.USER, content, source=source)


def answer(content: Content) -> MessageEntry:
    return said(Role.ASSISTANT, content)


def calls(*call_ids: str, content: Content = "I look.") -> MessageEntry:
    made = tuple(ToolCall(call_id, "Read", {"path": "/x"}) for call_id in call_ids)
    message = Message(Role.ASSISTANT, content, made)
    return MessageEntry(EntryId("e"), message, Origin.MODEL, Authority.DATA)


def result(call_id: str | None, content: Content = "found") -> MessageEntry:
    message = Message(Role.TOOL, content, tool_call_id=call_id, tool_name="Read", is_error=False)
    return MessageEntry(EntryId("e"), message, Origin.TOOL, Authority.DATA)


def reminder(source: str, body: str, origin: Origin = Origin.HOST) -> ReminderEntry:
    return ReminderEntry(EntryId("e"), source, body, origin, authority_of(origin))


def incoming(
    presentation: Presentation,
    content: Content,
    *,
    origin: Origin = Origin.PEER_AGENT,
    authority: Authority | None = None,
    sender: str | None = "helper-7",
) -> MessageEntry:
    return MessageEntry(
        EntryId("e"),
        Message(Role.USER, content),
        origin,
        authority_of(origin) if authority is None else authority,
        "real_user" if presentation is Presentation.USER_STEER else "legacy_synthetic",
        presentation.value,
        sender=sender,
    )
