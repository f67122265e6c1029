"""Takes a conversation back to what it was before a turn: history, tasks, files."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import anyio

from actors.address import Address, AgentId
from actors.errors import BadInput
from actors.goals import resume_reminder, tells_goal
from actors.history import Entry, EntryId, MessageEntry, Origin, ReminderEntry
from actors.ports import Artifacts
from actors.records import (
    EntriesAppended,
    FileChanging,
    FileRestored,
    Record,
    Rewound,
    TurnId,
    TurnStarted,
)
from actors.state import REWIND_SOURCE, AgentFold, folded
from host.crew import Crew
from host.living import Living
from host.recovery import turn_that_started
from host.store.ports import AgentRow, Store
from host.workspace import RestorePlan, carry_out, merged, plan_restore
from providers.model import text_of

_BACK = (
    "The user took the conversation back to this point. What was said and done after it is gone from view."
)
_PUT_BACK = "Files that were changed there with Write and Edit are again as they were before."
_LEFT = "Files were left as they are now, so that they may show traces of it."
_UNTOUCHED = "No files had been changed there with Write and Edit."
_COMMANDS = "What commands did was not undone. Read a file again before you rely on it."


@dataclass(frozen=True, slots=True)
class RewindReport:
    """What a rewind did.

    `turns` are out of the history now; `text` is what the user had written at
    the beginning of the first of them, if a user had. `stopped` are agents that
    these turns had started, `files` those put back, `left` paths that were
    changed and left as they are.
    """

    turns: tuple[TurnId, ...]
    text: str | None
    stopped: tuple[Address, ...]
    files: tuple[FileRestored, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RewindPreview:
    """What a rewind would do, as things stand: `agents` are those that these turns had started.

    `text` as in a report.
    """

    turns: tuple[TurnId, ...]
    text: str | None
    agents: tuple[Address, ...]
    files: RestorePlan


async def preview(
    store: Store, artifacts: Artifacts, root_id: AgentId, before: TurnId | None
) -> RewindPreview:
    """What a rewind of this session would do; reads only, so it needs neither host nor lease.

    Raises:
        BadInput: there is no such turn, or none at all.
        UnknownSession, StoreDamaged: there is no such session, or it cannot be read.
    """
    fold = folded((await store.load(root_id)).plain)
    first = _first(fold, before)
    turns = tuple(mark.turn_id for mark in fold.turns[first:])
    entries = fold.history[fold.turns[first].first_entry :]
    begun = await _begun(store, root_id, turns[0])
    agents = _started_in(turns, begun.children)
    return RewindPreview(turns, _text(entries), agents, await plan_restore(begun.changes(), artifacts))


async def changes_since(store: Store, root_id: AgentId, since: TurnId) -> tuple[FileChanging, ...]:
    """Every change of a file since the turn began, by the session's agent and those whom it started since.

    In the order in which they happened.
    """
    return (await _begun(store, root_id, since)).changes()


async def rewind(
    crew: Crew,
    artifacts: Artifacts,
    living: Living,
    before: TurnId | None,
    *,
    restores_files: bool,
    overwrites: bool,
) -> RewindReport:
    """See `Session.rewind`.

    Killed in the middle it can be done again: the files are put back first, and
    the cut is one commit behind them.
    """
    actor = living.actor
    if actor.is_inside:
        raise BadInput(
            f"{living.name} cannot be taken back from inside its own turn, which would wait for itself"
        )
    if living.parent_id is not None:
        raise BadInput(f"{living.name} is a subagent; take back the session that it belongs to")
    async with actor.at_rest():
        ledger = actor.parts.ledger
        await ledger.settled()
        first = _first(ledger.fold, before)
        turns = tuple(mark.turn_id for mark in ledger.fold.turns[first:])
        entries = tuple(ledger.fold.history[ledger.fold.turns[first].first_entry :])
        plan = await plan_restore(await changes_since(crew.store, living.root_id, turns[0]), artifacts)
        if restores_files:
            plan.check(overwrites)  # before anything is stopped
        stopped = await _stop(crew, living, turns)
        if stopped:  # they may have gone on changing files until then
            plan = await plan_restore(await changes_since(crew.store, living.root_id, turns[0]), artifacts)
        files: tuple[FileRestored, ...] = ()
        if restores_files:
            files = await carry_out(plan, artifacts, overwrite=overwrites)
        left = () if restores_files else plan.changed_paths
        now_s, ids = crew.services.clock.now_s(), crew.services.ids
        reminders: list[Entry] = [_notice(EntryId(ids.new("ent")), now_s, files, left)]
        if any(map(tells_goal, entries)):
            reminders.append(resume_reminder(ledger.fold.goal, EntryId(ids.new("ent")), now_s))
        with anyio.CancelScope(shield=True):  # once handed to the store the cut counts, whoever is cancelled
            await ledger.commit(Rewound(turns[0], files, now_s), EntriesAppended(tuple(reminders)))
            actor.parts.files_read.clear()
            for child in stopped:  # nothing more is told of them; had the cut failed, their ends would be
                actor.mailbox.forget_task(child.id)
                crew.directory.remove(child)
    return RewindReport(turns, _text(entries), tuple(child.name for child in stopped), files, left)


def _notice(
    entry_id: EntryId, now_s: float, files: Sequence[FileRestored], left: Sequence[str]
) -> ReminderEntry:
    about_files = _PUT_BACK if files else _LEFT if left else _UNTOUCHED
    return ReminderEntry(entry_id, REWIND_SOURCE, f"{_BACK} {about_files} {_COMMANDS}", at=now_s)


def _first(fold: AgentFold, before: TurnId | None) -> int:
    if not fold.turns:
        raise BadInput("there is no turn that could be taken back")
    if before is None:
        return len(fold.turns) - 1
    found = [n for n, mark in enumerate(fold.turns) if mark.turn_id == before]
    if not found:
        raise BadInput(f"the history holds no turn {before}; it has {len(fold.turns)} turns")
    return found[0]


async def _stop(crew: Crew, living: Living, turns: Collection[TurnId]) -> tuple[Living, ...]:
    """Ends the agents that these turns started, and all below them."""
    tops = [
        child
        for child in crew.directory.tree(living.root_id)
        if child.parent_id == living.id and child.turn_id in turns
    ]
    below = crew.directory.below(tops)
    if tops:
        await crew.stop(*tops, reason="the turn that started it was taken back")
    return below


@dataclass(frozen=True, slots=True)
class _Child:
    """An agent of a session, and the turn that started it."""

    row: AgentRow
    turn_id: TurnId | None


@dataclass(frozen=True, slots=True)
class _Begun:
    """What stands in a session's logs since a turn began: of its agent, and of all that it started since."""

    children: tuple[_Child, ...]
    logs: tuple[tuple[Record, ...], ...]

    def changes(self) -> tuple[FileChanging, ...]:
        return merged([_changes_in(log) for log in self.logs])


async def _begun(store: Store, root_id: AgentId, since: TurnId) -> _Begun:
    records = (await store.load(root_id)).plain
    start = next(n for n, r in enumerate(records) if isinstance(r, TurnStarted) and r.turn_id == since)
    logs = [records[start:]]
    turns = {record.turn_id for record in logs[0] if isinstance(record, TurnStarted)}
    children: dict[AgentId, _Child] = {}
    for row in await store.agents(root_id):  # a parent is older than its children
        if row.parent_id != root_id and row.parent_id not in children:
            continue
        log = (await store.load(row.agent_id)).plain
        turn_id = turn_that_started(log)
        if row.parent_id in children or turn_id in turns:
            children[row.agent_id] = _Child(row, turn_id)
            logs.append(log)
    return _Begun(tuple(children.values()), tuple(logs))


def _started_in(turns: Collection[TurnId], children: Iterable[_Child]) -> tuple[Address, ...]:
    """Those whom these turns of the session's agent started, and all below; not those taken back earlier."""
    found: dict[AgentId, Address] = {}
    for child in children:
        row = child.row
        if row.parent_id in found or (row.parent_id == row.root_id and child.turn_id in turns):
            found[row.agent_id] = Address(row.name)
    return tuple(found.values())


def _changes_in(records: Iterable[Record]) -> tuple[FileChanging, ...]:
    """The changes in a log; what a rewind put back is one as well."""
    changes: list[FileChanging] = []
    for record in records:
        match record:
            case FileChanging():
                changes.append(record)
            case Rewound():
                changes.extend(
                    FileChanging("", file.path, file.replaced, file.restored.sha256, record.at)
                    for file in record.files
                    if file.restored is not None
                )
            case _:
                pass
    return tuple(changes)


def _text(entries: Sequence[Entry]) -> str | None:
    """What the user had written first."""
    for entry in entries:
        if isinstance(entry, MessageEntry) and entry.origin is Origin.USER:
            return text_of(entry.message.content)
    return None
