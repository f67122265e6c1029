"""What SQLite reads without a complaint, and the chain of hashes does not take."""

import sqlite3
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.address import AgentId
from host.errors import StoreDamaged
from host.store.chain import checked, first_link, link
from host.store.codec import EncodedRecord, decode_log, encode_record
from host.store.sqlite import SqliteStore
from tests.host.store.samples import OTHER, ROOT, opened, said, texts_of

N_RECORDS = 6
RECORDS = [encode_record(record) for record in (opened(), *said(*"abcde"))]

Log = tuple[list[tuple[int, EncodedRecord]], list[bytes], bytes]


def log_of(agent_id: AgentId = ROOT, records: list[EncodedRecord] = RECORDS) -> Log:
    """The rows of a log, the hash of each, and the head."""
    hashes, last = [], first_link(agent_id)
    for record in records:
        last = link(last, record)
        hashes.append(last)
    return list(enumerate(records)), hashes, last


def load(log: Log, n_records: int = N_RECORDS) -> None:
    rows, hashes, head = log
    decode_log(ROOT, n_records, checked(ROOT, n_records, head, rows, hashes))


def damage(log: Log, n_records: int = N_RECORDS) -> tuple[int | None, str]:
    with pytest.raises(StoreDamaged, match=f"of agent {ROOT}") as damaged:
        load(log, n_records)
    assert damaged.value.agent_id == ROOT
    return damaged.value.seq, str(damaged.value)


def test_a_log_that_nobody_touched_is_taken() -> None:
    load(log_of())


@given(st.integers(0, N_RECORDS - 1), st.integers(min_value=0))
def test_a_record_that_differs_by_one_bit_is_named(seq: int, bit: int) -> None:
    rows, hashes, head = log_of()
    record = rows[seq][1]
    data = bytearray(record.data)
    bit %= len(data) * 8
    data[bit // 8] ^= 1 << bit % 8
    rows[seq] = seq, EncodedRecord(record.kind, record.version, bytes(data))
    found, text = damage((rows, hashes, head))
    assert found == seq
    assert "is not what was written" in text


@pytest.mark.parametrize("change", [("turn_ended", 1), ("state_changed", 2)])
def test_kind_and_version_are_covered(change: tuple[str, int]) -> None:
    rows, hashes, head = log_of()
    rows[3] = 3, EncodedRecord(*change, rows[3][1].data)
    assert damage((rows, hashes, head))[0] == 3


@given(st.integers(0, N_RECORDS * 256 - 1))
def test_a_hash_that_differs_by_one_bit_is_named(bit: int) -> None:
    rows, hashes, head = log_of()
    seq, bit = divmod(bit, 256)
    changed = bytearray(hashes[seq])
    changed[bit // 8] ^= 1 << bit % 8
    hashes[seq] = bytes(changed)
    assert damage((rows, hashes, head))[0] == seq


@pytest.mark.parametrize("with_hashes", [True, False])
@given(places=st.sets(st.integers(1, N_RECORDS - 1), min_size=2, max_size=2))
def test_two_swapped_records_are_found_at_the_first(places: set[int], with_hashes: bool) -> None:
    rows, hashes, head = log_of()
    one, two = sorted(places)
    rows[one], rows[two] = (one, rows[two][1]), (two, rows[one][1])
    if with_hashes:
        hashes[one], hashes[two] = hashes[two], hashes[one]
    assert damage((rows, hashes, head))[0] == one


@given(st.integers(0, N_RECORDS - 1))
def test_a_missing_record_is_named_even_where_the_count_was_lowered(seq: int) -> None:
    rows, hashes, head = log_of()
    del rows[seq], hashes[seq]
    found, text = damage((rows, hashes, head))
    assert (found, "missing" in text) == (seq, True)
    found, text = damage((rows, hashes, head), N_RECORDS - 1)
    last_that_is_left = N_RECORDS - 2
    assert found == min(seq, last_that_is_left)
    assert ("missing" in text) is (seq < N_RECORDS - 1)


@given(st.integers(1, N_RECORDS - 1))
def test_records_that_close_up_over_a_missing_one_are_found(seq: int) -> None:
    rows, hashes, head = log_of()
    del rows[seq], hashes[seq]
    closed_up = list(enumerate(record for _, record in rows))
    found, _ = damage((closed_up, hashes, head), N_RECORDS - 1)
    assert found == min(seq, N_RECORDS - 2)


def test_records_behind_the_last_are_too_many() -> None:
    rows, hashes, head = log_of()
    more = link(head, RECORDS[1])
    found, text = damage(([*rows, (N_RECORDS, RECORDS[1])], [*hashes, more], head))
    assert (found, "should have 6" in text) == (N_RECORDS, True)


def test_a_tail_with_hashes_of_its_own_is_not_the_one_of_the_listing() -> None:
    *_, head = log_of()
    other = [*RECORDS[:4], RECORDS[1], RECORDS[2]]
    rows, hashes, _ = log_of(records=other)
    found, text = damage((rows, hashes, head))
    assert (found, "does not end as it was written" in text) == (N_RECORDS - 1, True)


def test_a_whole_log_of_another_agent_is_refused_at_its_beginning() -> None:
    assert damage(log_of(OTHER))[0] == 0


def test_a_lost_hash_or_head_is_damage() -> None:
    rows, hashes, head = log_of()
    with pytest.raises(StoreDamaged):
        decode_log(ROOT, N_RECORDS, checked(ROOT, N_RECORDS, None, rows, hashes))
    with pytest.raises(StoreDamaged):
        decode_log(ROOT, N_RECORDS, checked(ROOT, N_RECORDS, head, rows, [*hashes[:5], None]))


# --- in a file


async def write_two(path: Path) -> None:
    """Two logs of `N_RECORDS`, each in several transactions."""
    async with SqliteStore(path) as store, await store.lease(ROOT), await store.lease(OTHER):
        for agent_id in (ROOT, OTHER):
            log = await store.create(opened(agent_id))
            log.submit(said("a", "b"), lambda _: None)
            await store.flush()
            log.submit(said("c", "d"), lambda _: None)
            log.submit(said("e"), lambda _: None)
    async with SqliteStore(path) as store, await store.lease(ROOT):
        store.writer(ROOT, N_RECORDS).submit(said("f"), lambda _: None)


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
    connection.close()


async def damage_in(path: Path, agent_id: AgentId) -> int | None:
    async with SqliteStore(path) as store:
        try:
            await store.load(agent_id)
        except StoreDamaged as damaged:
            return damaged.seq if damaged.agent_id == agent_id else -1
    return None


def test_every_record_has_the_hash_of_the_chain_and_the_agent_its_last(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_two, path)
    connection = sqlite3.connect(path)
    for agent_id, head in connection.execute("SELECT agent_id, head FROM agents").fetchall():
        last = first_link(agent_id)
        rows = connection.execute(
            "SELECT kind, version, data, hash FROM records WHERE agent_id = ? ORDER BY seq", (agent_id,)
        )
        for *columns, found in rows:
            last = link(last, EncodedRecord(*columns))
            assert found == last
        assert head == last
    connection.close()


DAMAGES: dict[str, tuple[tuple[str, ...], int | None, int | None]] = {
    "a changed record": (
        (
            "UPDATE records SET data = CAST(replace(CAST(data AS TEXT), '\"c\"', '\"C\"') AS BLOB)"
            " WHERE agent_id = 'a-root' AND seq = 3",
        ),
        3,
        None,
    ),
    "two swapped records": (
        (
            "UPDATE records SET seq = 99 WHERE agent_id = 'a-root' AND seq = 2",
            "UPDATE records SET seq = 2 WHERE agent_id = 'a-root' AND seq = 4",
            "UPDATE records SET seq = 4 WHERE agent_id = 'a-root' AND seq = 99",
        ),
        2,
        None,
    ),
    "a record moved to another agent": (
        ("UPDATE records SET agent_id = 'a-other', seq = 6 WHERE agent_id = 'a-root' AND seq = 6",),
        6,
        6,
    ),
    "a record moved together with the counts": (
        (
            "UPDATE records SET agent_id = 'a-other', seq = 6 WHERE agent_id = 'a-root' AND seq = 6",
            "UPDATE agents SET n_records = CASE agent_id WHEN 'a-root' THEN 6 ELSE 7 END",
        ),
        5,
        6,
    ),
    "the last record deleted and the count lowered": (
        (
            "DELETE FROM records WHERE agent_id = 'a-root' AND seq = 6",
            "UPDATE agents SET n_records = 6 WHERE agent_id = 'a-root'",
        ),
        5,
        None,
    ),
    "a head of another log": (
        (
            "UPDATE agents SET head = (SELECT head FROM agents WHERE agent_id = 'a-other')"
            " WHERE agent_id = 'a-root'",
        ),
        6,
        None,
    ),
    "a lost head": (("UPDATE agents SET head = NULL WHERE agent_id = 'a-other'",), None, 5),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_in_a_file_is_found_and_the_other_log_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "store.db"
    statements, in_root, in_other = DAMAGES[name]
    anyio.run(write_two, path)
    change(path, *statements)
    assert anyio.run(damage_in, path, ROOT) == in_root
    assert anyio.run(damage_in, path, OTHER) == in_other


def test_what_is_written_behind_a_damaged_head_stays_damaged(tmp_path: Path) -> None:
    """A writer goes on with the head that it finds: nothing makes the log look whole again."""
    path = tmp_path / "store.db"
    anyio.run(write_two, path)
    change(path, "UPDATE agents SET head = x'00' WHERE agent_id = 'a-root'")

    async def go_on() -> None:
        async with SqliteStore(path) as store, await store.lease(ROOT):
            store.writer(ROOT, N_RECORDS + 1).submit(said("g"), lambda _: None)

    anyio.run(go_on)
    assert anyio.run(damage_in, path, ROOT) == N_RECORDS + 1


def test_a_refused_submission_leaves_the_chain_whole(tmp_path: Path, real_backend: str) -> None:
    """In one transaction with others, before and behind it."""
    path = tmp_path / "store.db"

    async def main() -> None:
        async with SqliteStore(path) as store, await store.lease(ROOT), await store.lease(OTHER):
            log, other = await store.create(opened()), await store.create(opened(OTHER))
            zombie = store.writer(OTHER, 9)
            for number in range(50):
                log.submit(said(f"{number}"), lambda _: None)
                store.submit_many(((other, said("both")), (zombie, said("never"))), lambda _: None)
                other = store.writer(OTHER, 1)
            assert len(texts_of(await store.load(ROOT))) == 50
            assert texts_of(await store.load(OTHER)) == []

    anyio.run(main, backend=real_backend)
