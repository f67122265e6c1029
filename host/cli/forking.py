"""What `callboard fork` does."""

from collections.abc import Collection

from actors import builtin_tools
from actors.records import AgentRole
from host.cli.amounts import count_text
from host.cli.boundary import ExitCode
from host.cli.finding import find_session
from host.cli.options import Settings
from host.cli.output import put, put_json
from host.cli.stores import naming_the_doctor, store_to_read
from host.cli.turn_list import turn_index
from host.opening import open_host
from host.outline import outline


def unused_name(stem: str, taken: Collection[str]) -> str:
    """`stem-2`, `stem-3`, … whichever is not taken; the stem itself if that is not.

    Hosts only keep the names of living agents apart, but people name sessions of the store by it.
    """
    names = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


async def fork_session(
    session: str, after: str | None, name: str | None, settings: Settings, *, as_json: bool
) -> ExitCode:
    """Makes the fork and says how to go on with it; no turn begins in either.

    Raises:
        BadInput: there is no such turn, or it has not ended; or the name is none.
        UnknownSession, StoreError, LogFailed: it cannot be done.
    """
    with naming_the_doctor():
        async with store_to_read(settings) as store:
            rows = await store.agents()
            source = find_session([row for row in rows if row.role is AgentRole.MAIN], session)
            ids = [turn.turn_id for turn in await outline(store, source.agent_id)]
        turn_id = None if after is None else ids[turn_index(ids, after)]
        async with open_host(arguments=settings.arguments()) as host:
            tools = tuple(builtin_tools().values())
            own_name = name or unused_name(source.name, [row.name for row in rows])
            fork = await host.fork(source.agent_id, after=turn_id, name=own_name, tools=tools)
            opened, n_turns = fork.fold.opened, len(fork.turns)
    copied = None if opened is None or opened.forked_from is None else opened.forked_from.turn_id
    if as_json:
        put_json(
            {
                "session": fork.id,
                "name": fork.name,
                "forked_from": source.agent_id,
                "after": copied,
                "n_turns": n_turns,
            }
        )
    else:
        put(f"{fork.id} ({fork.name}) begins with {count_text(n_turns, 'turn')} of {source.name}\n")
        put(f"`callboard resume {fork.id}` goes on with it\n")
    return ExitCode.DONE
