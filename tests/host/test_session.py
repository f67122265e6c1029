from actors.agent import Agent
from actors.events import TextArrived, TurnFinished
from actors.records import TurnStop
from actors.tools import tool
from providers.scripted import ScriptedProvider, call, say
from tests.host.hosts import scripted_host


@tool
async def read_page(path: str) -> str:
    """The text of one page of the manual."""
    return f"text of {path}"


async def test_ask_gives_the_answer_of_one_turn() -> None:
    async with scripted_host(ScriptedProvider(["Hold the button for ten seconds."])) as host:
        guide = await host.start(Agent("guide", instructions="You answer questions."))
        assert await guide.ask("How do I reset it?") == "Hold the button for ten seconds."


async def test_a_tool_call_is_run_and_its_result_is_read() -> None:
    provider = ScriptedProvider([[call("read_page", {"path": "3"})], "Page 3 says so."])
    async with scripted_host(provider) as host:
        guide = await host.start(Agent("guide", tools=[read_page]))
        assert await guide.ask("What is on page 3?") == "Page 3 says so."
    results = [m for m in provider.requests[1].messages if m.role == "tool"]
    assert [r.content for r in results] == ["text of 3"]


async def test_stream_gives_every_delta_and_ends_with_the_turn() -> None:
    provider = ScriptedProvider([[say("Hello "), say("there.")]])
    async with scripted_host(provider) as host:
        guide = await host.start(Agent("guide"))
        events = [event async for event in guide.stream("Hi")]
    assert "".join(e.text for e in events if isinstance(e, TextArrived)) == "Hello there."
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].stop is TurnStop.DONE
