"""Histories to measure on: entries of some 250 bytes, as an agent at work has them."""

from actors.history import Authority, Entry, EntryId, MessageEntry, Origin, Presentation, ReminderEntry
from providers.model import Message, Role, ToolCall

_TEXT = (
    "The quick brown fox looks for the file that holds the answer, reads it twice, and says what it found. "
    * 2
)


def mixed(n_entries: int) -> tuple[Entry, ...]:
    """Turns of a question, a call, its result, reminders, a steer, a peer's message and an answer."""
    entries: list[Entry] = []
    while len(entries) < n_entries:
        entries.extend(_turn(len(entries)))
    return tuple(entries[:n_entries])


def conversation(n_entries: int) -> tuple[Entry, ...]:
    """Whole turns of question, call, result and answer; no more entries than asked for."""
    turns = (_plain_turn(at) for at in range(0, n_entries - 3, 4))
    return tuple(entry for turn in turns for entry in turn)


def reminded(n_reminders: int) -> tuple[Entry, ...]:
    """One question of a user and so many reminders behind it."""
    reminders = (_reminder(at, "todo_reminder") for at in range(1, n_reminders + 1))
    return (_said(0, Role.USER), *reminders)


def _turn(at: int) -> tuple[Entry, ...]:
    question, call, result, answer = _plain_turn(at)
    return (
        question,
        _reminder(at + 4, "todo_reminder"),
        call,
        result,
        _reminder(at + 5, "diagnostics"),
        _incoming(at + 6, Presentation.USER_STEER, Origin.USER, Authority.USER),
        _incoming(at + 7, Presentation.SUBAGENT_REPLY_STEER, Origin.PEER_AGENT, Authority.PEER),
        answer,
    )


def _plain_turn(at: int) -> tuple[Entry, Entry, Entry, Entry]:
    call = ToolCall(f"call-{at}", "Read", {"path": f"docs/page-{at}.md", "limit": 200})
    return (
        _said(at, Role.USER),
        _message(at + 1, Message(Role.ASSISTANT, "I look.", (call,)), Origin.MODEL),
        _message(at + 2, Message(Role.TOOL, _text(at), tool_call_id=call.id, tool_name="Read"), Origin.TOOL),
        _said(at + 3, Role.ASSISTANT),
    )


def _said(at: int, role: Role) -> MessageEntry:
    origin = Origin.USER if role is Role.USER else Origin.MODEL
    return _message(at, Message(role, _text(at)), origin)


def _message(at: int, message: Message, origin: Origin) -> MessageEntry:
    authority = Authority.USER if origin is Origin.USER else Authority.DATA
    return MessageEntry(EntryId(f"ent-{at}"), message, origin, authority)


def _incoming(at: int, presentation: Presentation, origin: Origin, authority: Authority) -> MessageEntry:
    return MessageEntry(
        EntryId(f"ent-{at}"),
        Message(Role.USER, _text(at)),
        origin,
        authority,
        source=None if origin is Origin.USER else "legacy_synthetic",
        presentation=presentation,
        sender="reviewer",
    )


def _reminder(at: int, source: str) -> ReminderEntry:
    return ReminderEntry(EntryId(f"ent-{at}"), source, _text(at))


def _text(at: int) -> str:
    return f"{_TEXT}This is number {at}."
