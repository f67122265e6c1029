"""What a later host finds of an earlier one."""

import anyio
import pytest

from actors.agent import Agent
from actors.errors import ActorStopped
from actors.history import MessageEntry
from actors.ports import SpawnOrder
from actors.records import AgentState, PrefixBuilt, RequestMade
from actors.state import AgentFold
from actors.tools import tool
from host.errors import SessionBusy, UnknownSession
from host.ids import CountingIds
from host.session import Session
from host.store.memory import MemoryStore
from providers.model import text_of
from providers.scripted import ScriptedProvider, always, call, otherwise, routes, say, wait
from tests.host.hosts import scripted_host


@tool
async def change(what: str) -> str:
    """Changes something, which takes ten seconds."""
    await anyio.sleep(10)
    return f"changed {what}"


async def test_a_resumed_session_remembers_and_sends_what_the_live_one_would_have() -> None:
    live = ScriptedProvider(["One.", "Two.", "Three."])
    async with scripted_host(live) as host:
        session = await host.start(Agent("main", instructions="Count."))
        for _ in range(3):
            await session.ask("Next.")

    store = MemoryStore()
    first = ScriptedProvider(["One.", "Two."])
    async with scripted_host(first, store=store) as host:
        session = await host.start(Agent("main", instructions="Count."))
        for _ in range(2):
            await session.ask("Next.")
        session_id = session.id
    second = ScriptedProvider(["Three."])
    async with scripted_host(second, store=store) as host:
        session = await host.resume(session_id)
        assert await session.ask("Next.") == "Three."
    assert second.requests[0].messages == live.requests[2].messages


async def test_folding_the_log_gives_the_live_state() -> None:
    store = MemoryStore()
    provider = ScriptedProvider([[call("change", {"what": "x"})], "Done.", "Again."])
    async with scripted_host(provider, store=store) as host:
        session = await host.start(Agent("main", tools=[change]))
        await session.ask("Go.")
        await session.ask("Go on.")
        fold = AgentFold()
        for stored in (await store.load(session.id)).records:
            fold.apply(stored.record)
        assert fold == session.fold


async def test_messages_that_nobody_took_are_still_there_after_a_restart() -> None:
    store = MemoryStore()
    async with scripted_host(ScriptedProvider(always([wait(60), say("One.")])), store=store) as host:
        session = await host.start(Agent("main"))
        first = await session.post("First.")
        second = await session.post("Second.")
        await first.taken()
        await second.accepted()
        session_id = session.id
    with pytest.raises(ActorStopped, match="is queued, not answered"):
        await second.answered()
    provider = ScriptedProvider(["To the second."])
    async with scripted_host(provider, store=store) as host:
        session = await host.resume(session_id)
        await anyio.sleep(1)
        assert session.fold.last_turn is not None
        assert session.fold.last_turn.text == "To the second."
        said = [text_of(e.message.content) for e in session.history if isinstance(e, MessageEntry)]
        assert said == ["First.", "Second.", "To the second."]


async def test_one_session_has_one_writer() -> None:
    store = MemoryStore()
    async with scripted_host(ScriptedProvider([]), store=store) as host:
        session = await host.start(Agent("main"))
        async with scripted_host(ScriptedProvider([]), store=store) as other:
            with pytest.raises(SessionBusy):
                await other.resume(session.id)
        with pytest.raises(UnknownSession):
            await host.resume("sess_nobody")


async def test_a_tree_comes_back_with_its_children() -> None:
    store = MemoryStore()
    provider = ScriptedProvider(routes(("count the doors", ["Seven."]), (otherwise, ["Fine."])))
    async with scripted_host(provider, store=store) as host:
        chief = await host.start(Agent("chief"))
        await host.spawn(chief, SpawnOrder("doors", "count the doors", name="counter"))
        session_id = chief.id
    again = ScriptedProvider(
        routes(("count the doors", ["Eight with the cellar."]), (otherwise, ["Thank you."]))
    )
    async with scripted_host(again, store=store) as host:
        chief = await host.resume(session_id)
        counter = host.find("counter")
        assert counter.state is AgentState.COMPLETED
        await host.send(chief, "counter", "And the cellar?")
        await anyio.sleep(5)
        assert counter.fold.last_turn is not None
        assert counter.fold.last_turn.text == "Eight with the cellar."
        assert chief.fold.last_turn is not None
        assert chief.fold.last_turn.text == "Thank you."


async def test_the_log_holds_every_request_and_the_prefix_only_where_it_changed() -> None:
    store, ids = MemoryStore(), CountingIds()
    agent = Agent("main", instructions="Count.", tools=[change])
    async with scripted_host(ScriptedProvider(always("One.")), store=store, ids=ids) as host:
        session = await host.start(agent)
        for _ in range(2):
            await session.ask("Next.")
        session_id = session.id
    async with scripted_host(ScriptedProvider(always("Two.")), store=store, ids=ids) as host:
        session = await host.resume(session_id, tools=[change])
        await session.ask("Next.")
        assert await _n_prefixes_and_requests(store, session) == (1, 3)
    async with scripted_host(ScriptedProvider(always("Three.")), store=store, ids=ids) as host:
        session = await host.resume(session_id, agent=Agent("main", instructions="Count down."))
        await session.ask("Next.")
        assert await _n_prefixes_and_requests(store, session) == (2, 4)


async def _n_prefixes_and_requests(store: MemoryStore, session: Session) -> tuple[int, int]:
    kinds = [type(stored.record) for stored in (await store.load(session.id)).records]
    return kinds.count(PrefixBuilt), kinds.count(RequestMade)
