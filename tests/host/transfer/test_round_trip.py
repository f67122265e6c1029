"""Out of one store and into another: nothing is lost, added or changed."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.history import EntryId, ReminderEntry
from actors.records import EntriesAppended, Record, SnapshotTaken
from actors.reminders.registry import REGISTRY, Durability
from host.errors import SessionBusy, UnknownSession
from host.store.memory import MemoryStore
from host.store.ports import KeepingStore
from host.store.sqlite import SqliteStore
from host.testing import virtual_asyncio, virtual_trio
from host.transfer import AlreadyThere, ExportInvalid, ExportTooLarge, export_session
from host.transfer.format import ArtifactLine, RecordLine, artifact_line, record_line
from tests.host.store.anything import any_of
from tests.host.store.samples import OTHER, ROOT, accepted, opened, said, texts_of
from tests.host.transfer.exports import checked, exported, filled, imported, values

Scenario = Callable[[Callable[[], KeepingStore]], Awaitable[None]]


@dataclass(frozen=True)
class World:
    """Where a scenario runs; every call of `new_store` gives another empty store."""

    new_store: Callable[[], KeepingStore]
    backend: str
    options: dict[str, Any]

    def run(self, scenario: Scenario) -> None:
        anyio.run(scenario, self.new_store, backend=self.backend, backend_options=self.options)


@pytest.fixture(params=["memory-asyncio", "memory-trio", "sqlite-asyncio", "sqlite-trio"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    kind, backend = request.param.split("-")
    numbers = count()
    if kind == "memory":
        return World(MemoryStore, *(virtual_asyncio() if backend == "asyncio" else virtual_trio()))
    return World(lambda: SqliteStore(tmp_path / f"{next(numbers)}.db", durability="normal"), backend, {})


def on_every_store(scenario: Scenario) -> Callable[[World], None]:
    def test(world: World) -> None:
        world.run(scenario)

    test.__name__ = getattr(scenario, "__name__", "test")
    return test


def test_any_record_comes_back_as_it_was(world: World) -> None:
    any_record = st.one_of([any_of(kind) for kind in get_args(Record)])

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(records=st.lists(any_record, max_size=6), child=st.lists(any_record, max_size=3))
    def check(records: list[Record], child: list[Record]) -> None:
        async def scenario(new_store: Callable[[], KeepingStore]) -> None:
            async with new_store() as store, new_store() as other:
                await filled(store, *records, child=tuple(child))
                data = await exported(store)
                values(data)  # strict JSON, whatever the records hold
                await imported(other, data)
                for agent_id in (ROOT, OTHER):
                    # By repr: NaN is not equal to itself, and 1 is equal to True and 1.0.
                    assert repr(await other.load(agent_id)) == repr(await store.load(agent_id))
                assert await exported(other) == data

        world.run(scenario)

    check()


@on_every_store
async def test_names_roles_and_order_of_the_agents_come_back(new_store: Callable[[], KeepingStore]) -> None:
    async with new_store() as store, new_store() as other:
        await filled(store, accepted("Find the page."), child=said("a"))
        result = await imported(other, await exported(store))
        assert (result.header.session, result.n_records, result.n_artifacts) == (ROOT, 4, 0)
        came, were = await other.agents(), await store.agents()
        assert [(r.agent_id, r.name, r.parent_id, r.role, r.n_records, r.title) for r in came] == [
            (r.agent_id, r.name, r.parent_id, r.role, r.n_records, r.title) for r in were
        ]


@on_every_store
async def test_artifacts_that_records_name_come_along_and_others_do_not(
    new_store: Callable[[], KeepingStore],
) -> None:
    async with new_store() as store, new_store() as other:
        named = [await store.put_artifact(bytes([n]) * 100) for n in range(5)]
        await store.put_artifact(b"nobody names this")
        no_artifact = hashlib.sha256(b"was never stored").hexdigest()
        texts = (f"as artifact {named[0]};", f"\b{named[1]}", f"\ud800é{named[2]}.", f"{named[4]}0")
        records = (*said(*texts, no_artifact), SnapshotTaken({named[3]: 1}, 1.0))
        await filled(store, *records)
        result = await imported(other, await exported(store))
        assert result.n_artifacts == 5
        for n, artifact_id in enumerate(named):
            assert await other.get_artifact(artifact_id) == bytes([n]) * 100


@on_every_store
async def test_an_imported_session_can_be_written_on(new_store: Callable[[], KeepingStore]) -> None:
    async with new_store() as store, new_store() as other:
        await filled(store, *said("before"))
        await imported(other, await exported(store))
        async with await other.lease(ROOT):
            heard = anyio.Event()
            other.writer(ROOT, 2).submit(said("after"), lambda error: heard.set() if error is None else None)
            await heard.wait()
        assert texts_of(await other.load(ROOT)) == ["before", "after"]


@on_every_store
async def test_what_is_there_already_is_refused_and_stays(new_store: Callable[[], KeepingStore]) -> None:
    async with new_store() as store, new_store() as other:
        artifact = await store.put_artifact(b"large")
        await filled(store, *said(artifact), child=said("new"))
        data = await exported(store)
        async with await other.lease(ROOT):
            await other.create(opened(), *said("old"))
        with pytest.raises(AlreadyThere, match=f"session {ROOT} already"):
            await imported(other, data)
        assert texts_of(await other.load(ROOT)) == ["old"]
        assert [row.agent_id for row in await other.agents()] == [ROOT]
        assert await other.get_artifact(artifact) is None


@on_every_store
async def test_an_agent_of_another_session_is_no_reason_to_import_half(
    new_store: Callable[[], KeepingStore],
) -> None:
    async with new_store() as store, new_store() as other:
        await filled(store, *said("a"), child=said("new"))
        data = await exported(store)
        async with await other.lease(OTHER):
            await other.create(opened(OTHER), *said("old"))
        with pytest.raises(AlreadyThere, match=f"agent {OTHER}, in session {OTHER}"):
            await imported(other, data)
        assert [row.agent_id for row in await other.agents()] == [OTHER]


@on_every_store
async def test_a_session_that_is_being_written_is_not_imported_over(
    new_store: Callable[[], KeepingStore],
) -> None:
    async with new_store() as store, new_store() as other:
        await filled(store)
        data = await exported(store)
        async with await other.lease(ROOT):
            with pytest.raises(SessionBusy):
                await imported(other, data)
        await imported(other, data)


@on_every_store
async def test_an_invalid_export_leaves_nothing_behind(new_store: Callable[[], KeepingStore]) -> None:
    async with new_store() as store, new_store() as other:
        artifact = await store.put_artifact(b"large")
        await filled(store, *said(artifact))
        data = await exported(store)
        with pytest.raises(ExportInvalid):
            await imported(other, data.replace(b'"idle"', b'"lost"'))
        assert await other.agents() == ()
        assert await other.get_artifact(artifact) is None
        async with await other.lease(ROOT):  # and its lease is free
            pass


@on_every_store
async def test_agents_are_cut_at_one_moment_while_the_session_goes_on(
    new_store: Callable[[], KeepingStore],
) -> None:
    async with new_store() as store:
        await filled(store, *said("a"), child=said("b"))
        before = await exported(store)
        lines = export_session(store, ROOT, exported_at=5.0, program="0.0", is_exact=True)
        taken = [await anext(lines)]
        async with await store.lease(ROOT):
            heard = anyio.Event()
            parts = [(store.writer(ROOT, 2), said("late")), (store.writer(OTHER, 2), said("late"))]
            store.submit_many(parts, lambda _: heard.set())
            await heard.wait()
            taken += [line async for line in lines]
        assert b"".join(taken) == before


@on_every_store
async def test_a_session_that_is_not_there_is_told(new_store: Callable[[], KeepingStore]) -> None:
    async with new_store() as store:
        with pytest.raises(UnknownSession, match=ROOT):
            await exported(store)


def reminder(source: str) -> ReminderEntry:
    return ReminderEntry(EntryId(source), source, f"about {source}")


@on_every_store
async def test_reminders_of_the_process_stay_behind_unless_all_is_wanted(
    new_store: Callable[[], KeepingStore],
) -> None:
    entries = tuple(map(reminder, [*REGISTRY, "of a newer version"]))
    kept = [e for e in entries if (s := REGISTRY.get(e.source)) is None or s.durability != "process_local"]
    assert len(entries) - len(kept) == sum(
        s.durability is Durability.PROCESS_LOCAL for s in REGISTRY.values()
    )
    async with new_store() as store:
        await filled(store, EntriesAppended(entries), EntriesAppended((reminder("diagnostics"),)))
        brief = checked(await exported(store, is_exact=False))
        exact = checked(await exported(store, is_exact=True))
        assert (brief.header.exact, exact.header.exact) == (False, True)
        assert brief.logs[0].records == (EntriesAppended(tuple(kept)), EntriesAppended(()))
        assert exact.logs[0].records == (
            EntriesAppended(entries),
            EntriesAppended((reminder("diagnostics"),)),
        )


def test_what_is_longer_than_a_line_may_be_is_told_when_it_is_exported() -> None:
    record, artifact = (
        RecordLine("a", 7, "told", 1, b'{"b":"cccccccccc"}'),
        ArtifactLine("f" * 64, bytes(100)),
    )
    for limit_bytes in (len(record_line(record)), len(artifact_line(artifact))):
        assert len(record_line(record, limit_bytes=limit_bytes)) <= limit_bytes
    with pytest.raises(ExportTooLarge, match="record 7 of agent a takes"):
        record_line(record, limit_bytes=len(record_line(record)) - 1)
    with pytest.raises(ExportTooLarge, match="artifact fff"):
        artifact_line(artifact, limit_bytes=200)


def test_values_that_json_lacks_travel_as_a_text() -> None:
    async def scenario() -> None:
        async with MemoryStore() as store:
            odd = SnapshotTaken({"a": float("nan"), "b": [float("-inf"), "\ud800"]}, 1.0)
            plain = SnapshotTaken({"NaN": "Infinity \\ud800 \ufffd\ufffd\ufffd"}, 1.0)
            await filled(store, odd, plain)
            lines = values(await exported(store))
        assert "data" not in lines[2]
        assert json.loads(str(lines[2]["text"]))["snapshot"]["b"] == [float("-inf"), "\ud800"]
        assert "text" not in lines[3]
        assert "data" in lines[3]

    anyio.run(scenario)


def test_ten_thousand_records_take_seconds(tmp_path: Path) -> None:
    async def scenario() -> None:
        body = "All work and no play makes a long log. " * 10
        records = [accepted(body) if n % 2 else said(body)[0] for n in range(10_000)]
        async with SqliteStore(tmp_path / "a.db") as store, SqliteStore(tmp_path / "b.db") as other:
            await filled(store, *records)
            with anyio.fail_after(30):
                result = await imported(other, await exported(store))
        assert result.n_records == 10_002

    anyio.run(scenario)


def test_the_example_in_the_documentation_can_be_imported() -> None:
    page = (Path(__file__).parents[3] / "docs" / "export-format.md").read_text("utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert checked(example.encode()).header.session == "sess_1"
