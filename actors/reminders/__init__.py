"""What the model is told that no user typed: sources, wrapping, presenting, cadence."""

from actors.reminders.cadence import ModeReminder, TodoCadence, runtime_mode_due, todo_reminder_due
from actors.reminders.presenter import WORDINGS, Presenter, TextPresenter, Wording
from actors.reminders.quoting import escape_structure, quote
from actors.reminders.registry import (
    INCOMING_MESSAGE,
    LEGACY_SYNTHETIC,
    REAL_USER,
    REGISTRY,
    Channel,
    Durability,
    Lifecycle,
    ReminderSource,
    reminder_source,
)
from actors.reminders.wrapping import escape, wrap

__all__ = [
    "INCOMING_MESSAGE",
    "LEGACY_SYNTHETIC",
    "REAL_USER",
    "REGISTRY",
    "WORDINGS",
    "Channel",
    "Durability",
    "Lifecycle",
    "ModeReminder",
    "Presenter",
    "ReminderSource",
    "TextPresenter",
    "TodoCadence",
    "Wording",
    "escape",
    "escape_structure",
    "quote",
    "reminder_source",
    "runtime_mode_due",
    "todo_reminder_due",
    "wrap",
]
