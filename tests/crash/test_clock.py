"""A clock that is set back, within a life and between two: order, reports and limits do not look at it."""

import random
from dataclasses import dataclass, field

import anyio
import pytest

from actors.agent import Agent
from actors.ports import SpawnOrder
from host.config import Config
from host.errors import SpawnRefused
from host.host import Host
from host.limits import SpawnLimits
from host.store.memory import MemoryStore
from host.store.ports import Store
from providers.scripted import ScriptedProvider, always
from tests.host.hosts import scripted_host
from tests.host.lagging import CrashingStore
from tests.host.test_random_programs import Program, run_program

HOUR_S = 3600.0


@dataclass
class SetClock:
    """A clock that somebody sets; `dice` sets it now and then by itself."""

    dice: random.Random | None = None
    offset_s: float = field(default=2e9)

    def now_s(self) -> float:
        if self.dice is not None and self.dice.randrange(10) == 0:
            self.offset_s += self.dice.choice((-HOUR_S, -HOUR_S, HOUR_S))
        return self.offset_s + anyio.current_time()

    def local_date(self) -> str:
        return "2027-01-15"


@dataclass(kw_only=True)
class Unsteady(Program):
    """A program whose hosts have such a clock."""

    def host(self, store: Store) -> tuple[Host, ScriptedProvider]:
        provider = ScriptedProvider(self.answer)
        config = Config(store="unused", spawn=SpawnLimits(depth=2, at_work=4, in_all=6))
        clock = SetClock(random.Random(self.n_asked))
        return scripted_host(provider, store=store, config=config, ids=self.ids, clock=clock), provider


async def run(seed: int) -> None:
    memory = MemoryStore()
    store = lambda lag_s: CrashingStore(memory, lag_s)  # noqa: E731
    await run_program(seed, Unsteady(dice=random.Random(seed), store=store))


@pytest.mark.parametrize("seed", range(5))
async def test_programs_under_a_clock_that_is_set_back_lose_nothing(seed: int) -> None:
    await run(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 500, 50))
async def test_nor_do_hundreds_of_them(first: int) -> None:
    for seed in range(first, first + 50):
        await run(seed)


async def test_the_spawn_rate_counts_minutes_and_not_what_the_clock_says() -> None:
    clock = SetClock()
    config = Config(store="unused", spawn=SpawnLimits(per_minute=2))
    host = scripted_host(ScriptedProvider(always("Fine.")), config=config, clock=clock)
    order = SpawnOrder("a task", "Do it.")
    async with host:
        session = await host.start(Agent("main"))
        for _ in range(2):
            await host.spawn(session, order)
        clock.offset_s += HOUR_S
        with pytest.raises(SpawnRefused, match="a minute"):
            await host.spawn(session, order)
        clock.offset_s -= 2 * HOUR_S
        await anyio.sleep(61)
        await host.spawn(session, order)


async def test_messages_of_two_lives_keep_their_order_though_the_second_is_an_hour_earlier() -> None:
    store = MemoryStore()
    async with scripted_host(ScriptedProvider(always("Fine.")), store=store, clock=SetClock()) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
    earlier = SetClock(offset_s=2e9 - HOUR_S)
    provider = ScriptedProvider(always("Fine."))
    async with scripted_host(provider, store=store, clock=earlier) as host:
        resumed = await host.resume(session.id)
        await resumed.ask("Second.")
        assert said(provider) == ["First.", "Fine.", "Second."]
        (row,) = await host.sessions()
        assert row.agent_id == session.id


def said(provider: ScriptedProvider) -> list[object]:
    return [message.content for message in provider.requests[-1].messages if message.role != "system"]
