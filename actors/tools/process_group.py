"""Whether anything of a process group still runs."""

import os
from pathlib import Path

_PROC = Path("/proc")


def is_group_alive(group_id: int) -> bool:
    """Whether a process of the group runs that we could signal.

    Orphans that have ended can wait long for a parent to take note of them
    (in a container without an init, for ever); they do not count, where
    `/proc` tells them apart.
    """
    try:
        os.killpg(group_id, 0)
    except (ProcessLookupError, PermissionError):
        return False
    states = _states(group_id)
    return states is None or bool(states - {"Z", "X"})


def _states(group_id: int) -> set[str] | None:
    """The states of the group's processes; None where the system does not tell."""
    if not (_PROC / "self" / "stat").exists():
        return None
    states: set[str] = set()
    for name in os.listdir(_PROC):
        if name.isdigit() and (found := _state_and_group(name)) is not None and found[1] == group_id:
            states.add(found[0])
    return states


def _state_and_group(process_id: str) -> tuple[str, int] | None:
    try:
        text = (_PROC / process_id / "stat").read_text("utf-8", "replace")
    except OSError:  # it ended while we looked
        return None
    # The name before the last ")" is the process's own and may hold anything.
    state, _, group_id = text.rpartition(")")[2].split()[:3]
    return state, int(group_id)
