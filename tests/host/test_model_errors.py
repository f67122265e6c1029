"""A model that cannot be had fails the turn, not the agent."""

from pathlib import Path

import pytest

from actors.agent import Agent
from actors.errors import TurnFailed
from actors.ports import ResolvedModel
from actors.records import AgentState
from host.config import Config
from host.errors import NoModel
from host.host import Host
from host.ids import CountingIds
from host.store.memory import MemoryStore
from host.surroundings import Unseen
from host.testing import VirtualClock
from providers.scripted import ScriptedProvider
from tests.host.hosts import ScriptedModels


class NoModels(ScriptedModels):
    """Has none until `is_installed`."""

    is_installed = False

    def resolve(self, name: str | None) -> ResolvedModel:
        if not self.is_installed:
            raise NoModel("there are two ways")
        return super().resolve(name)


def host_with(models: NoModels) -> Host:
    clock = VirtualClock()
    return Host(
        store=MemoryStore(now_s=clock.now_s),
        models=models,
        surroundings=Unseen(),
        clock=clock,
        ids=CountingIds(),
        environ={},
        cwd=Path("/work"),
        config=Config(store="unused"),
    )


async def test_an_agent_without_a_model_fails_its_turn_and_works_when_there_is_one() -> None:
    models = NoModels(ScriptedProvider(["Here I am."]))
    async with host_with(models) as host:
        guide = await host.start(Agent("guide"))
        with pytest.raises(TurnFailed, match="there are two ways"):
            await guide.ask("Are you there?")
        assert guide.state is AgentState.IDLE
        models.is_installed = True
        assert await guide.ask("And now?") == "Here I am."
