"""How long a stored session takes until it can be asked again, by the length of its log."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from actors.address import AgentId
from actors.agent import Agent
from actors.records import EntriesAppended
from benchmarks.canned import CannedModel, look
from benchmarks.harness import Contender, Contest, Measurement, Stopwatch
from benchmarks.histories import conversation
from benchmarks.hosts import host_of
from host.store.sqlite import SqliteStore

_SIZES = {1_000: 5, 10_000: 3, 100_000: 1}
"""How many entries, and how many rounds there is time for."""

_PATIENCE = 500


@dataclass(frozen=True, slots=True)
class Stored:
    """A store's file with one session in it."""

    path: Path
    agent_id: AgentId


def measurements() -> Iterator[Measurement]:
    for n_entries, n_rounds in _SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            stored = anyio.run(stored_session, Path(folder) / "store.db", n_entries)
            yield Contest(
                f"a session of {n_entries:,} entries, each a record, opened again",
                (
                    Contender("its rows and json.loads of each", partial(_parsed, stored)),
                    Contender("load: checked and decoded", partial(anyio.run, _loaded, stored)),
                    Contender("resume", partial(anyio.run, _resumed, stored)),
                    Contender("resume and the first turn", partial(anyio.run, _resumed_and_asked, stored)),
                ),
                n_rounds=n_rounds,
            )


async def stored_session(path: Path, n_entries: int) -> Stored:
    """A session whose log holds a conversation, an entry a record, in this file."""
    async with host_of(CannedModel(), SqliteStore(path, durability="normal")) as host:
        agent_id = (await host.start(Agent("guide", instructions="Look.", tools=[look]))).id
    async with SqliteStore(path, durability="normal") as store, await store.lease(agent_id):
        (row,) = await store.agents(agent_id)
        log = store.writer(agent_id, row.n_records)
        for at, entry in enumerate(conversation(n_entries)):
            log.submit((EntriesAppended((entry,)),), _check)
            if at % _PATIENCE == 0:
                await store.flush()
    return Stored(path, agent_id)


def _parsed(stored: Stored) -> float:
    with Stopwatch() as watch:
        connection = sqlite3.connect(stored.path)
        rows = connection.execute(
            "SELECT data FROM records WHERE agent_id = ? ORDER BY seq", (stored.agent_id,)
        ).fetchall()
        parsed = [json.loads(data) for (data,) in rows]
        connection.close()
    assert parsed
    return watch.seconds


async def _loaded(stored: Stored) -> float:
    async with SqliteStore(stored.path) as store:
        with Stopwatch() as watch:
            await store.load(stored.agent_id)
    return watch.seconds


async def _resumed(stored: Stored) -> float:
    async with host_of(CannedModel(), SqliteStore(stored.path)) as host:
        with Stopwatch() as watch:
            await host.resume(stored.agent_id, tools=[look])
    return watch.seconds


async def _resumed_and_asked(stored: Stored) -> float:
    """Each such turn stays in the log: a few records more for the next."""
    async with host_of(CannedModel(), SqliteStore(stored.path)) as host:
        with Stopwatch() as watch:
            session = await host.resume(stored.agent_id, tools=[look])
            await session.ask("What does the page on doors say?")
    return watch.seconds


def _check(error: Exception | None) -> None:
    assert error is None, "the store takes everything here"
