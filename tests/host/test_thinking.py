"""Sealed thinking over the turns of a session; the scripted provider refuses it behind other words."""

import json
from dataclasses import replace

import pytest
from pydantic import BaseModel, create_model

from actors.agent import Agent
from actors.events import WarningRaised
from actors.results import SUBMIT_TOOL
from actors.sent import sent_request
from actors.tools import tool
from host.ids import CountingIds
from host.session import Session
from host.store.memory import MemoryStore
from providers.model import ReasoningBlock, Request
from providers.scripted import SCRIPTED_PROFILE, ScriptedProvider, call, say, think
from tests.host.hosts import scripted_host


@tool(is_read_only=True)
async def look(where: str) -> str:
    """Looks somewhere."""
    return f"nothing {where}"


@tool(is_read_only=True)
async def listen(where: str) -> str:
    """Listens somewhere."""
    return f"silence {where}"


def _thoughts(request: Request) -> list[str]:
    return [
        block.text
        for message in request.messages
        if isinstance(message.content, tuple)
        for block in message.content
        if isinstance(block, ReasoningBlock)
    ]


async def _warnings(session: Session, text: str) -> list[str]:
    return [event.text async for event in session.stream(text) if isinstance(event, WarningRaised)]


async def test_thinking_goes_back_through_turns_tools_and_restarts() -> None:
    store = MemoryStore()
    provider = ScriptedProvider(
        [
            [think("first"), call("look", {"where": "up"})],
            [think("second"), say("Nothing.")],
            [think("third"), say("Still nothing.")],
            "Good night.",
        ]
    )
    agent = Agent("main", instructions="Look.", tools=[look])
    async with scripted_host(provider, store=store) as host:
        session = await host.start(agent)
        await session.ask("What is there?")
        await session.ask("And now?")
        session_id = session.id
    async with scripted_host(provider, store=store) as host:
        session = await host.resume(session_id, tools=[look])
        assert await _warnings(session, "Good night.") == []
    assert [_thoughts(request) for request in provider.requests] == [
        [],
        ["first"],
        ["first", "second"],
        ["first", "second", "third"],
    ]


async def test_behind_other_tools_thinking_is_left_out_and_told_of_once() -> None:
    store = MemoryStore()
    provider = ScriptedProvider(
        [
            [think("first"), say("Nothing.")],
            [think("second"), call("listen", {"where": "there"})],
            "Silence.",
            "Good night.",
        ]
    )
    agent = Agent("main", instructions="Look.", tools=[look])
    async with scripted_host(provider, store=store) as host:
        session = await host.start(agent)
        await session.ask("What is there?")
        session_id = session.id
    async with scripted_host(provider, store=store) as host:
        session = await host.resume(session_id, agent=Agent("main", instructions="Look.", tools=[listen]))
        (warning,) = await _warnings(session, "What do you hear?")
        assert "what stands before it has changed" in warning
        assert await _warnings(session, "Good night.") == []
    assert [_thoughts(request) for request in provider.requests] == [[], [], ["second"], ["second"]]


async def test_a_tool_whose_schema_has_other_keys_first_is_another_tool() -> None:
    class Report(BaseModel):
        found: str = ""
        seen: str = ""

    turned = create_model("Report", seen=(str, ""), found=(str, ""))
    submit = call(SUBMIT_TOOL, {"found": "x", "seen": "y"})
    provider = ScriptedProvider(
        [[think("first"), submit], [think("second"), submit]],
        profile=replace(SCRIPTED_PROFILE, structured_output=False),
    )
    store = MemoryStore()
    async with scripted_host(provider, store=store) as host:
        session = await host.start(Agent("main"))
        await session.ask("What is there?", returns=Report)
        await session.ask("And now?", returns=turned)
        records = [stored.record for stored in (await store.load(session.id)).records]
    assert provider.requests[0].tools == provider.requests[1].tools
    assert _thoughts(provider.requests[1]) == []
    for number, request in enumerate(provider.requests, 1):
        sent = sent_request(records, number)
        assert sent.is_same_as_sent
        assert json.dumps(sent.tools[0].input_schema) == json.dumps(request.tools[0].input_schema)


@pytest.mark.parametrize("window_tokens", [200_000, 6_000])
async def test_a_request_near_the_bound_is_told_of_as_well(window_tokens: int) -> None:
    """It is composed once more where it can be counted better; the warning goes with what is sent."""
    store, ids = MemoryStore(), CountingIds()
    profile = replace(SCRIPTED_PROFILE, window_tokens=window_tokens, max_output_tokens=500)
    provider = ScriptedProvider([[think("first"), say("Nothing.")], "Silence."], profile=profile)
    agent = Agent("main", instructions="Look. " * 1_500, tools=[look])
    async with scripted_host(provider, store=store, ids=ids) as host:
        session = await host.start(agent)
        await session.ask("What is there?")
        session_id = session.id
    async with scripted_host(provider, store=store, ids=ids) as host:
        session = await host.resume(session_id, agent=replace(agent, tools=(listen,)))
        assert len(await _warnings(session, "What do you hear?")) == 1
