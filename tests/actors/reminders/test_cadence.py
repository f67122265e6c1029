"""When a reminder is due again; the recorded histories are in the vectors."""

import pytest

from actors.history import Entry
from actors.reminders import ModeReminder, runtime_mode_due
from providers.model import Role
from tests.actors.projection.entries import reminder, said


@pytest.mark.parametrize(
    ("role", "due"), [(Role.USER, ModeReminder.SPARSE), (Role.ASSISTANT, ModeReminder.NONE)]
)
def test_only_messages_of_the_user_bring_the_next_reminder_near(role: Role, due: ModeReminder) -> None:
    entries: tuple[Entry, ...] = (
        reminder("runtime_mode", "m"),
        *(said(role, "u", source="real_user") for _ in range(5)),
    )
    assert runtime_mode_due(entries, is_plan_mode=True) == due
