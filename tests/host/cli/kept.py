"""Sessions in a store at home, for tests of what people do with them."""

import sqlite3
import time
from collections.abc import Awaitable, Callable

import anyio

from actors.address import AgentId
from actors.records import Record
from host.store import SqliteStore
from tests.host.cli.commands import Call, in_store
from tests.host.cli.processes import Home, events_of
from tests.host.store.samples import opened, said

DAY_S = 86_400.0
OLD, NEW = AgentId("sess_old"), AgentId("sess_new")
SECRET = "correct-horse-battery-staple"


def put(home: Home, agent_id: AgentId, *records: Record, days_ago: float = 0, data: bytes = b"") -> None:
    """A session that was written so long ago, with a large text if there are data."""

    async def write() -> None:
        at_s = time.time() - days_ago * DAY_S
        async with SqliteStore(home.store, now_s=lambda: at_s) as store, await store.lease(agent_id):
            more = said(await store.put_artifact(data)) if data else ()
            await store.create(opened(agent_id), *records, *more)

    anyio.run(write)


def at_work(home: Home, agent_id: AgentId, meanwhile: Callable[[], Awaitable[object]]) -> None:
    """Does something while the session is being written."""

    async def work(store: SqliteStore) -> None:
        async with await store.lease(agent_id):
            await meanwhile()

    in_store(home, work)


def ids(call: Call, *arguments: str) -> list[str]:
    return [str(row["id"]) for row in events_of(call("sessions", "--json", *arguments).stdout)]


def bytes_of(home: Home) -> bytes:
    return b"".join(file.read_bytes() for file in home.folder.glob("store.db*") if file.is_file())


async def append(store: SqliteStore, agent_id: AgentId) -> None:
    async with await store.lease(agent_id):
        store.writer(agent_id, (await store.load(agent_id)).next_seq).submit(said("on"), lambda _: None)


def rename(home: Home, name: str) -> None:
    """Every session gets this name."""
    with sqlite3.connect(home.store) as connection:
        connection.execute("UPDATE agents SET name = ?", (name,))
    connection.close()
