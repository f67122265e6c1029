"""What every store promises about whole sessions: archiving, deleting, collecting, measuring."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import anyio
import pytest

from actors.address import AgentId
from actors.errors import StaleWriter
from actors.records import FileChanging, FileState, Record
from host.errors import SessionBusy, StoreUnavailable, UnknownSession
from host.store.memory import MemoryStore
from host.store.ports import GRACE_S, Keeping, Store
from host.store.sqlite import SqliteStore
from host.testing import virtual_asyncio, virtual_trio
from tests.host.store.samples import OTHER, ROOT, Answers, accepted, opened, said, texts_of

CHILD = AgentId("a-child")


class KeepingStore(Store, Keeping, Protocol):
    """What is tested here."""


class Clock:
    """Moves on a second with every look, and further when told."""

    def __init__(self) -> None:
        self._seconds = count(100)
        self._skipped_s = 0.0

    def now_s(self) -> float:
        return next(self._seconds) + self._skipped_s

    def skip(self, seconds: float) -> None:
        self._skipped_s += seconds


@dataclass(frozen=True)
class World:
    """Where a scenario runs; every call of `open_store` gives a view of the same data."""

    open_store: Callable[[], KeepingStore]
    clock: Clock
    backend: str
    options: dict[str, Any]


Scenario = Callable[[World], Awaitable[None]]


@pytest.fixture(params=["memory-asyncio", "memory-trio", "sqlite-asyncio", "sqlite-trio"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    kind, backend = request.param.split("-")
    clock = Clock()
    if kind == "memory":
        memory = MemoryStore(now_s=clock.now_s)
        return World(lambda: memory, clock, *(virtual_asyncio() if backend == "asyncio" else virtual_trio()))
    return World(lambda: SqliteStore(tmp_path / "store.db", now_s=clock.now_s), clock, backend, {})


def on_every_store(scenario: Scenario) -> Callable[[World], None]:
    def test(world: World) -> None:
        anyio.run(scenario, world, backend=world.backend, backend_options=world.options)

    test.__name__ = getattr(scenario, "__name__", "test")
    test.__doc__ = scenario.__doc__
    return test


async def write(
    store: KeepingStore, agent_id: AgentId, *records: Record, root_id: AgentId | None = None
) -> None:
    """A new log with these records behind its first."""
    async with await store.lease(root_id or agent_id):
        await store.create(opened(agent_id, root_id), *records)


async def ids_of(store: KeepingStore) -> list[str]:
    return [row.agent_id for row in await store.agents()]


async def archived(store: KeepingStore) -> dict[str, float | None]:
    return {row.agent_id: row.archived_at for row in await store.agents()}


@asynccontextmanager
async def somebody_at_work(store: KeepingStore) -> AsyncGenerator[None]:
    async with await store.lease(AgentId("a-third")):
        yield


# --- archiving


@on_every_store
async def test_an_archived_session_is_as_it_was_but_for_the_mark(world: World) -> None:
    async with world.open_store() as store:
        await write(store, ROOT, *said("a"))
        await write(store, CHILD, root_id=ROOT)
        await write(store, OTHER)
        before = await store.agents()
        await store.archive(ROOT)
        root, child, other = await store.agents()
        assert root.archived_at is not None
        assert root.archived_at > root.updated_at
        assert (child, other) == before[1:]
        assert texts_of(await store.load(ROOT)) == ["a"]
        await store.archive(ROOT, False)
        assert await store.agents() == before


@on_every_store
async def test_archiving_twice_keeps_the_time_of_the_first(world: World) -> None:
    async with world.open_store() as store:
        await write(store, ROOT)
        await store.archive(ROOT)
        first = await archived(store)
        await store.archive(ROOT)
        assert await archived(store) == first
        await store.archive(ROOT, False)
        await store.archive(ROOT, False)
        assert await archived(store) == {ROOT: None}


@on_every_store
async def test_what_is_written_brings_a_session_out_of_the_archive(world: World) -> None:
    async with world.open_store() as store:
        await write(store, ROOT)
        await write(store, CHILD, root_id=ROOT)
        await write(store, OTHER)
        await store.archive(OTHER)
        for agent_id in (ROOT, CHILD):
            await store.archive(ROOT)
            async with await store.lease(ROOT):
                assert (await archived(store))[ROOT] is not None
                store.writer(agent_id, 1).submit(said("on"), lambda _: None)
            marks = await archived(store)
            assert marks[ROOT] is None
            assert marks[OTHER] is not None


@on_every_store
async def test_a_refused_write_leaves_a_session_in_the_archive(world: World) -> None:
    async with world.open_store() as store:
        await write(store, ROOT)
        await store.archive(ROOT)
        store.writer(ROOT, 1).submit(said("without a lease"), lambda _: None)
        await store.flush()
        assert (await archived(store))[ROOT] is not None


# --- deleting


@on_every_store
async def test_a_deleted_session_is_gone_with_its_tree_and_others_stay(world: World) -> None:
    async with world.open_store() as store:
        await write(store, ROOT, *said("a", "b"), accepted("Say nothing"))
        await write(store, CHILD, *said("c"), root_id=ROOT)
        await write(store, OTHER, *said("d"))
        removed = await store.delete(ROOT)
        assert (removed.n_agents, removed.n_records) == (2, 6)
        assert removed.record_bytes > 100
        assert await ids_of(store) == [OTHER]
        assert texts_of(await store.load(OTHER)) == ["d"]
        for agent_id in (ROOT, CHILD):
            with pytest.raises(UnknownSession):
                await store.load(agent_id)
        with pytest.raises(UnknownSession):
            await store.delete(ROOT)


@on_every_store
async def test_several_sessions_go_together_or_not_at_all(world: World) -> None:
    async with world.open_store() as store, world.open_store() as second:
        await write(store, ROOT)
        await write(store, OTHER)
        with pytest.raises(UnknownSession, match="a-third"):
            await store.delete(ROOT, AgentId("a-third"))
        async with await second.lease(OTHER):
            with pytest.raises(SessionBusy):
                await store.delete(ROOT, OTHER)
        assert await ids_of(store) == [ROOT, OTHER]
        assert (await store.delete(ROOT, OTHER, ROOT)).n_agents == 2
        assert await ids_of(store) == []
        assert (await store.delete()).n_agents == 0


@on_every_store
async def test_a_session_that_is_being_written_is_neither_archived_nor_deleted(world: World) -> None:
    async with world.open_store() as store, world.open_store() as second:
        async with await store.lease(ROOT):
            log = await store.create(opened())
            for keeper in (store, second):
                for change in (keeper.archive, keeper.delete):
                    with pytest.raises(SessionBusy):
                        await change(ROOT)
            log.submit(said("still here"), lambda _: None)
        await second.archive(ROOT)
        await second.delete(ROOT)
        assert await ids_of(store) == []


@on_every_store
async def test_only_a_root_that_is_there_can_be_archived_or_deleted(world: World) -> None:
    async with world.open_store() as store:
        await write(store, ROOT)
        await write(store, CHILD, root_id=ROOT)
        for name in (CHILD, "nobody", "", "\udcff", "a\0b"):
            for change in (store.archive, store.delete):
                with pytest.raises(UnknownSession):
                    await change(AgentId(name))
        assert await archived(store) == {ROOT: None, CHILD: None}


@on_every_store
async def test_a_writer_from_before_the_deletion_is_refused(world: World) -> None:
    answers = Answers()
    async with world.open_store() as store, world.open_store() as second:
        async with await store.lease(ROOT):
            zombie = await store.create(opened())
            beginner = store.writer(ROOT, 0)
        await second.delete(ROOT)
        zombie.submit(said("zombie"), partial(answers.hear, "append"))
        beginner.submit((opened(),), partial(answers.hear, "begin"))
        await store.flush()
        assert answers.error_types == [StaleWriter, StaleWriter]
        assert await ids_of(store) == []


@on_every_store
async def test_a_session_of_a_deleted_id_can_begin_anew_under_a_higher_epoch(world: World) -> None:
    async with world.open_store() as store:
        async with await store.lease(ROOT) as lease:
            await store.create(opened(), *said("old"))
        await store.delete(ROOT)
        async with await store.lease(ROOT) as again:
            await store.create(opened(), *said("new"))
        assert again.epoch > lease.epoch
        assert texts_of(await store.load(ROOT)) == ["new"]


# --- artifacts


@on_every_store
async def test_a_deleted_sessions_own_artifacts_go_at_once_and_shared_ones_stay(world: World) -> None:
    async with world.open_store() as store:
        own, shared, of_nobody = [await store.put_artifact(data) for data in (b"own", b"shared", b"nobody's")]
        await write(store, ROOT, *said(f"see {own}", f"and {shared}"))
        await write(store, OTHER, *said(f"see {shared}"))
        removed = await store.delete(ROOT)
        assert (removed.n_artifacts, removed.artifact_bytes, removed.n_spared) == (1, 3, 0)
        assert await store.get_artifact(own) is None
        assert await store.get_artifact(shared) == b"shared"
        assert await store.get_artifact(of_nobody) == b"nobody's"
        assert (await store.delete(OTHER)).n_artifacts == 1


@on_every_store
async def test_sessions_deleted_together_do_not_keep_each_others_artifacts(world: World) -> None:
    async with world.open_store() as store:
        shared = await store.put_artifact(b"shared")
        await write(store, ROOT, *said(shared))
        await write(store, OTHER, *said(shared))
        assert (await store.delete(ROOT, OTHER)).n_artifacts == 1
        assert await store.get_artifact(shared) is None


@on_every_store
async def test_while_another_session_is_written_new_artifacts_of_a_deleted_one_stay_for_a_while(
    world: World,
) -> None:
    """The other may have put the same bytes a moment ago."""
    async with world.open_store() as store, world.open_store() as second:
        old = await store.put_artifact(b"old")
        world.clock.skip(GRACE_S)
        new = await store.put_artifact(b"new!")
        await write(store, ROOT, *said(old, new))
        async with somebody_at_work(second):
            removed = await store.delete(ROOT)
            assert (removed.n_artifacts, removed.n_spared, removed.spared_bytes) == (1, 1, 4)
            assert await store.get_artifact(old) is None
            assert await store.get_artifact(new) == b"new!"
        world.clock.skip(GRACE_S)
        assert (await store.collect()).n_artifacts == 1
        assert await store.get_artifact(new) is None


@on_every_store
async def test_collecting_takes_what_nothing_refers_to_and_was_put_long_ago(world: World) -> None:
    async with world.open_store() as store:
        used, unused, again = [await store.put_artifact(data) for data in (b"used", b"unused", b"put again")]
        await write(store, ROOT, *said(f"…\\n{used}"))
        world.clock.skip(GRACE_S)
        assert await store.put_artifact(b"put again") == again
        removed = await store.collect()
        assert (removed.n_artifacts, removed.artifact_bytes) == (1, 6)
        assert (removed.n_spared, removed.spared_bytes) == (1, 9)
        assert await store.get_artifact(unused) is None
        assert await store.get_artifact(used) == b"used"
        assert await store.get_artifact(again) == b"put again"
        assert (await store.collect(0)).n_artifacts == 1
        assert (await store.collect(0)).n_artifacts == 0


@on_every_store
async def test_every_kind_of_reference_keeps_an_artifact(world: World) -> None:
    async with world.open_store() as store:
        kept = [
            await store.put_artifact(data) for data in (b"in a text", b"in a field", b"in a row of digits")
        ]
        gone = [await store.put_artifact(data) for data in (b"cut off", b"in other letters")]
        before = FileState("0" * 64, 0o644, kept[1])
        await write(
            store,
            ROOT,
            *said(f"stored as artifact {kept[0]}; to go on here: ReadArtifact(id='{kept[0]}')"),
            FileChanging("c1", "/f", before, "1" * 64, 3.0),
            *said(f"\u2026{'ab' * 50}{kept[2]}{'0' * 70}"),
            *said(gone[0][:-1], gone[1].upper()),
        )
        assert (await store.collect(-1)).n_artifacts == 2
        assert [await store.get_artifact(artifact_id) is None for artifact_id in kept] == [False] * 3
        assert [await store.get_artifact(artifact_id) for artifact_id in gone] == [None, None]


# --- measuring


@on_every_store
async def test_sizes_tell_sessions_apart_and_what_they_share(world: World) -> None:
    async with world.open_store() as store:
        assert (await store.sizes()).sessions == ()
        own, shared, _ = [await store.put_artifact(data) for data in (b"own", b"shared", b"of nobody")]
        await write(store, OTHER, *said(shared))
        await write(store, ROOT, *said("x" * 1000, shared))
        await write(store, CHILD, *said(own, shared), root_id=ROOT)
        sizes = await store.sizes()
        root, other = sizes.sessions
        assert (root.root_id, root.n_agents, root.n_records) == (ROOT, 2, 6)
        assert (root.artifact_bytes, root.shared_bytes) == (3, 6)
        assert 1000 < root.record_bytes < 3000
        assert root.own_bytes == root.record_bytes + 3
        assert (other.root_id, other.n_agents, other.n_records) == (OTHER, 1, 2)
        assert (other.artifact_bytes, other.shared_bytes) == (0, 6)
        assert (sizes.n_artifacts, sizes.artifact_bytes) == (3, 18)
        assert (sizes.n_unreferred, sizes.unreferred_bytes) == (1, 9)
        removed = await store.delete(ROOT)
        assert (removed.record_bytes, removed.artifact_bytes) == (root.record_bytes, 3)
        (left,) = (await store.sizes()).sessions
        assert (left.artifact_bytes, left.shared_bytes) == (6, 0)


@on_every_store
async def test_a_closed_store_keeps_nothing_and_says_so(world: World) -> None:
    store = world.open_store()
    for call in (partial(store.archive, ROOT), partial(store.delete, ROOT), store.collect, store.sizes):
        with pytest.raises(StoreUnavailable, match="not open"):
            await call()
