"""The turns of a session in short: who began each with what, how it ended, which files it changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actors.address import AgentId
from actors.history import Entry, MessageEntry, Origin
from actors.records import FileChanging, Record, TurnId, TurnStarted, TurnStop
from actors.state import folded
from host.recovery import turn_that_started
from host.store.ports import Store
from providers.model import Role, text_of


@dataclass(frozen=True, slots=True)
class TurnOutline:
    """One turn that the history holds.

    `at` is when it began, in seconds since the epoch. `stop` None: it has not
    ended. `text` is what it began with, of a user or, if not `is_from_user`,
    of an agent or the host. `paths` are those that it, and the agents that it
    started, changed with Write and Edit.
    """

    turn_id: TurnId
    at: float
    stop: TurnStop | None
    text: str
    is_from_user: bool
    paths: tuple[str, ...]


async def outline(store: Store, root_id: AgentId) -> tuple[TurnOutline, ...]:
    """The turns of a session, oldest first; reads only.

    Raises:
        UnknownSession, StoreDamaged: there is no such session, or it cannot be read.
    """
    own = (await store.load(root_id)).plain
    children: dict[AgentId, Sequence[Record]] = {}
    parents: dict[AgentId, AgentId] = {}
    for row in await store.agents(root_id):
        if row.parent_id is not None:
            children[row.agent_id] = (await store.load(row.agent_id)).plain
            parents[row.agent_id] = row.parent_id
    return outlined(own, children, parents)


def outlined(
    own: Sequence[Record],
    children: Mapping[AgentId, Sequence[Record]],
    parents: Mapping[AgentId, AgentId],
) -> tuple[TurnOutline, ...]:
    """The turns of a log; `children` are the logs of all agents below, each behind that of its parent."""
    fold = folded(own)
    paths = _traces(own)
    turn_of: dict[AgentId, TurnId] = {}
    for agent_id, log in children.items():
        is_below = parents[agent_id] in children
        turn_id = turn_of.get(parents[agent_id]) if is_below else turn_that_started(log)
        if turn_id is not None:
            turn_of[agent_id] = turn_id
            paths.setdefault(turn_id, {}).update(_paths(log))
    outlines = []
    for place, mark in enumerate(fold.turns):
        end = fold.turns[place + 1].first_entry if place + 1 < len(fold.turns) else None
        text, is_from_user = _beginning(fold.history[mark.first_entry : end])
        stop = None if mark.ended is None else mark.ended.stop
        changed = tuple(paths.get(mark.turn_id, {}))
        outlines.append(TurnOutline(mark.turn_id, mark.at, stop, text, is_from_user, changed))
    return tuple(outlines)


def _traces(own: Sequence[Record]) -> dict[TurnId, dict[str, None]]:
    """The paths that each turn changed itself."""
    paths: dict[TurnId, dict[str, None]] = {}
    turn_id: TurnId | None = None
    for record in own:
        match record:
            case TurnStarted():
                turn_id = record.turn_id
            case FileChanging() if turn_id is not None:
                paths.setdefault(turn_id, {})[record.path] = None
            case _:
                pass
    return paths


def _paths(log: Sequence[Record]) -> dict[str, None]:
    return {record.path: None for record in log if isinstance(record, FileChanging)}


def _beginning(entries: Sequence[Entry]) -> tuple[str, bool]:
    """What was said first in a turn, and whether a user said it."""
    inputs = [e for e in entries if isinstance(e, MessageEntry) and e.message.role is Role.USER]
    ours = [entry for entry in inputs if entry.origin is Origin.USER]
    first = next(iter(ours or inputs), None)
    return ("", False) if first is None else (text_of(first.message.content), bool(ours))
