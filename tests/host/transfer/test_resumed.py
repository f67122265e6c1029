"""An imported session goes on: what its next request holds."""

import io

import anyio

from actors.agent import Agent
from actors.ports import SpawnOrder
from actors.tools import tool
from host.ids import CountingIds
from host.store.memory import MemoryStore
from host.transfer import export_session, import_session
from providers.scripted import ScriptedProvider, call, otherwise, routes
from tests.host.hosts import scripted_host


@tool
async def read_page(path: str) -> str:
    """Reads a page, which takes ten seconds."""
    await anyio.sleep(10)
    return f"the text of {path}"


AGENT = Agent("main", instructions="Answer.", tools=[read_page])
SAME_CALL = [call("read_page", {"path": "a"})]


async def worked(store: MemoryStore) -> str:
    """A session that made one call three times, which its history reminds it of."""
    provider = ScriptedProvider([SAME_CALL, SAME_CALL, SAME_CALL, "Here it is."])
    async with scripted_host(provider, store=store) as host:
        session = await host.start(AGENT)
        await session.ask("Read page a.")
        assert "model_anomaly" in [entry.source for entry in session.history]
        return session.id


async def moved(store: MemoryStore, session_id: str, *, is_exact: bool) -> MemoryStore:
    """Another store with the session."""
    other = MemoryStore()
    async with store, other:
        row = (await store.agents())[0]
        assert row.agent_id == session_id
        lines = export_session(store, row.agent_id, exported_at=5.0, program="0", is_exact=is_exact)
        await import_session(other, io.BytesIO(b"".join([line async for line in lines])))
    return other


async def next_request(store: MemoryStore, session_id: str) -> list[str]:
    """What a host sends for the next question, message by message."""
    provider = ScriptedProvider(["And that."])
    async with scripted_host(provider, store=store, ids=CountingIds()) as host:
        session = await host.resume(session_id, tools=[read_page])
        assert await session.ask("And then?") == "And that."
    return [repr(message) for message in provider.requests[0].messages]


async def test_an_exact_copy_sends_what_the_original_would_have() -> None:
    store = MemoryStore()
    session_id = await worked(store)
    copy = await moved(store, session_id, is_exact=True)
    assert await next_request(copy, session_id) == await next_request(store, session_id)


async def test_without_what_belongs_to_the_process_all_else_is_sent() -> None:
    store = MemoryStore()
    session_id = await worked(store)
    copy = await moved(store, session_id, is_exact=False)
    sent, original = await next_request(copy, session_id), await next_request(store, session_id)
    (left_out,) = (message for message in original if message not in sent)
    assert "read_page was called 3 times in a row" in left_out
    assert sent == [message for message in original if message != left_out]


async def test_a_subagent_comes_along_and_goes_on_where_it_was() -> None:
    store = MemoryStore()
    first = ScriptedProvider(routes(("count the doors", ["Seven."]), (otherwise, ["Thank you."])))
    async with scripted_host(first, store=store) as host:
        chief = await host.start(Agent("main"))
        await host.spawn(chief, SpawnOrder("doors", "count the doors", name="counter"))
        session_id = chief.id
    copy = await moved(store, session_id, is_exact=False)
    again = ScriptedProvider(routes(("count the doors", ["Eight."]), (otherwise, ["Thank you."])))
    async with scripted_host(again, store=copy) as host:
        chief = await host.resume(session_id)
        counter = host.find("counter")
        await host.send(chief, "counter", "And the cellar?")
        await anyio.sleep(5)
        assert counter.fold.last_turn is not None
        assert counter.fold.last_turn.text == "Eight."
