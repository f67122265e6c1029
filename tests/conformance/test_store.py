"""What every store promises: one suite for memory (in virtual time) and SQLite (with its thread)."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.address import AgentId
from actors.envelope import SenderRole
from actors.errors import LogFailed, StaleWriter
from actors.ports import Log
from actors.records import AgentRole, CallsStarted, Record, SnapshotTaken
from host.errors import SessionBusy, StoreUnavailable, UnknownSession
from host.store.memory import MemoryStore
from host.store.ports import Store
from host.store.sqlite import SqliteStore
from host.testing import virtual_asyncio, virtual_trio
from tests.host.store.samples import OTHER, ROOT, Answers, accepted, opened, said, texts_of

OpenStore = Callable[[], Store]
Scenario = Callable[[OpenStore], Awaitable[None]]


@dataclass(frozen=True)
class World:
    """Where a scenario runs; every call of `open_store` gives a view of the same data."""

    open_store: OpenStore
    backend: str
    options: dict[str, Any]

    def run(self, scenario: Scenario) -> None:
        anyio.run(scenario, self.open_store, backend=self.backend, backend_options=self.options)


WORLDS = ["memory-asyncio", "memory-trio", "sqlite-asyncio", "sqlite-trio"]


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    ticks = count(100)
    return world_of(request.param, tmp_path, lambda: float(next(ticks)))


@pytest.fixture(params=WORLDS)
def world_with_a_wild_clock(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """Where each look at the clock shows a time before the last, back beyond 1970, or far in the future."""
    times_s = chain.from_iterable((1e9 - 1e8 * number, 4e9 + number) for number in count())
    return world_of(request.param, tmp_path, lambda: next(times_s))


def world_of(name: str, tmp_path: Path, now_s: Callable[[], float]) -> World:
    kind, backend = name.split("-")
    if kind == "memory":
        memory = MemoryStore(now_s=now_s)
        return World(lambda: memory, *(virtual_asyncio() if backend == "asyncio" else virtual_trio()))
    return World(lambda: SqliteStore(tmp_path / "folder" / "store.db", now_s=now_s), backend, {})


def on_every_store(scenario: Scenario) -> Callable[[World], None]:
    def test(world: World) -> None:
        world.run(scenario)

    test.__name__ = getattr(scenario, "__name__", "test")
    test.__doc__ = scenario.__doc__
    return test


def on_every_store_with_a_wild_clock(scenario: Scenario) -> Callable[[World], None]:
    def test(world_with_a_wild_clock: World) -> None:
        world_with_a_wild_clock.run(scenario)

    test.__name__ = getattr(scenario, "__name__", "test")
    return test


async def stored(log: Log, records: tuple[Record, ...]) -> None:
    """Submits and waits for the answer."""
    heard = anyio.Event()
    log.submit(records, lambda _: heard.set())
    await heard.wait()


# --- order and atomicity


@on_every_store
async def test_records_come_back_in_the_order_of_submission(open_store: OpenStore) -> None:
    async with open_store() as store, await store.lease(ROOT):
        log = await store.create(opened())
        for number in range(50):
            log.submit(said(f"{number}a", f"{number}b"), lambda _: None)
        loaded = await store.load(ROOT)
        assert loaded.records[0].record == opened()
        assert texts_of(loaded) == [f"{number}{half}" for number in range(50) for half in "ab"]
        assert [stored.seq for stored in loaded.records] == list(range(101))
        assert loaded.next_seq == log.next_seq == 101


@on_every_store
async def test_answers_come_in_the_order_of_submission_over_all_logs(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT), await store.lease(OTHER):
        logs = [await store.create(opened()), await store.create(opened(OTHER))]
        stale = store.writer(ROOT, 77)
        for number in range(60):
            log: Log = stale if number % 7 == 3 else logs[number % 2]
            log.submit(said(str(number)), partial(answers.hear, number))
            if number % 20 == 0:
                await anyio.sleep(0.002)
        await store.flush()
    assert answers.labels == list(range(60))
    assert [error is not None for _, error in answers.heard] == [number % 7 == 3 for number in range(60)]


@on_every_store
async def test_flush_returns_when_everything_before_it_was_answered(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT):
        log = await store.create(opened())
        for number in range(30):
            log.submit(said(str(number)), partial(answers.hear, number))
        await store.flush()
        assert len(answers.heard) == 30


@on_every_store
async def test_a_submit_of_nothing_is_answered_in_its_place(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT):
        log = await store.create(opened())
        log.submit(said("a"), partial(answers.hear, 1))
        log.submit((), partial(answers.hear, 2))
        log.submit(said("b"), partial(answers.hear, 3))
        await store.flush()
        assert answers.heard == [(1, None), (2, None), (3, None)]
        assert texts_of(await store.load(ROOT)) == ["a", "b"]


@on_every_store
async def test_a_submit_with_a_record_that_cannot_be_stored_stores_none_and_fences(
    open_store: OpenStore,
) -> None:
    answers = Answers()
    not_json: Any = object()
    async with open_store() as store, await store.lease(ROOT), await store.lease(OTHER):
        log, other = await store.create(opened()), await store.create(opened(OTHER))
        log.submit(said("kept"), partial(answers.hear, "kept"))
        log.submit((*said("lost"), SnapshotTaken({"a": not_json}, 1.0)), partial(answers.hear, "bad"))
        log.submit(said("after"), partial(answers.hear, "after"))
        other.submit(said("elsewhere"), partial(answers.hear, "elsewhere"))
        await store.flush()
        assert answers.labels == ["kept", "bad", "after", "elsewhere"]
        assert answers.error_types == [None, LogFailed, LogFailed, None]
        assert texts_of(await store.load(ROOT)) == ["kept"]
        assert texts_of(await store.load(OTHER)) == ["elsewhere"]
        again = store.writer(ROOT, (await store.load(ROOT)).next_seq)
        again.submit(said("recovered"), partial(answers.hear, "again"))
        await store.flush()
        assert texts_of(await store.load(ROOT)) == ["kept", "recovered"]


@on_every_store
async def test_changing_a_record_after_submission_does_not_change_what_is_stored(
    open_store: OpenStore,
) -> None:
    async with open_store() as store, await store.lease(ROOT):
        log = await store.create(opened())
        snapshot: dict[str, Any] = {"branch": "main"}
        log.submit((SnapshotTaken(snapshot, 1.0),), lambda _: None)
        snapshot["branch"] = "changed"
        assert (await store.load(ROOT)).records[1].record == SnapshotTaken({"branch": "main"}, 1.0)


# --- several logs at once


@on_every_store
async def test_submit_many_stores_all_logs_and_answers_once(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT):
        parent, child = await store.create(opened()), await store.create(opened(OTHER, ROOT))
        parts = ((parent, said("p1")), (child, said("c1")), (parent, said("p2")))
        store.submit_many(parts, partial(answers.hear, "both"))
        await store.flush()
        assert answers.heard == [("both", None)]
        assert texts_of(await store.load(ROOT)) == ["p1", "p2"]
        assert texts_of(await store.load(OTHER)) == ["c1"]


@on_every_store
async def test_submit_many_stores_nothing_when_one_log_is_stale(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT):
        parent = await store.create(opened())
        await store.create(opened(OTHER, ROOT))
        stale = store.writer(OTHER, 9)
        store.submit_many(((parent, said("p")), (stale, said("c"))), partial(answers.hear, "many"))
        parent.submit(said("behind"), partial(answers.hear, "behind"))
        await store.flush()
        assert answers.error_types == [StaleWriter, StaleWriter]
        assert texts_of(await store.load(ROOT)) == []
        assert texts_of(await store.load(OTHER)) == []


@on_every_store
async def test_submit_many_refuses_a_log_that_no_store_made(open_store: OpenStore) -> None:
    class OwnLog:
        agent_id = ROOT
        next_seq = 0

        def submit(self, records: object, done: object) -> None: ...

    async with open_store() as store:
        with pytest.raises(TypeError, match="OwnLog"):
            store.submit_many(((OwnLog(), ()),), lambda _: None)


# --- fencing and leases


@on_every_store
async def test_a_writer_with_an_old_sequence_is_fenced_for_ever(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT):
        first = await store.create(opened())
        second = store.writer(ROOT, 1)
        second.submit(said("second"), partial(answers.hear, "second"))
        first.submit(said("zombie"), partial(answers.hear, "zombie"))
        second.submit(said("on"), partial(answers.hear, "on"))
        first.submit((), partial(answers.hear, "zombie again"))
        await store.flush()
        assert answers.error_types == [None, StaleWriter, None, StaleWriter]
        assert texts_of(await store.load(ROOT)) == ["second", "on"]


@on_every_store
async def test_writing_without_the_lease_is_refused(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store:
        with pytest.raises(StaleWriter, match="was not held"):
            await store.create(opened())
        async with await store.lease(ROOT):
            await store.create(opened())
        store.writer(ROOT, 1).submit(said("x"), partial(answers.hear, "x"))
        store.writer(AgentId("nobody"), 0).submit(said("x"), partial(answers.hear, "nobody"))
        await store.flush()
        assert answers.error_types == [StaleWriter, StaleWriter]
        assert texts_of(await store.load(ROOT)) == []


@on_every_store
async def test_a_writer_of_an_earlier_lease_is_fenced_even_with_the_right_sequence(
    open_store: OpenStore,
) -> None:
    answers = Answers()
    async with open_store() as store:
        first_lease = await store.lease(ROOT)
        old = await store.create(opened())
        old.submit(said("before"), partial(answers.hear, "before"))
        await first_lease.release()
        async with await store.lease(ROOT) as second_lease:
            assert second_lease.epoch > first_lease.epoch
            old.submit(said("zombie"), partial(answers.hear, "zombie"))
            await first_lease.release()
            store.writer(ROOT, 2).submit(said("new"), partial(answers.hear, "new"))
            await store.flush()
        assert answers.error_types == [None, StaleWriter, None]
        assert texts_of(await store.load(ROOT)) == ["before", "new"]


@on_every_store
async def test_a_writer_is_fenced_from_the_release_of_its_lease_on(open_store: OpenStore) -> None:
    answers = Answers()
    async with open_store() as store:
        async with await store.lease(ROOT):
            log = await store.create(opened())
            log.submit(said("before"), partial(answers.hear, "before"))
        log.submit(said("after"), partial(answers.hear, "after"))
        await store.flush()
        assert answers.error_types == [None, StaleWriter]
        assert texts_of(await store.load(ROOT)) == ["before"]


@on_every_store
async def test_a_second_lease_says_who_holds_the_first(open_store: OpenStore) -> None:
    async with open_store() as store, open_store() as second:
        async with await store.lease(ROOT), await second.lease(OTHER):
            for other in (store, second):
                with pytest.raises(SessionBusy, match=f"this process \\({os.getpid()}\\)") as busy:
                    await other.lease(ROOT)
                assert (busy.value.root_id, busy.value.pid) == (ROOT, os.getpid())
                assert busy.value.since_s is not None
        async with await second.lease(ROOT):
            pass


@on_every_store
async def test_one_lease_covers_the_whole_tree_and_nothing_else(open_store: OpenStore) -> None:
    async with open_store() as store, await store.lease(ROOT):
        await store.create(opened())
        await store.create(opened(AgentId("a-child"), ROOT))
        with pytest.raises(StaleWriter):
            await store.create(opened(OTHER))


@on_every_store
async def test_leaving_the_store_releases_its_leases(open_store: OpenStore) -> None:
    async with open_store() as store:
        lease = await store.lease(ROOT)
        log = await store.create(opened())
    await lease.release()
    answers = Answers()
    log.submit(said("late"), partial(answers.hear, "late"))
    assert answers.error_types == [LogFailed]
    async with open_store() as store, await store.lease(ROOT):
        assert (await store.load(ROOT)).next_seq == 1


@on_every_store
async def test_an_agent_is_created_once(open_store: OpenStore) -> None:
    async with open_store() as store, await store.lease(ROOT):
        await store.create(opened())
        with pytest.raises(StaleWriter):
            await store.create(opened())
        assert (await store.load(ROOT)).next_seq == 1


# --- cancellation and the end


@on_every_store
async def test_cancelling_the_submitting_task_neither_stops_the_record_nor_its_answer(
    open_store: OpenStore,
) -> None:
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT):
        log = await store.create(opened())
        with anyio.CancelScope() as scope:
            log.submit(said("before"), partial(answers.hear, "before"))
            scope.cancel()
            log.submit(said("during"), partial(answers.hear, "during"))
            await anyio.sleep(1)
        await store.flush()
        assert answers.heard == [("before", None), ("during", None)]
        assert texts_of(await store.load(ROOT)) == ["before", "during"]


@on_every_store
async def test_leaving_under_cancellation_stores_what_was_submitted(open_store: OpenStore) -> None:
    answers = Answers()
    with anyio.CancelScope() as scope:
        async with open_store() as store, await store.lease(ROOT):
            log = await store.create(opened())
            for number in range(20):
                log.submit(said(str(number)), partial(answers.hear, number))
            scope.cancel()
            await anyio.sleep(1)
    assert answers.heard == [(number, None) for number in range(20)]
    async with open_store() as store:
        assert texts_of(await store.load(ROOT)) == [str(number) for number in range(20)]


@on_every_store
async def test_leaving_waits_for_all_answers_and_for_the_leases(open_store: OpenStore) -> None:
    """Nothing else waits here: the lease is left to the store, the task is cancelled."""
    answers = Answers()
    with anyio.CancelScope() as scope:
        async with open_store() as store:
            await store.lease(ROOT)
            log = await store.create(opened())
            for number in range(200):
                log.submit(said(str(number)), partial(answers.hear, number))
            scope.cancel()
    assert answers.heard == [(number, None) for number in range(200)]
    async with open_store() as store, await store.lease(ROOT):
        assert (await store.load(ROOT)).next_seq == 201


@on_every_store
async def test_every_call_can_be_cancelled_and_the_store_goes_on(open_store: OpenStore) -> None:
    async with open_store() as store, await store.lease(ROOT):
        await store.create(opened())
        calls: list[Callable[[], Awaitable[object]]] = [
            partial(store.lease, OTHER),
            partial(store.create, opened(AgentId("a-child"), ROOT)),
            partial(store.load, ROOT),
            store.agents,
            store.flush,
            partial(store.put_artifact, b"x"),
            partial(store.get_artifact, "x"),
        ]
        for call in calls:
            with anyio.CancelScope() as scope:
                scope.cancel()
                got = await call()
                if call is calls[0]:
                    await got.release()  # type: ignore[attr-defined]  # a Lease: it was shielded
        await store.flush()
        async with await store.lease(OTHER):
            await store.create(opened(OTHER))
        assert (await store.load(ROOT)).next_seq == 1


@on_every_store
async def test_a_closed_store_refuses_everything_and_can_be_opened_again(open_store: OpenStore) -> None:
    store = open_store()
    async with store, await store.lease(ROOT):
        await store.create(opened())
    calls: list[Callable[[], Awaitable[object]]] = [
        partial(store.lease, ROOT),
        partial(store.load, ROOT),
        store.agents,
        partial(store.put_artifact, b""),
        partial(store.get_artifact, "0"),
    ]
    for call in calls:
        with pytest.raises(StoreUnavailable, match="not open"):
            await call()
    with pytest.raises(LogFailed, match="not open"):
        await store.create(opened(OTHER))
    async with store:
        assert [row.agent_id for row in await store.agents()] == [ROOT]


@on_every_store
async def test_an_answer_may_submit_again(open_store: OpenStore) -> None:
    """A mailbox that hears "accepted" may log the next thing at once."""
    answers = Answers()
    async with open_store() as store, await store.lease(ROOT):
        log = await store.create(opened())

        def go_on(error: Exception | None) -> None:
            answers.hear("first", error)
            log.submit(said("second"), partial(answers.hear, "second"))

        log.submit(said("first"), go_on)
        await store.flush()
        await store.flush()
        assert answers.heard == [("first", None), ("second", None)]
        assert texts_of(await store.load(ROOT)) == ["first", "second"]


@on_every_store
async def test_many_tasks_writing_at_once_lose_nothing(open_store: OpenStore) -> None:
    async with open_store() as store, await store.lease(ROOT):
        await store.create(opened())

        async def write(agent_id: AgentId) -> None:
            log = await store.create(opened(agent_id, ROOT))
            for number in range(10):
                await stored(log, said(str(number)))

        agent_ids = [AgentId(f"a-{number}") for number in range(20)]
        async with anyio.create_task_group() as tasks:
            for agent_id in agent_ids:
                tasks.start_soon(write, agent_id)
        for agent_id in agent_ids:
            assert texts_of(await store.load(agent_id)) == [str(number) for number in range(10)]


# --- listing and artifacts


@on_every_store
async def test_a_listing_tells_tree_size_times_and_title(open_store: OpenStore) -> None:
    async with open_store() as store, await store.lease(ROOT), await store.lease(OTHER):
        log = await store.create(opened())
        await store.create(opened(OTHER))
        child = await store.create(opened(AgentId("a-child"), ROOT))
        log.submit(
            (accepted("noise", SenderRole.PEER), accepted("Reset\n the  router " * 20)), lambda _: None
        )
        log.submit((accepted("a later one"),), lambda _: None)
        child.submit((accepted("Read \ud800 it", SenderRole.COORDINATOR),), lambda _: None)
        rows = await store.agents()
        assert [row.agent_id for row in rows] == [ROOT, OTHER, "a-child"]
        main, other, sub = rows
        assert (main.root_id, main.parent_id, main.name, main.n_records) == (ROOT, None, f"name-of-{ROOT}", 4)
        assert (main.role, sub.role) == (AgentRole.MAIN, AgentRole.SUBAGENT)
        assert (sub.root_id, sub.parent_id) == (ROOT, ROOT)
        assert main.title is not None
        assert main.title.startswith("Reset the router Reset")
        assert main.title.endswith("…")
        assert len(main.title) == 80
        assert (other.title, sub.title) == (None, "Read ? it")
        assert 100 <= main.created_at < main.updated_at
        assert [row.agent_id for row in await store.agents(ROOT)] == [ROOT, "a-child"]
        assert await store.agents(AgentId("nobody")) == ()


@on_every_store
async def test_a_title_stays_over_a_resume(open_store: OpenStore) -> None:
    async with open_store() as store, await store.lease(ROOT):
        (await store.create(opened())).submit((accepted("the first"),), lambda _: None)
    async with open_store() as store, await store.lease(ROOT):
        store.writer(ROOT, 2).submit((accepted("the second"),), lambda _: None)
        assert [row.title for row in await store.agents()] == ["the first"]


@on_every_store
async def test_an_artifact_comes_back_by_its_hash(open_store: OpenStore) -> None:
    async with open_store() as store:
        for data in (b"", b"text", bytes(range(256)) * 10_000):
            artifact_id = await store.put_artifact(data)
            assert await store.put_artifact(data) == artifact_id
            assert await store.get_artifact(artifact_id) == data
        assert await store.get_artifact("0" * 64) is None
        assert await store.get_artifact("\udcff") is None


@on_every_store
async def test_an_unknown_session_is_named(open_store: OpenStore) -> None:
    async with open_store() as store:
        for agent_id in ("nobody", "", "\udcff", "a\0b"):
            with pytest.raises(UnknownSession):
                await store.load(AgentId(agent_id))


@on_every_store
async def test_what_was_written_is_read_by_another_without_a_lease(open_store: OpenStore) -> None:
    async with open_store() as store, open_store() as reader, await store.lease(ROOT):
        log = await store.create(opened())
        log.submit((CallsStarted(("c1",)),), lambda _: None)
        await store.flush()
        assert (await reader.load(ROOT)).records[1].record == CallsStarted(("c1",))


@on_every_store_with_a_wild_clock
async def test_a_clock_that_jumps_back_changes_times_and_nothing_else(open_store: OpenStore) -> None:
    children = [AgentId(f"a-child-{number}") for number in range(6)]
    answers = Answers()
    epochs = []
    for child in children:
        async with open_store() as store, await store.lease(ROOT) as lease:
            epochs.append(lease.epoch)
            if child is children[0]:
                await store.create(opened())
            await store.create(opened(child, ROOT))
            log = store.writer(ROOT, (await store.load(ROOT)).next_seq)
            log.submit((accepted(f"for {child}"), *said(child)), partial(answers.hear, child))
            await store.flush()
    async with open_store() as store:
        assert texts_of(await store.load(ROOT)) == children
        rows = await store.agents()
        assert [row.agent_id for row in rows] == [ROOT, *children], "in the order of creation"
        assert [row.created_at for row in rows] != sorted(row.created_at for row in rows)
        assert rows[0].title == f"for {children[0]}", "of the first message"
    assert (answers.labels, set(answers.error_types)) == (children, {None})
    assert epochs == sorted(set(epochs))
