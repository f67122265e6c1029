"""When a reminder that repeats is due again."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from actors.history import Entry, MessageEntry
from actors.reminders.registry import REAL_USER
from providers.model import Role

RUNTIME_MODE = "runtime_mode"
TODO_REMINDER = "todo_reminder"

USER_MESSAGES_BETWEEN_MODE_REMINDERS = 5
FULL_MODE_REMINDER_EVERY = 5
STEPS_BETWEEN_TODO_REMINDERS = 10


class ModeReminder(StrEnum):
    """The whole text, one sentence, or nothing."""

    FULL = "full"
    SPARSE = "sparse"
    NONE = "none"


def runtime_mode_due(entries: Sequence[Entry], *, is_plan_mode: bool) -> ModeReminder:
    """Which reminder of plan mode the next request needs.

    The first, and then one after at least 5 messages of a real user; the 1st,
    6th, 11th … is the full text.
    """
    if not is_plan_mode:
        return ModeReminder.NONE
    n_reminders = sum(entry.source == RUNTIME_MODE for entry in entries)
    if n_reminders and _users_since_mode_reminder(entries) < USER_MESSAGES_BETWEEN_MODE_REMINDERS:
        return ModeReminder.NONE
    return ModeReminder.SPARSE if n_reminders % FULL_MODE_REMINDER_EVERY else ModeReminder.FULL


def _users_since_mode_reminder(entries: Sequence[Entry]) -> int:
    n_users = 0
    for entry in reversed(entries):
        if entry.source == RUNTIME_MODE:
            break
        n_users += _is_human_turn(entry)
    return n_users


def _is_human_turn(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.message.role is Role.USER and entry.source == REAL_USER


@dataclass(frozen=True, slots=True)
class TodoCadence:
    """Assistant steps since the todo list was written and since its last reminder."""

    steps_since_write: int
    steps_since_reminder: int

    @property
    def is_due(self) -> bool:
        return min(self.steps_since_write, self.steps_since_reminder) >= STEPS_BETWEEN_TODO_REMINDERS


def todo_reminder_due(entries: Sequence[Entry], *, todo_tool: str) -> TodoCadence:
    """How long ago the todo list was written and reminded of.

    Where neither happened, every assistant step there is counts. Whether the
    model sees the tool at all is the caller's to know.
    """
    write: int | None = None
    reminder: int | None = None
    n_steps = 0
    for entry in reversed(entries):
        if entry.source == TODO_REMINDER:
            reminder = n_steps if reminder is None else reminder
        if isinstance(entry, MessageEntry) and entry.message.role is Role.ASSISTANT:
            if write is None and any(call.name == todo_tool for call in entry.message.tool_calls):
                write = n_steps
            n_steps += 1
    return TodoCadence(n_steps if write is None else write, n_steps if reminder is None else reminder)
