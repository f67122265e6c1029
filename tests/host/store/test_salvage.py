"""Repairing a store: what is kept, and that a kill at any moment leaves a store."""

import sqlite3
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.agent import Agent
from actors.records import AgentOpened, AgentRole, RecordsSkipped, TurnStop
from host.errors import StoreBusy, StoreDamaged, StoreTooNew
from host.ids import CountingIds
from host.store.examine import examine
from host.store.holder import Holder
from host.store.lease_file import take_lease_file
from host.store.sqlite import SqliteStore
from host.store.store_lock import lease_folder
from providers.scripted import ScriptedProvider, always
from tests.host.hosts import scripted_host
from tests.host.store.broken import (
    CHILDREN,
    PAGE_BYTES,
    Written,
    assert_salvaged,
    change,
    damaged_copies,
    read_artifact,
    read_logs,
    refuses_what_is_no_store,
    repaired,
    written_to,
)
from tests.host.store.samples import ROOT, opened


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def written(store: Path) -> Written:
    return written_to(store, n_records=10)


def test_a_changed_record_becomes_a_marker_and_the_others_stay(store: Path, written: Written) -> None:
    change(
        store,
        "UPDATE records SET data = CAST(replace(data, 'says', 'said') AS BLOB)"
        f" WHERE agent_id = '{ROOT}' AND seq = 5",
    )
    before = store.read_bytes()
    salvage = repaired(store)
    logs = read_logs(store)
    after = logs.pop(ROOT)
    assert isinstance(after, list)
    marker = after[5]
    assert isinstance(marker, RecordsSkipped)
    assert (marker.n_records, marker.at) == (1, 1e9)
    assert "its hash does not follow" in marker.reason
    assert assert_salvaged(written.logs[ROOT], after) == len(after) - 1
    assert logs == {agent_id: log for agent_id, log in written.logs.items() if agent_id != ROOT}
    assert salvage.kept_as.read_bytes() == before
    assert salvage.kept_as.name == "store.db.damaged-2001-09-09T01-46-40Z"


def test_neighbouring_losses_become_one_marker_and_the_end_counts_too(store: Path, written: Written) -> None:
    change(
        store,
        f"DELETE FROM records WHERE agent_id = '{ROOT}' AND seq IN (4, 5, 12)",
        f"UPDATE records SET data = x'00' WHERE agent_id = '{ROOT}' AND seq IN (6, 11)",
    )
    repaired(store)
    after = read_logs(store)[ROOT]
    assert isinstance(after, list)
    found = [(seq, r.n_records) for seq, r in enumerate(after) if isinstance(r, RecordsSkipped)]
    assert found == [(4, 3), (9, 2)]


def test_a_lost_beginning_is_made_again_from_the_listing(store: Path, written: Written) -> None:
    change(store, f"DELETE FROM records WHERE agent_id = '{CHILDREN[0]}' AND seq = 0")
    (agent,) = [one for one in repaired(store).agents if one.is_remade]
    assert agent.agent_id == CHILDREN[0]
    after = read_logs(store)[CHILDREN[0]]
    assert isinstance(after, list)
    first = after[0]
    assert isinstance(first, AgentOpened)
    wanted = opened(CHILDREN[0], ROOT)
    assert (first.name, first.root_id, first.parent_id, first.role) == (
        wanted.name,
        ROOT,
        ROOT,
        AgentRole.SUBAGENT,
    )
    assert (first.spec, first.cwd) == ({}, "/somewhere")  # the folder of its parent
    assert isinstance(after[1], RecordsSkipped)


def test_a_lost_line_of_the_listing_is_made_again_from_the_log(store: Path, written: Written) -> None:
    change(store, f"DELETE FROM agents WHERE agent_id = '{CHILDREN[1]}'")
    assert "the listing has no line" in str(examine(store).damages)
    repaired(store)
    assert read_logs(store) == written.logs


def test_an_agent_of_which_nothing_tells_who_it_was_is_left_out(store: Path, written: Written) -> None:
    change(
        store,
        f"DELETE FROM agents WHERE agent_id = '{CHILDREN[1]}'",
        f"DELETE FROM records WHERE agent_id = '{CHILDREN[1]}' AND seq = 0",
    )
    salvage = repaired(store)
    assert [agent.agent_id for agent in salvage.agents if agent.opened is None] == [CHILDREN[1]]
    assert CHILDREN[1] not in read_logs(store)
    assert examine(store).is_sound


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE agents SET n_records = 3",
        "UPDATE agents SET n_records = 1 << 60",
        "UPDATE agents SET head = x'00'",
        "UPDATE agents SET role = 'king'",
        "UPDATE agents SET root_id = 'nobody' WHERE agent_id = 'a-root'",
        "UPDATE records SET hash = zeroblob(32) WHERE seq = 4",
        "UPDATE records SET hash = zeroblob(32) WHERE seq = 12",
    ],
)
def test_what_only_tells_of_records_costs_none(store: Path, written: Written, statement: str) -> None:
    change(store, statement)
    seen = examine(store)
    assert not seen.is_sound
    assert sum(damage.n_records for damage in seen.damages) == 0
    repaired(store)
    assert read_logs(store) == written.logs


def test_artifacts_are_kept_by_their_hash_and_a_lost_one_is_remembered(store: Path, written: Written) -> None:
    first, second, *_ = written.artifacts
    change(
        store,
        f"UPDATE artifacts SET data = x'00' WHERE artifact_id = '{first}'",
        f"UPDATE artifacts SET artifact_id = 'another' WHERE artifact_id = '{second}'",
    )
    assert repaired(store).lost_artifacts == (first,)
    assert read_artifact(store, first) is None
    assert read_artifact(store, second) == written.artifacts[second]
    seen = examine(store)
    assert (seen.is_sound, seen.n_lost_artifacts, seen.n_artifacts) == (True, 1, len(written.artifacts) - 1)


def test_a_store_of_version_1_is_repaired_into_one_of_today(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes((Path(__file__).parent / "data" / "version-1.db").read_bytes())
    change(path, "UPDATE records SET data = x'00' WHERE seq = 3")
    assert not examine(path).has_hashes
    salvage = repaired(path)
    seen = examine(path)
    assert (seen.is_sound, seen.version, seen.has_hashes) == (True, 2, True)
    assert seen.n_skipped == sum(agent.n_skipped for agent in salvage.agents) > 0


def test_a_store_of_version_1_without_its_first_page_keeps_its_records(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    data = (Path(__file__).parent / "data" / "version-1.db").read_bytes()
    path.write_bytes(bytes(PAGE_BYTES) + data[PAGE_BYTES:])
    salvage = repaired(path)
    assert [agent.n_skipped for agent in salvage.agents] == [0, 0, 0]
    assert sum(agent.n_kept for agent in salvage.agents) == 57


def test_pages_below_a_lost_page_are_found(store: Path) -> None:
    written_to(store.with_name("larger.db"), n_records=200)
    data = bytearray(store.with_name("larger.db").read_bytes())
    connection = sqlite3.connect(store.with_name("larger.db"))
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'records'").fetchone()
    connection.close()
    data[(root - 1) * PAGE_BYTES : root * PAGE_BYTES] = bytes(PAGE_BYTES)
    store.write_bytes(data)
    n_skipped = sum(agent.n_skipped for agent in repaired(store).agents)
    assert n_skipped < 10, "only what the page itself held may be lost"
    assert examine(store).is_sound


# Who may repair


def test_a_store_in_use_is_not_repaired(store: Path, written: Written) -> None:
    async def main() -> None:
        async with SqliteStore(store):
            with pytest.raises(StoreBusy):
                repaired(store)

    anyio.run(main)
    assert damaged_copies(store) == []


def test_a_session_that_an_older_program_writes_keeps_the_store_from_being_repaired(
    store: Path, written: Written
) -> None:
    held = take_lease_file(lease_folder(store), Holder(ROOT, 1, 1.0))
    with pytest.raises(StoreBusy):
        repaired(store)
    held.release()
    repaired(store)


def test_what_is_no_store_is_not_repaired(store: Path) -> None:
    refuses_what_is_no_store(repaired, store)
    assert [
        path.name for path in store.parent.iterdir() if "damaged" in path.name or "repairing" in path.name
    ] == []


def test_a_newer_store_is_left_alone(store: Path, written: Written) -> None:
    change(store, "UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    before = store.read_bytes()
    with pytest.raises(StoreTooNew, match="99"):
        repaired(store)
    assert store.read_bytes() == before


# And then


def test_a_repaired_session_goes_on(store: Path, real_backend: str) -> None:
    """Killed in a turn, damaged in the middle, repaired, resumed, asked, closed and found sound."""
    provider = ScriptedProvider(always("Yes."))

    async def live() -> AgentId:
        async with scripted_host(provider, store=SqliteStore(store)) as host:
            session = await host.start(Agent("ann", instructions="Say yes."))
            for number in range(3):
                await session.ask(f"question {number}")
            return session.id

    async def go_on(root: AgentId) -> None:
        async with scripted_host(provider, store=SqliteStore(store), ids=ids) as host:
            session = await host.resume(root)
            assert await session.ask("And now?") == "Yes."
            last = session.fold.last_turn
            assert last is not None
            assert last.stop is TurnStop.DONE

    root = anyio.run(live, backend=real_backend)
    ids = CountingIds()
    for _ in range(1_000):
        ids.new("")
    change(store, "UPDATE records SET data = x'00' WHERE kind = 'turn_ended' AND seq < 20")
    with pytest.raises(StoreDamaged, match="record"):
        anyio.run(go_on, root, backend=real_backend)
    assert sum(agent.n_skipped for agent in repaired(store).agents) > 0
    anyio.run(go_on, root, backend=real_backend)
    assert "could not be read back" in str(provider.requests[-1].messages)
    assert examine(store).is_sound
