"""Made the stores of version 1 that the tests of migrations open.

It needs a program that writes version 1, such as the one of commit 48d17b6:

    python -m tests.host.store.data.make_version_1

`version-1-killed.db` and its `-wal` are what a kill left in the middle of a
turn, `version-1.db` is the same store after the session was resumed and ended.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import anyio

from actors.address import AgentId
from actors.agent import Agent
from actors.tools import builtin_tools, tool
from host.ids import CountingIds
from host.store.schema import MIGRATIONS
from host.store.sqlite import SqliteStore
from providers.scripted import ScriptedProvider, always, call, otherwise, routes, say
from tests.host.hosts import scripted_host

FOLDER = Path(__file__).parent
KILLED = FOLDER / "version-1-killed.db"
CLOSED = FOLDER / "version-1.db"
CHIEF, LONELY = AgentId("sess_1"), "lonely"


@tool
async def read_all(what: str) -> str:
    """Reads more than a history takes."""
    return "\n".join(f"line {number} of {what}, of two thousand" for number in range(1000))


@tool
async def change(what: str) -> str:
    """Changes something, and never comes to an end."""
    await anyio.sleep_forever()
    return what


TOOLS = [read_all, change, *(builtin_tools()[name] for name in ("Agent", "ReadArtifact"))]
CHILD = call("Agent", {"description": "doors", "prompt": "count the doors"})


async def write_and_die() -> None:
    provider = ScriptedProvider(
        routes(
            ("count the doors", ["Seven doors."]),
            ("Who is there?", ["Nobody."]),
            (
                otherwise,
                [
                    [say("I will look."), call("read_all", {"what": "the house"}), CHILD],
                    "Seven doors, and much to read.",
                    [say("Now for good."), call("change", {"what": "the doors"})],
                ],
            ),
        )
    )
    store = SqliteStore(KILLED, now_s=lambda: 1_800_000_000.0)
    async with scripted_host(provider, store=store, ids=CountingIds()) as host:
        chief = await host.start(Agent("chief", tools=TOOLS))
        await chief.ask("How many doors are there?")
        lonely = await host.start(Agent(LONELY))
        await lonely.ask("Who is there?")
        await store.flush()
        with closing(sqlite3.connect(KILLED)) as connection:  # or the log beside the file would be long
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        await chief.post("Change them — all of them.")
        await anyio.sleep(0.5)
        await store.flush()
        os._exit(0)


async def go_on() -> None:
    provider = ScriptedProvider(always("They may be changed; I was cut off."))
    ids = CountingIds()
    for _ in range(1000):  # beyond those that the killed host gave out
        ids.new("x")
    async with scripted_host(
        provider, store=SqliteStore(CLOSED, now_s=lambda: 1_800_000_100.0), ids=ids
    ) as host:
        chief = await host.resume(CHIEF, tools=TOOLS)
        await chief.ask("And now?")


def main() -> None:
    assert len(MIGRATIONS) == 1, "this program writes a newer version"
    child = os.fork()
    if child == 0:
        try:
            anyio.run(write_and_die)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    shutil.rmtree(f"{KILLED}-leases")
    Path(f"{KILLED}-shm").unlink()
    shutil.copy(KILLED, CLOSED)
    shutil.copy(f"{KILLED}-wal", f"{CLOSED}-wal")
    anyio.run(go_on)
    shutil.rmtree(f"{CLOSED}-leases", ignore_errors=True)


if __name__ == "__main__":
    main()
