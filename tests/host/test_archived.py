"""Hosts and sessions that were archived or deleted."""

import pytest

from actors.agent import Agent
from actors.tools import tool
from actors.tools.result import read_artifact_tool
from host.errors import SessionBusy, UnknownSession
from host.store.memory import MemoryStore
from providers.scripted import ScriptedProvider, call
from tests.host.hosts import scripted_host

LONG = "word " * 20_000


@tool
async def read_all() -> str:
    """A text that is too long for a history."""
    return LONG


async def test_going_on_with_an_archived_session_takes_it_out_of_the_archive() -> None:
    store = MemoryStore()
    async with scripted_host(ScriptedProvider(["One."]), store=store) as host:
        session = await host.start(Agent("main"))
        await session.ask("Next.")
    async with store:
        await store.archive(session.id)
    async with scripted_host(ScriptedProvider(["Two."]), store=store) as host:
        (row,) = await host.sessions()
        assert row.archived_at is not None
        resumed = await host.resume(session.id)
        assert await resumed.ask("Next.") == "Two."
        (row,) = await host.sessions()
        assert row.archived_at is None


async def test_a_session_that_lives_in_a_host_is_not_deleted_and_one_that_is_deleted_not_resumed() -> None:
    store = MemoryStore()
    async with scripted_host(ScriptedProvider(["One."]), store=store) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(SessionBusy):
            await store.delete(session.id)
        assert await session.ask("Next.") == "One."
    async with scripted_host(ScriptedProvider([]), store=store) as host:
        await store.delete(session.id)
        assert await host.sessions() == ()
        with pytest.raises(UnknownSession):
            await host.resume(session.id)


async def test_a_long_result_stays_as_long_as_its_session_and_goes_with_it() -> None:
    store = MemoryStore()
    provider = ScriptedProvider([[call("read_all", {})], "Read."])
    async with scripted_host(provider, store=store) as host:
        session = await host.start(Agent("main", tools=[read_all, read_artifact_tool()]))
        await session.ask("Read it.")
    async with store:
        assert (await store.collect(-1)).n_artifacts == 0
        (size,) = (await store.sizes()).sessions
        assert size.artifact_bytes == len(LONG)
        removed = await store.delete(session.id)
        assert (removed.n_artifacts, removed.artifact_bytes) == (1, len(LONG))
        assert (await store.sizes()).n_artifacts == 0
