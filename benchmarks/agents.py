"""Many agents at once, each with a turn of two steps and a model that takes 50 ms, in time that jumps."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import anyio

from actors.agent import Agent
from benchmarks.canned import CannedModel, look
from benchmarks.harness import Contender, Contest, Growth, Measurement, Stopwatch
from benchmarks.hosts import host_of
from host.testing import virtual_asyncio, virtual_trio

_N_AGENTS = 1_000
_MODEL_S = 0.05
_AIMS_S = {"asyncio": 0.0007, "trio": 0.001}
_BACKENDS: dict[str, Callable[[], tuple[str, dict[str, Any]]]] = {
    "asyncio": virtual_asyncio,
    "trio": virtual_trio,
}


def measurements() -> Iterator[Measurement]:
    yield Contest(
        f"{_N_AGENTS:,} agents with a turn of two steps, CPU for each agent",
        (
            Contender("bare tasks that sleep twice", partial(_run, _bare, "asyncio", _N_AGENTS)),
            *(
                Contender(f"agents, {backend}", partial(_run, _agents, backend, _N_AGENTS), aim_s=aim_s)
                for backend, aim_s in _AIMS_S.items()
            ),
        ),
        n_rounds=2,
    )
    yield Growth(
        "all agents together, by their number, asyncio",
        (250, 500, 1_000, 2_000),
        lambda n_agents: n_agents * _run(_agents, "asyncio", n_agents),
        n_rounds=2,
    )


def _run(work: Callable[[int], Any], backend: str, n_agents: int) -> float:
    name, options = _BACKENDS[backend]()
    seconds: float = anyio.run(work, n_agents, backend=name, backend_options=options)
    return seconds / n_agents


async def _agents(n_agents: int) -> float:
    """Seconds from the first question to the last answer; starting and stopping them does not count."""
    async with host_of(CannedModel(_MODEL_S)) as host:
        sessions = [await host.start(Agent(f"guide-{at}", tools=[look])) for at in range(n_agents)]
        with Stopwatch() as watch:
            async with anyio.create_task_group() as tasks:
                for session in sessions:
                    tasks.start_soon(session.ask, "What does the page on doors say?")
    return watch.seconds


async def _bare(n_tasks: int) -> float:
    async def sleep_twice() -> None:
        await anyio.sleep(_MODEL_S)
        await anyio.sleep(_MODEL_S)

    with Stopwatch() as watch:
        async with anyio.create_task_group() as tasks:
            for _ in range(n_tasks):
                tasks.start_soon(sleep_twice)
    return watch.seconds
