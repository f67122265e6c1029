"""An agent that breaks ends every wait for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from actors.agent import Agent
from actors.errors import ActorStopped
from providers.model import ModelEvent, Request
from providers.ports import Provider
from providers.scripted import ScriptedProvider, say, wait
from tests.host.hosts import scripted_host


class Broken:
    """A provider with a defect."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    @property
    def name(self) -> str:
        return self._provider.name

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        async with self._provider.stream(request):
            raise RuntimeError("a defect")
        yield

    async def count_tokens(self, request: Request) -> int | None:
        return None


async def test_the_events_of_a_turn_end_when_its_agent_breaks() -> None:
    async with scripted_host(ScriptedProvider(["never"]), wrap=Broken) as host:
        guide = await host.start(Agent("guide"))
        with anyio.fail_after(5), pytest.raises(ActorStopped, match="a defect"):
            async for _ in guide.stream("Hi"):
                pass


async def test_a_question_to_an_agent_that_breaks_is_not_waited_for() -> None:
    async with scripted_host(ScriptedProvider(["never"]), wrap=Broken) as host:
        guide = await host.start(Agent("guide"))
        with anyio.fail_after(5), pytest.raises(ActorStopped, match="a defect"):
            await guide.ask("Hi")


async def test_the_events_of_a_turn_that_never_begins_end_when_its_agent_stops() -> None:
    async with scripted_host(ScriptedProvider([[wait(60), say("first")]])) as host:
        guide = await host.start(Agent("guide"))
        await guide.post("first")
        await anyio.sleep(1)

        async def stop() -> None:
            await anyio.sleep(1)
            await guide.stop()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            with anyio.fail_after(50), pytest.raises(ActorStopped, match="it was stopped"):
                async for _ in guide.stream("second"):
                    pass
