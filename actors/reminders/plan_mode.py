"""What an agent is told about plan mode, and when. The wording is ours; when, is the reminders spec's."""

from collections.abc import Mapping, Sequence

from actors.history import Entry
from actors.reminders.cadence import RUNTIME_MODE, ModeReminder, runtime_mode_due

PLAN_MODE_EXIT = "plan_mode_exit"

_FULL = """\
Plan mode is on. You may read and search and talk to other agents; nothing that changes files, runs \
commands or has other effects will be carried out, whatever asks for it. Work in four phases:
1. Understand: read what the task touches until you can say how it works today.
2. Design: weigh the ways to do it, choose one, and know why.
3. Check: go through your plan against the code once more; look for what it would break.
4. Present: give the plan as your answer: what changes where, in which order, how it will be tested, \
what stays open. Then stop and wait for the user."""
_SPARSE = "Plan mode is still on: read, search and plan; change nothing; end with the plan as your answer."
_EXIT = "Plan mode is off: you may work with all your tools again, within the permissions that hold."


def plan_mode_reminder(
    history: Sequence[Entry], newest_of: Mapping[str, int], *, is_plan_mode: bool
) -> tuple[str, str] | None:
    """The reminder that the next request needs, as source and body.

    `newest_of` tells where in the history the newest entry of a source stands.
    """
    if not is_plan_mode:
        was_told_last = newest_of.get(RUNTIME_MODE, -1) > newest_of.get(PLAN_MODE_EXIT, -1)
        return (PLAN_MODE_EXIT, _EXIT) if was_told_last else None
    match runtime_mode_due(history, is_plan_mode=True):
        case ModeReminder.FULL:
            return RUNTIME_MODE, _FULL
        case ModeReminder.SPARSE:
            return RUNTIME_MODE, _SPARSE
        case ModeReminder.NONE:
            return None
