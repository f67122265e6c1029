"""What is said of a store, sound or damaged, and that saying it changes nothing."""

import sqlite3
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.history import EntryId
from actors.records import RecordsSkipped
from host.errors import StoreDamaged, StoreTooNew
from host.store.examine import Damage, examine
from host.store.sqlite import SqliteStore
from tests.host.store.broken import (
    CHILDREN,
    PAGE_BYTES,
    Written,
    change,
    refuses_what_is_no_store,
    written_to,
)
from tests.host.store.samples import OTHER, ROOT, said


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def written(store: Path) -> Written:
    return written_to(store, n_records=10)


def damages_of(store: Path) -> list[tuple[AgentId | None, int | None, str]]:
    return [(damage.agent_id, damage.seq, damage.what) for damage in examine(store).damages]


def test_a_sound_store_is_counted(store: Path, written: Written) -> None:
    seen = examine(store)
    assert seen.is_sound
    assert (seen.n_sessions, seen.n_agents, seen.version, seen.has_hashes) == (2, 6, 2, True)
    assert seen.n_records == sum(map(len, written.logs.values()))
    assert seen.n_artifacts == len(written.artifacts)
    assert seen.size_bytes == store.stat().st_size


def test_looking_changes_no_byte_of_the_file_and_its_log(store: Path, written: Written) -> None:
    connection = sqlite3.connect(store)
    connection.execute("UPDATE records SET data = x'00' WHERE seq = 5")
    connection.commit()
    wal = store.with_name("store.db-wal")
    before = store.read_bytes(), wal.read_bytes()
    assert not examine(store).is_sound
    assert (store.read_bytes(), wal.read_bytes()) == before
    connection.close()
    store.write_bytes(b"")
    wal.write_bytes(before[1])
    with pytest.raises(StoreDamaged):
        examine(store)
    assert wal.read_bytes() == before[1], "SQLite deletes a log beside a file of no length"


def test_a_store_at_work_is_sound(store: Path, written: Written) -> None:
    async def main() -> None:
        async with SqliteStore(store) as opened_store, await opened_store.lease(ROOT):
            log = opened_store.writer(ROOT, (await opened_store.load(ROOT)).next_seq)
            log.submit(said("more"), lambda _: None)
            await opened_store.flush()
            assert examine(store).is_sound

    anyio.run(main)


@pytest.mark.parametrize(
    ("statement", "seq", "what", "n_records"),
    [
        ("DELETE FROM records WHERE agent_id = 'a-root' AND seq IN (4, 5)", 4, "not there", 2),
        ("DELETE FROM records WHERE agent_id = 'a-root' AND seq = 12", 12, "not there", 1),
        ("UPDATE records SET data = x'00' WHERE agent_id = 'a-root' AND seq = 4", 4, "was changed", 1),
        ("UPDATE records SET kind = 'x' WHERE agent_id = 'a-root' AND seq = 4", 4, "was changed", 1),
        ("UPDATE records SET version = 7 WHERE agent_id = 'a-root' AND seq = 4", 4, "was changed", 1),
        (
            "UPDATE records SET hash = zeroblob(32) WHERE agent_id = 'a-root' AND seq = 4",
            None,
            "record 4 is as",
            0,
        ),
        (
            "UPDATE agents SET n_records = 4 WHERE agent_id = 'a-root'",
            None,
            "counts 4 records, the log has 13",
            0,
        ),
        (
            "UPDATE agents SET head = zeroblob(32) WHERE agent_id = 'a-root'",
            None,
            "hash of the last record",
            0,
        ),
        ("UPDATE agents SET head = NULL WHERE agent_id = 'a-root'", None, "cannot be read: head", 0),
        (
            "UPDATE agents SET name = 'ann' WHERE agent_id = 'a-root'",
            None,
            "does not fit its first record: name",
            0,
        ),
        (
            "UPDATE agents SET role = 'king' WHERE agent_id = 'a-root'",
            None,
            "its line in the listing cannot",
            0,
        ),
        ("DELETE FROM agents WHERE agent_id = 'a-root'", None, "the listing has no line of this agent", 0),
        ("UPDATE records SET seq = 99 WHERE agent_id = 'a-root' AND seq = 12", None, "rows claim places", 0),
    ],
)
def test_each_damage_is_named_with_its_place(
    store: Path, written: Written, statement: str, seq: int | None, what: str, n_records: int
) -> None:
    change(store, statement)
    found = [damage for damage in examine(store).damages if what in damage.what]
    assert [(d.agent_id, d.seq, d.n_records) for d in found] == [(ROOT, seq, n_records)]


def test_a_damage_tells_session_and_kind(store: Path, written: Written) -> None:
    change(store, f"UPDATE records SET data = x'00' WHERE agent_id = '{CHILDREN[0]}' AND seq = 4")
    (damage,) = examine(store).damages
    wanted = Damage(damage.what, CHILDREN[0], "name-of-a-root", 4, "state_changed", 1)
    assert damage == wanted


def test_the_record_behind_a_changed_one_is_good(store: Path, written: Written) -> None:
    change(store, f"UPDATE records SET data = x'00' WHERE agent_id = '{ROOT}' AND seq IN (4, 6)")
    assert [seq for _, seq, _ in damages_of(store)] == [4, 6]


def test_a_record_of_another_log_in_its_place_is_a_changed_one(store: Path, written: Written) -> None:
    change(
        store,
        f"DELETE FROM records WHERE agent_id = '{ROOT}' AND seq = 4",
        f"UPDATE records SET agent_id = '{ROOT}' WHERE agent_id = '{OTHER}' AND seq = 4",
    )
    found = damages_of(store)
    assert [(agent_id, seq) for agent_id, seq, _ in found] == [(ROOT, 4), (OTHER, 4)]
    assert "was changed" in found[0][2]


def test_children_without_their_parent_are_told(store: Path, written: Written) -> None:
    change(
        store,
        f"DELETE FROM agents WHERE agent_id = '{ROOT}'",
        f"DELETE FROM records WHERE agent_id = '{ROOT}'",
    )
    found = damages_of(store)
    assert {agent_id for agent_id, _, what in found if what == f"its parent {ROOT} is not there"} == set(
        CHILDREN
    )


def test_artifacts_that_are_changed_or_gone_are_told(store: Path, written: Written) -> None:
    first, second, *_ = written.artifacts
    change(
        store,
        f"UPDATE artifacts SET data = x'00' WHERE artifact_id = '{first}'",
        f"DELETE FROM artifacts WHERE artifact_id = '{second}'",
    )
    found = damages_of(store)
    assert f"artifact {first} was changed" in str(found)
    assert f"artifact {second}, to which a record refers, is not there" in str(found)


def test_a_hash_that_is_no_reference_is_no_missing_artifact(store: Path, written: Written) -> None:
    async def main() -> None:
        async with SqliteStore(store) as opened_store, await opened_store.lease(ROOT):
            log = opened_store.writer(ROOT, (await opened_store.load(ROOT)).next_seq)
            log.submit(said(f"sha256 {'ab' * 32}", f'quoted "artifact_id":"{"ab" * 32}"'), lambda _: None)

    anyio.run(main)
    assert examine(store).is_sound


def test_what_sqlite_finds_is_told(store: Path, written: Written) -> None:
    data = bytearray(store.read_bytes())
    connection = sqlite3.connect(store)
    (page,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'agents_by_root'"
    ).fetchone()
    connection.close()
    data[(page - 1) * PAGE_BYTES : page * PAGE_BYTES] = bytes(PAGE_BYTES)
    store.write_bytes(data)
    assert damages_of(store)[0][2].startswith("SQLite says: ")


def test_markers_of_an_earlier_repair_are_no_damage(store: Path, written: Written) -> None:
    async def main() -> None:
        async with SqliteStore(store) as opened_store, await opened_store.lease(ROOT):
            log = opened_store.writer(ROOT, (await opened_store.load(ROOT)).next_seq)
            log.submit((RecordsSkipped(7, "lost", EntryId("m"), 1.0),), lambda _: None)

    anyio.run(main)
    seen = examine(store)
    assert (seen.is_sound, seen.n_skipped) == (True, 7)


def test_a_store_of_version_1_is_examined_as_far_as_it_tells(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes((Path(__file__).parent / "data" / "version-1.db").read_bytes())
    seen = examine(path)
    assert (seen.is_sound, seen.version, seen.has_hashes) == (True, 1, False)
    change(path, "DELETE FROM records WHERE seq = 3", "UPDATE records SET data = x'00' WHERE seq = 5")
    reasons = {(damage.seq, damage.what.partition(":")[0]) for damage in examine(path).damages}
    assert (3, "not there") in reasons
    assert any(seq == 5 for seq, _ in reasons)


def test_what_is_no_store_is_an_error(store: Path) -> None:
    refuses_what_is_no_store(examine, store)
    store.write_bytes(b"")
    assert examine(store).is_sound


def test_a_newer_store_is_not_judged(store: Path, written: Written) -> None:
    change(store, "UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(StoreTooNew, match="99"):
        examine(store)
