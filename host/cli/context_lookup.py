"""Finds the log of an agent in the store. Reads only: takes no lease and starts no host."""

from collections.abc import Sequence
from dataclasses import dataclass

from actors.errors import UnknownRecipient
from actors.records import Record
from host.cli.finding import find_session
from host.cli.options import Settings
from host.cli.output import one_line
from host.cli.stores import store_to_read
from host.store.ports import AgentRow

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
        StoreError, ConfigInvalid, BadInput: the store cannot be read, or is no file.
    """
    async with store_to_read(settings) as store:
        rows = await store.agents()
        root = find_session([row for row in rows if row.parent_id is None], session)
        tree = [row for row in rows if row.root_id == root.agent_id]
        wanted = root if agent is None else find_agent(tree, agent)
        log = await store.load(wanted.agent_id)
    return FoundLog(root, wanted, log.plain)


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
