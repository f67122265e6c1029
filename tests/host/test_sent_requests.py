"""What a log says of its requests is what the provider got."""

from collections.abc import Sequence

import anyio
import pytest

from actors.address import AgentId
from actors.agent import Agent
from actors.errors import UnknownRequest
from actors.ports import SpawnOrder
from actors.records import Record, RequestMade
from actors.sent import SentRequest, sent_request
from actors.tools import tool
from host.ids import CountingIds
from host.store.memory import MemoryStore
from host.store.ports import Store
from providers.errors import StreamBroken
from providers.model import ModelProfile, Request
from providers.scripted import ScriptedProvider, call, fail, otherwise, routes, say, think, wait
from tests.host.hosts import scripted_host
from tests.host.lagging import LaggingStore

_PROFILES = {
    "plain": ModelProfile("plain-model", 200_000, 8_000),
    "marks": ModelProfile("marking-model", 200_000, 8_000, cache_marks=True),
    "midway": ModelProfile("midway-model", 200_000, 8_000, cache_marks=True, mid_conversation_system=True),
}


@tool
async def change(what: str) -> str:
    """Changes something, which takes ten seconds."""
    await anyio.sleep(10)
    return f"changed {what}"


async def records_of(store: Store, agent_id: AgentId) -> tuple[Record, ...]:
    async with store:
        return tuple(stored.record for stored in (await store.load(agent_id)).records)


def requests_of(records: Sequence[Record]) -> list[SentRequest]:
    n_requests = sum(isinstance(record, RequestMade) for record in records)
    return [sent_request(records, number) for number in range(1, n_requests + 1)]


def check_sent(found: Sequence[SentRequest], requests: Sequence[Request]) -> None:
    assert len(found) == len(requests)
    for sent, request in zip(found, requests, strict=True):
        assert sent.projection.messages == request.messages
        assert sent.tools == request.tools
        assert sent.is_same_as_sent
        assert sent.made.n_messages == len(request.messages)


@pytest.mark.parametrize("profile", _PROFILES)
@pytest.mark.parametrize("lag_s", [0.0, 0.3])
async def test_every_request_of_two_hosts_is_told_as_the_provider_got_it(profile: str, lag_s: float) -> None:
    memory = MemoryStore()

    def store() -> Store:
        return LaggingStore(memory, lag_s) if lag_s else memory

    ids = CountingIds()
    first = ScriptedProvider(
        [
            [think("hm"), say("I look."), call("change", {"what": "x"}), call("change", {"what": "y"})],
            "Stopped after page 3.",
            "Hello again.",
        ],
        profile=_PROFILES[profile],
    )
    async with scripted_host(first, store=store(), ids=ids) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main", instructions="Be brief.", tools=[change]))
        tasks.start_soon(session.ask, "Go through the manual.")
        await anyio.sleep(5)
        receipt = await session.tell("Stop after page 3")
        await receipt.answered()
        assert await session.ask("Hello?") == "Hello again."
    second = ScriptedProvider([[call("change", {"what": "z"})], "Done."], profile=_PROFILES[profile])
    async with scripted_host(second, store=store(), ids=ids) as host:
        resumed = await host.resume(session.id, tools=[change])
        assert await resumed.ask("Once more.") == "Done."
    requests = (*first.requests, *second.requests)
    assert len(requests) == 5
    check_sent(requests_of(await records_of(memory, session.id)), requests)


async def test_a_session_that_was_cut_off_is_told_as_it_went_on() -> None:
    store = MemoryStore()
    ids = CountingIds()
    first = ScriptedProvider([[say("I look."), call("change", {"what": "x"})]])
    async with scripted_host(first, store=store, ids=ids) as host:
        session = await host.start(Agent("main", tools=[change]))
        receipt = await session.tell("Go.")
        await receipt.presented()
        await anyio.sleep(3)
    second = ScriptedProvider(["It was cut off."])
    async with scripted_host(second, store=store, ids=ids) as host:
        resumed = await host.resume(session.id, tools=[change])
        await resumed.ask("And?")
    check_sent(requests_of(await records_of(store, session.id)), (*first.requests, *second.requests))


async def test_a_subagent_has_requests_of_its_own() -> None:
    store = MemoryStore()
    provider = ScriptedProvider(
        routes(("count the doors", [[call("change", {"what": "x"})], "Seven."]), (otherwise, ["Fine."]))
    )
    async with scripted_host(provider, store=store) as host:
        chief = await host.start(Agent("chief", tools=[change]))
        await host.spawn(chief, SpawnOrder("doors", "count the doors", name="counter"))
        await chief.ask("How many?")
        counter = host.find("counter")
    found = {
        name: requests_of(await records_of(store, session.id))
        for name, session in (("chief", chief), ("counter", counter))
    }
    check_sent(found["counter"], provider.requests[:2])
    check_sent(found["chief"], provider.requests[2:])


async def test_a_stream_that_broke_and_began_again_is_one_request() -> None:
    store = MemoryStore()
    provider = ScriptedProvider([[say("Fir"), fail(StreamBroken("gone"))], "First."])
    async with scripted_host(provider, store=store) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("Begin.") == "First."
    again, once = provider.requests
    assert again.messages == once.messages
    check_sent(requests_of(await records_of(store, session.id)), [again])


async def test_a_switch_of_the_model_is_a_request_with_other_choices() -> None:
    store = MemoryStore()
    plain = _PROFILES["plain"]
    one = ScriptedProvider([[wait(2), think("hm"), say("First.")]], name="first", profile=plain)
    other = ScriptedProvider(["From the second."], name="second", profile=_PROFILES["midway"])
    async with scripted_host(one, other, store=store) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main"))
        tasks.start_soon(session.ask, "Begin.")
        await anyio.sleep(1)
        receipt = await session.tell("Use the other one.", model="second")
        await receipt.answered()
    found = requests_of(await records_of(store, session.id))
    check_sent(found, (*one.requests, *other.requests))
    assert [sent.made.model for sent in found] == ["first", "second"]
    assert [sent.options.apply_cache_control for sent in found] == [False, True]


async def test_an_agent_that_was_never_asked_has_no_request() -> None:
    store = MemoryStore()
    async with scripted_host(ScriptedProvider([]), store=store) as host:
        session = await host.start(Agent("main"))
    with pytest.raises(UnknownRequest, match="no request yet"):
        sent_request(await records_of(store, session.id))
