"""What a session works towards over many turns, and how the model is told of it."""

from typing import assert_never

from actors.history import Entry, EntryId, ReminderEntry
from actors.records import GoalChanged, GoalMove
from actors.state import Goal

CHANGE_SOURCE = "goal_state_change"
RESUME_SOURCE = "resume_goal_state"
_WORK = "Keep working towards it, and say so when it is reached."
_NONE = "This session has no goal. Whatever was said of one counts no more."
_LEAVE = "It is paused: leave it until the user resumes it."


def change_reminder(change: GoalChanged, entry_id: EntryId) -> ReminderEntry:
    """Tells the model that a person set, paused, resumed or cleared the goal."""
    return ReminderEntry(entry_id, CHANGE_SOURCE, _text(change), at=change.at)


def resume_reminder(goal: Goal | None, entry_id: EntryId, at: float) -> ReminderEntry:
    """Tells the model of a resumed or rewound session which goal there is."""
    if goal is None:
        return ReminderEntry(entry_id, RESUME_SOURCE, _NONE, at=at)
    body = f"This session has a goal that the user set:\n{goal.text}\n{_LEAVE if goal.is_paused else _WORK}"
    return ReminderEntry(entry_id, RESUME_SOURCE, body, at=at)


def tells_goal(entry: Entry) -> bool:
    """Whether this is a reminder about the goal."""
    return entry.source in (CHANGE_SOURCE, RESUME_SOURCE)


def _text(change: GoalChanged) -> str:
    match change.move:
        case GoalMove.SET:
            return f"The user has set a goal for this session:\n{change.text}\n{_WORK}"
        case GoalMove.RESUMED:
            return f"The user has resumed the goal of this session:\n{change.text}\n{_WORK}"
        case GoalMove.PAUSED:
            return f"The user has paused the goal of this session:\n{change.text}\n{_LEAVE}"
        case GoalMove.CLEARED:
            return f"The user has taken back the goal of this session:\n{change.text}\nIt counts no more."
        case _:
            assert_never(change.move)
