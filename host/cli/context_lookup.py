"""Finds the log of an agent in the store. Reads only: takes no lease and starts no host."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actors.errors import UnknownRecipient
from actors.records import Record
from host.cli.finding import find_session
from host.cli.options import Settings
from host.cli.output import one_line, visible
from host.config import IN_MEMORY, Config, load_config
from host.errors import StoreUnavailable
from host.store.memory import MemoryStore
from host.store.ports import AgentRow, Store
from host.store.sqlite import SqliteStore

_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class FoundLog:
    """The records of one agent of a session, as far as they are stored now."""

    session: AgentRow
    agent: AgentRow
    records: tuple[Record, ...]


async def look_up(settings: Settings, session: str, agent: str | None) -> FoundLog:
    """The log of an agent of a session: the main one where none is named.

    Raises:
        UnknownSession: none or several sessions are meant.
        UnknownRecipient: the session has no such agent; says which it has.
        StoreError, ConfigInvalid: the store cannot be read.
    """
    config = load_config(Path.cwd(), os.environ, settings.arguments())
    async with _store(config) as store:
        rows = await store.agents()
        root = find_session([row for row in rows if row.parent_id is None], session)
        tree = [row for row in rows if row.root_id == root.agent_id]
        wanted = root if agent is None else find_agent(tree, agent)
        log = await store.load(wanted.agent_id)
    return FoundLog(root, wanted, tuple(stored.record for stored in log.records))


def _store(config: Config) -> Store:
    if config.store == IN_MEMORY:
        return MemoryStore()
    path = Path(config.store)
    if not path.exists():
        raise StoreUnavailable(f"there is no store {visible(str(path))}")
    return SqliteStore(path, read_only=True)


def find_agent(tree: Sequence[AgentRow], wanted: str) -> AgentRow:
    """An agent of a session by its id or name; of several with a name the newest.

    Raises:
        UnknownRecipient: there is none; says which there are.
    """
    found = [row for row in tree if wanted in (row.agent_id, row.name)]
    if found:
        return found[-1]
    names = ", ".join(dict.fromkeys(row.name for row in tree))
    raise UnknownRecipient(
        f"--agent: the session has no agent {one_line(wanted, _NAME_CHARACTERS)!r}; there are: {names}"
    )
