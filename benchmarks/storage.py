"""What keeping costs a turn, in time and in bytes of the file."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio

from actors.agent import Agent
from benchmarks.canned import CannedModel, look
from benchmarks.harness import WALL, Contender, Contest, Measurement, Sizes, Stopwatch
from benchmarks.hosts import host_of
from host.session import Session
from host.store.codec import encode_record
from host.store.memory import MemoryStore
from host.store.ports import Store
from host.store.sqlite import SqliteStore

_N_TURNS = 30
_N_GROWN = 200
_QUESTION = "What does the page on doors say?"

OpenStore = Callable[[Path], Store]


def measurements() -> Iterator[Measurement]:
    yield Contest(
        "a turn with one tool call, by where it is kept",
        (
            Contender("MemoryStore", partial(_turned, lambda _: MemoryStore())),
            Contender("SqliteStore, durability normal", partial(_turned, _normal)),
            Contender("SqliteStore, durability full", partial(_turned, SqliteStore)),
        ),
    )
    json_bytes, file_bytes, n_records = anyio.run(_grown)
    yield Sizes(
        f"bytes a turn with one tool call keeps ({n_records / _N_GROWN:.1f} records), over {_N_GROWN} turns",
        (
            ("the JSON of its records", json_bytes / _N_GROWN),
            ("the file, once it is closed", file_bytes / _N_GROWN),
        ),
    )


def _normal(path: Path) -> Store:
    return SqliteStore(path, durability="normal")


def _turned(open_store: OpenStore) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(_turns, open_store, Path(folder) / "store.db")


async def _turns(open_store: OpenStore, path: Path) -> float:
    async with _session(open_store(path)) as session:
        await session.ask("Warm up.")
        with Stopwatch(WALL) as watch:
            for _ in range(_N_TURNS):
                await session.ask(_QUESTION)
    return watch.seconds / _N_TURNS


async def _grown() -> tuple[int, int, int]:
    """Bytes of JSON, bytes of the file, and records that so many turns add to those of a first one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        before = await _kept(path, 1)
        after = await _kept(path, _N_GROWN)
        return after[0] - before[0], after[1] - before[1], after[2] - before[2]


async def _kept(path: Path, n_turns: int) -> tuple[int, int, int]:
    """After so many more turns: all bytes of JSON, those of the closed file, and the number of records."""
    async with SqliteStore(path, durability="normal") as store:
        known = await store.agents()
    async with _session(_normal(path), known[0].agent_id if known else None) as session:
        for _ in range(n_turns):
            await session.ask(_QUESTION)
    n_bytes = (await anyio.Path(path).stat()).st_size
    async with SqliteStore(path) as store:
        (row,) = await store.agents()
        records = [encode_record(stored.record) for stored in (await store.load(row.agent_id)).records]
    return sum(len(record.data) for record in records), n_bytes, len(records)


@asynccontextmanager
async def _session(store: Store, agent_id: str | None = None) -> AsyncIterator[Session]:
    async with host_of(CannedModel(), store) as host:
        if agent_id is None:
            yield await host.start(Agent("guide", instructions="Look, then answer.", tools=[look]))
        else:
            yield await host.resume(agent_id, tools=[look])
