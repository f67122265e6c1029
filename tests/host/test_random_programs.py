"""Random programs of agents, people and hosts, by seed: nothing is lost, doubled or left open.

A program is a few lives of a host on one store. In each life people ask, tell,
withdraw, cancel, spawn, send, stop, rewind and fork at random moments, while a model answers
at random speed with texts, calls, failures and broken streams. A life ends by
leaving the block, by an outer cancellation, or by a crash: from one moment on
the store takes nothing more. The last life is left to come to rest, and then
the logs are judged.

A failing seed is in the test's name; replay it with `-k "seed and 123 and trio"`.
"""

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskGroup

from actors.agent import Agent
from actors.events import AgentChanged, WarningRaised
from actors.records import AgentState, TurnStop
from actors.state import folded
from host.config import Config
from host.host import Host
from host.hub import Subscription
from host.limits import SpawnLimits
from host.store.memory import MemoryStore
from host.store.ports import Store
from host.store.sqlite import SqliteStore
from providers.scripted import ScriptedProvider
from tests.host.hosts import scripted_host
from tests.host.judging import envelopes, faults, is_expected, is_expected_warning, records_of, untold
from tests.host.lagging import CrashingStore
from tests.host.programs import NAMES, TOOLS, Cast, is_root

N_LIVES = 3
N_PEOPLE = 3
REST_S = 20_000.0


@dataclass(kw_only=True)
class Program(Cast):
    """One seed: its cast, and the lives of a host on its store."""

    store: Callable[[float], Store]

    def host(self, store: Store) -> tuple[Host, ScriptedProvider]:
        provider = ScriptedProvider(self.answer)
        config = Config(store="unused", spawn=SpawnLimits(depth=2, at_work=4, in_all=6))
        return scripted_host(provider, store=store, config=config, ids=self.ids), provider

    async def open_agents(self, host: Host) -> None:
        for root in (*self.roots, *self.forks):
            await host.resume(root, tools=TOOLS)
        for name in NAMES[len(self.roots) :]:
            self.roots.append((await host.start(Agent(name, tools=TOOLS))).id)

    async def live(self) -> None:
        """One life, left in the middle; everybody who waited for the host must hear of its end."""
        store = self.store(self.dice.choice((0.0, 0.001, 0.05, 0.3)))
        host, provider = self.host(store)
        with anyio.move_on_after(REST_S * self.pace) as patience:
            async with anyio.create_task_group() as people:
                with contextlib.suppress(ZeroDivisionError):
                    await self.block(host, store, people)
        if patience.cancelled_caught:
            self.problems.append("somebody waits for ever for a host that is gone")
        if provider.n_open:
            self.problems.append(f"{provider.n_open} streams are open behind the end of a host")

    async def block(self, host: Host, store: Store, people: TaskGroup) -> None:
        with anyio.CancelScope() as outer:
            async with host:
                people.start_soon(self.watch, host.watch())
                await self.open_agents(host)
                for _ in range(N_PEOPLE):
                    people.start_soon(self.person, host)
                await anyio.sleep(self.dice.random() * 40 * self.pace)
                match self.dice.randrange(4):
                    case 0 if isinstance(store, CrashingStore):
                        store.crash()
                        await anyio.sleep(self.dice.choice((0.0, 1.0)))
                    case 1:
                        outer.cancel()
                        await anyio.sleep(1)
                    case 2:
                        raise ZeroDivisionError("a bug in the block")

    async def rest(self) -> None:
        """The last life: everything that was left over is worked off."""
        self.is_resting = True
        store = self.store(0.05)
        host, provider = self.host(store)
        async with anyio.create_task_group() as people, host:
            people.start_soon(self.watch, host.watch())
            await self.open_agents(host)
            await anyio.sleep(REST_S * self.pace)
            for session in host.agents():
                is_busy = session.state in (AgentState.RUNNING, AgentState.WAITING)
                self.blame(is_busy, f"{session.name} still works")
                last = session.fold.last_turn
                is_held = last is not None and last.stop is TurnStop.FAILED and is_root(session)
                self.blame(bool(session.waiting) and not is_held, f"a message lies before {session.name}")
                again = folded(await records_of(store, session.id))
                self.blame(again != session.fold, f"{session.name}: the log folds into another state")
        self.blame(provider.n_open > 0, "streams are open behind the last host")

    async def watch(self, events: Subscription) -> None:
        async for event in events:
            if isinstance(event, AgentChanged) and event.state is AgentState.FAILED:
                self.blame(not is_expected(event.reason), f"{event.agent} failed: {event.reason}")
            if isinstance(event, WarningRaised):
                self.blame(not is_expected_warning(event), f"{event.agent}: {event.text}")

    def blame(self, is_wrong: bool, problem: str) -> None:
        if is_wrong:
            self.problems.append(problem)

    # Judging

    async def judge(self) -> None:
        async with self.store(0.0) as store:
            rows = await store.agents()
            logs = {row.agent_id: await records_of(store, row.agent_id) for row in rows}
        accepted = {e.id for log in logs.values() for e in envelopes(log)}
        self.blame(not self.acknowledged <= accepted, f"lost: {self.acknowledged - accepted}")
        for row in rows:
            self.problems.extend(f"{row.name}: {problem}" for problem in faults(logs[row.agent_id]))
        self.problems.extend(untold(rows, logs))


async def run(seed: int) -> None:
    memory = MemoryStore()
    await run_program(seed, Program(random.Random(seed), store=lambda lag_s: CrashingStore(memory, lag_s)))


async def run_program(seed: int, program: Program) -> None:
    for _ in range(N_LIVES - 1):
        await program.live()
    await program.rest()
    await program.judge()
    assert not program.problems, f"seed {seed}: " + "\n".join(program.problems)


@pytest.mark.parametrize("seed", range(40))
async def test_whatever_happens_nothing_is_lost_doubled_or_left_open(seed: int) -> None:
    await run(seed)


@pytest.mark.parametrize("seed", range(2))
def test_nor_with_the_store_on_disk(seed: int, real_backend: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    dice = random.Random(seed)
    program = Program(dice, store=lambda _: SqliteStore(path, durability="normal"), pace=0.00005)
    anyio.run(run_program, seed, program, backend=real_backend)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 100))
async def test_thousands_of_programs_lose_double_and_leave_nothing(first: int) -> None:
    for seed in range(first, first + 100):
        await run(seed)
