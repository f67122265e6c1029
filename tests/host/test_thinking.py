"""Sealed thinking over the turns of a session; the scripted provider refuses it behind other words."""

from actors.agent import Agent
from actors.events import WarningRaised
from actors.tools import tool
from host.session import Session
from host.store.memory import MemoryStore
from providers.model import ReasoningBlock, Request
from providers.scripted import ScriptedProvider, call, say, think
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
