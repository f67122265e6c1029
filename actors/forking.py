"""The beginning of another log: a copy of what an agent's history holds up to the end of a turn."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from actors.errors import BadInput
from actors.goals import tells_goal
from actors.history import Entry, EntryId, MessageEntry, ReminderEntry
from actors.ports import Ids
from actors.records import (
    EntriesAppended,
    GoalChanged,
    GoalMove,
    ModeChanged,
    Record,
    SnapshotTaken,
    TurnEnded,
    TurnId,
    TurnStarted,
    TurnStop,
)
from actors.reminders.registry import Durability, reminder_source
from actors.state import AgentFold, TurnMark
from providers.model import Usage

_NOTICE = (
    "Up to here this conversation is a copy of one of {name}'s, which may have gone on since. Nothing that "
    "happens there is seen here. Agents and tasks that were started before this point belong to that "
    "conversation and report there; files are shared, and may have changed."
)


@dataclass(frozen=True, slots=True)
class Copied:
    """What a fork begins with, behind its `AgentOpened`: a copy up to the end of the turn `after`."""

    after: TurnId
    records: tuple[Record, ...]


def copied(fold: AgentFold, after: TurnId | None, ids: Ids, at: float) -> Copied:
    """Copies a history up to a finished turn, by default the last one, and adds the notice.

    Entries and turns get fresh ids. The ids of calls stay, or thinking and the
    provider's cache would be lost. Reminders that belong to a process stay
    behind, and so does what was spent.

    Raises:
        BadInput: there is no such turn, or it has not ended.
    """
    last = _last(fold, after)
    marks = fold.turns[: last + 1]
    ends = [mark.first_entry for mark in fold.turns[1 : last + 1]]
    ends.append(fold.turns[last + 1].first_entry if last + 1 < len(fold.turns) else len(fold.history))
    records: list[Record] = []
    if fold.snapshot is not None:
        records.append(SnapshotTaken(fold.snapshot, at))
    if fold.mode is not None:
        records.append(ModeChanged(fold.mode, at))
    if fold.goal is not None and any(map(tells_goal, fold.history[: ends[-1]])):
        move = GoalMove.PAUSED if fold.goal.is_paused else GoalMove.SET
        records.append(GoalChanged(move, fold.goal.text, at))
    _append(records, fold.history[: marks[0].first_entry], ids)
    for mark, end in zip(marks, ends, strict=True):
        turn_id = TurnId(ids.new("turn"))
        records.append(TurnStarted(turn_id, mark.model, mark.at))
        _append(records, fold.history[mark.first_entry : end], ids)
        records.append(_ended(mark, turn_id))
    name = "another agent" if fold.opened is None else fold.opened.name
    notice = ReminderEntry(EntryId(ids.new("ent")), "conversation_fork", _NOTICE.format(name=name), at=at)
    records.append(EntriesAppended((notice,)))
    return Copied(marks[-1].turn_id, tuple(records))


def _last(fold: AgentFold, after: TurnId | None) -> int:
    if after is None:
        finished = [n for n, mark in enumerate(fold.turns) if mark.ended is not None]
        if not finished:
            raise BadInput("there is no finished turn yet; a fork copies up to the end of one")
        return finished[-1]
    found = [n for n, mark in enumerate(fold.turns) if mark.turn_id == after]
    if not found:
        raise BadInput(f"the history holds no turn {after}; it has {len(fold.turns)} turns")
    if fold.turns[found[0]].ended is None:
        raise BadInput(f"turn {after} has not ended; a fork copies up to the end of a turn")
    return found[0]


def _append(records: list[Record], entries: Iterable[Entry], ids: Ids) -> None:
    kept = tuple(_copy(entry, EntryId(ids.new("ent"))) for entry in entries if _goes_along(entry))
    if kept:
        records.append(EntriesAppended(kept))


def _goes_along(entry: Entry) -> bool:
    return (
        isinstance(entry, MessageEntry)
        or reminder_source(entry.source).durability is not Durability.PROCESS_LOCAL
    )


def _copy(entry: Entry, entry_id: EntryId) -> Entry:
    """The envelope was delivered to the other agent, not to this one."""
    return replace(entry, id=entry_id, envelope_id=None)


def _ended(mark: TurnMark, turn_id: TurnId) -> TurnEnded:
    if mark.ended is None:
        return TurnEnded(turn_id, TurnStop.LOST, "", Usage(), None, 0, "its end is not known", at=mark.at)
    return replace(mark.ended, turn_id=turn_id, usage=Usage(), cost_usd=None)
