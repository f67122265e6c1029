"""The overhead of a turn with one tool call, by the length of the history, against a dump of its requests."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial

import anyio

from actors.agent import Agent
from actors.projection import ProjectionOptions, project
from actors.records import EntriesAppended
from benchmarks.canned import CannedModel, dump, look
from benchmarks.harness import Contender, Contest, Measurement, Stopwatch
from benchmarks.histories import conversation
from benchmarks.hosts import host_of
from host.session import Session
from host.store.memory import MemoryStore
from providers.anthropic.encode import encode
from providers.model import Request
from providers.scripted import SCRIPTED_PROFILE

_AGENT = Agent("guide", instructions="Look, then answer.", tools=[look])
_AIMS_S = {0: 0.001, 100: None, 1_000: 0.0015, 5_000: 0.002}
_N_TURNS = 6
_N_STEPS = 2


def measurements() -> Iterator[Measurement]:
    for n_entries, aim_s in _AIMS_S.items():
        yield Contest(
            f"a turn with one tool call on {n_entries:,} entries",
            (
                Contender("json.dumps of its two bodies", partial(_dumped, n_entries)),
                Contender("turn", partial(_turned, n_entries, CannedModel()), aim_s=aim_s),
                Contender(
                    "turn, bodies made and dumped", partial(_turned, n_entries, CannedModel(dumps=True))
                ),
            ),
            n_rounds=3,
        )


def _dumped(n_entries: int) -> float:
    """The dumps alone: the bodies are made before the time runs."""
    messages = project(conversation(max(n_entries, 4)), ProjectionOptions()).messages
    body = encode(Request("canned", messages, tools=(look.spec,)), SCRIPTED_PROFILE)
    with Stopwatch() as watch:
        for _ in range(_N_STEPS):
            dump(body)
    return watch.seconds


def _turned(n_entries: int, model: CannedModel) -> float:
    return anyio.run(_turns, n_entries, model)


async def _turns(n_entries: int, model: CannedModel) -> float:
    async with _remembering(n_entries, model) as session:
        await session.ask("Warm up.")
        with Stopwatch() as watch:
            for _ in range(_N_TURNS):
                await session.ask("What does the page on doors say?")
    return watch.seconds / _N_TURNS


@asynccontextmanager
async def _remembering(n_entries: int, model: CannedModel) -> AsyncIterator[Session]:
    """An agent whose log already holds a conversation: written into the store, then resumed."""
    async with MemoryStore() as store:
        async with host_of(model, store) as host:
            agent_id = (await host.start(_AGENT)).id
        (row,) = await store.agents(agent_id)
        async with await store.lease(agent_id):
            log = store.writer(agent_id, row.n_records)
            log.submit((EntriesAppended(conversation(n_entries)),), _check)
        async with host_of(model, store) as host:
            yield await host.resume(agent_id, tools=[look])


def _check(error: Exception | None) -> None:
    assert error is None, "the store in memory takes everything"
