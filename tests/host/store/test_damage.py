"""Real files with real damage: a typed error or what was written, never anything else; and what comes back.

A failing case is replayed by the seed or place in its message.
"""

import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.records import Record
from host.errors import StoreDamaged, StoreError, StoreUnavailable
from host.store.examine import examine
from host.store.sqlite import SqliteStore
from tests.host.store.broken import (
    PAGE_BYTES,
    Written,
    assert_salvaged,
    counted_by_key,
    intact_by_key,
    put_beside,
    read_artifact,
    read_logs,
    repaired,
    written_to,
)
from tests.host.store.samples import OTHER, ROOT, opened, said

_FRAME_BYTES = 24 + PAGE_BYTES
_WAL_HEADER_BYTES = 32
N_CHUNKS = 60


@dataclass(frozen=True)
class Killed:
    """The files of a store whose process was killed, and the records in the order of their transactions."""

    data: bytes
    wal: bytes
    records: tuple[tuple[AgentId, Record], ...]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """One transaction a record; all of them are in the write-ahead log only."""
    path = tmp_path_factory.mktemp("killed") / "store.db"
    written: list[tuple[AgentId, Record]] = []

    async def main() -> tuple[bytes, bytes]:
        async with SqliteStore(path) as store, await store.lease(ROOT), await store.lease(OTHER):
            logs = {}
            for agent_id in (ROOT, OTHER):
                logs[agent_id] = await store.create(first := opened(agent_id))
                written.append((agent_id, first))
            for number in range(4):
                agent_id = (ROOT, OTHER)[number % 2]
                (record,) = said(f"{number} " + "word " * 100 * number)
                logs[agent_id].submit((record,), lambda _: None)
                await store.flush()
                written.append((agent_id, record))
            return path.read_bytes(), path.with_name("store.db-wal").read_bytes()

    data, wal = anyio.run(main)
    return Killed(data, wal, tuple(written))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Written]:
    """A store that was closed, and what it holds."""
    path = tmp_path_factory.mktemp("whole") / "store.db"
    written = written_to(path)
    return path.read_bytes(), written


def assert_prefix(path: Path, killed: Killed) -> int:
    """The store holds exactly the first transactions; gives how many records that are."""
    logs = read_logs(path)
    n_found = 0
    for log in logs.values():
        assert not isinstance(log, StoreError), log
        n_found += len(log)
    first: dict[AgentId, list[Record]] = {}
    for agent_id, record in killed.records[:n_found]:
        first.setdefault(agent_id, []).append(record)
    assert logs == first
    return n_found


def assert_prefixes(path: Path, killed: Killed, lengths: Iterable[int]) -> int:
    """Gives how many records the longest of these logs has."""
    n_before = 0
    for length in lengths:
        n_found = assert_prefix(put_beside(path, killed.data, killed.wal[:length]), killed)
        assert n_found >= n_before, f"fewer records with {length} bytes of the log than with less"
        n_before = n_found
    return n_before


def around_frames(killed: Killed) -> Iterator[int]:
    """The lengths at which a frame begins or ends, or its header does, and one byte to either side."""
    for frame in range((len(killed.wal) - _WAL_HEADER_BYTES) // _FRAME_BYTES + 1):
        begin = _WAL_HEADER_BYTES + frame * _FRAME_BYTES
        yield from (begin - 1, begin, begin + 1, begin + 23, begin + 24, begin + 2_000)


def test_a_log_that_was_cut_off_gives_back_a_prefix_of_the_transactions(
    tmp_path: Path, killed: Killed
) -> None:
    n_found = assert_prefixes(tmp_path / "store.db", killed, (*around_frames(killed), len(killed.wal)))
    assert n_found == len(killed.records)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_a_log_cut_at_every_byte_gives_back_a_prefix(tmp_path: Path, killed: Killed, chunk: int) -> None:
    size = len(killed.wal) // N_CHUNKS + 1
    lengths = range(chunk * size, min((chunk + 1) * size, len(killed.wal) + 1))
    assert_prefixes(tmp_path / "store.db", killed, lengths)


@pytest.mark.parametrize("n_cases", [60, pytest.param(3_000, marks=pytest.mark.slow)])
def test_flipped_bits_in_a_log_give_back_a_prefix(tmp_path: Path, killed: Killed, n_cases: int) -> None:
    dice = random.Random(n_cases)
    for _ in range(n_cases):
        wal = flipped(killed.wal, dice, n_bits=dice.choice((1, 1, 5, 100)))
        with suppress(StoreError):  # the header of a log of a newer kind, say
            assert_prefix(put_beside(tmp_path / "store.db", killed.data, wal), killed)


def test_the_log_of_another_store_beside_it_never_gives_wrong_records(
    tmp_path: Path, killed: Killed, whole: tuple[bytes, Written]
) -> None:
    data, written = whole
    path = put_beside(tmp_path / "store.db", data, killed.wal)
    others: dict[AgentId, list[Record]] = {}
    for agent_id, record in killed.records:
        others.setdefault(agent_id, []).append(record)
    try:
        logs = read_logs(path)
    except StoreError:
        return
    for agent_id, log in logs.items():
        assert isinstance(log, StoreError) or log in (written.logs.get(agent_id), others.get(agent_id))


def flipped(data: bytes, dice: random.Random, *, n_bits: int, first: int = 0) -> bytes:
    damaged = bytearray(data)
    for _ in range(n_bits):
        damaged[dice.randrange(first, len(data))] ^= 1 << dice.randrange(8)
    return bytes(damaged)


def assert_true_or_typed(path: Path, written: Written) -> None:
    """Every log and artifact is what was written or a typed error."""
    try:
        logs = read_logs(path)
    except (StoreDamaged, StoreUnavailable):
        return
    for agent_id, log in logs.items():
        if not isinstance(log, StoreError):
            assert log == written.logs.get(agent_id), f"wrong records of {agent_id}"
    for artifact_id, data in written.artifacts.items():
        with suppress(StoreDamaged, StoreUnavailable):
            assert read_artifact(path, artifact_id) in (data, None)


def assert_repaired(path: Path, written: Written) -> None:
    """What can be read by key comes back at its place, and the new store is sound."""
    intact, counted = intact_by_key(path, written.logs), counted_by_key(path, written.logs)
    if not any(intact.values()):
        with suppress(StoreDamaged):
            repaired(path)
        return
    salvage = repaired(path)
    logs = read_logs(path)
    # Nothing tells any more who they are, and that is said.
    left_out = {agent.agent_id for agent in salvage.agents if agent.opened is None}
    for agent_id, before in written.logs.items():
        after = logs.get(agent_id)
        assert after is None or not isinstance(after, StoreError), after
        if after is None and agent_id in left_out:
            continue
        is_counted = agent_id in counted
        n_kept = 0 if after is None else assert_salvaged(before, after, is_counted=is_counted)
        assert n_kept >= intact[agent_id], agent_id
    for artifact_id, data in written.artifacts.items():
        found = read_artifact(path, artifact_id)
        assert found in (data, None)
        is_known = found is not None or artifact_id in salvage.lost_artifacts
        assert is_known or artifact_id not in str(logs)
    seen = examine(path)
    assert seen.is_sound, seen.damages


def pages_zeroed(data: bytes, step: int = 1) -> Iterator[tuple[str, bytes]]:
    for page in range(0, len(data) // PAGE_BYTES, step):
        begin = page * PAGE_BYTES
        yield f"page {page}", data[:begin] + bytes(PAGE_BYTES) + data[begin + PAGE_BYTES :]


def nul_runs(data: bytes, dice: random.Random, n_cases: int) -> Iterator[tuple[str, bytes]]:
    for _ in range(n_cases):
        begin, length = dice.randrange(len(data)), dice.choice((1, 16, 512, 5_000, 40_000))
        end = min(begin + length, len(data))
        yield f"NUL from {begin} to {end}", data[:begin] + bytes(end - begin) + data[end:]


def bits_flipped(data: bytes, dice: random.Random, n_cases: int) -> Iterator[tuple[str, bytes]]:
    for case in range(n_cases):
        n_bits = dice.choice((1, 3, 30, 300))
        yield f"case {case}, {n_bits} bits", flipped(data, dice, n_bits=n_bits, first=dice.choice((0, 100)))


def cut(data: bytes, dice: random.Random, n_cases: int) -> Iterator[tuple[str, bytes]]:
    for _ in range(n_cases):
        length = dice.choice(
            (dice.randrange(len(data)), PAGE_BYTES * dice.randrange(len(data) // PAGE_BYTES))
        )
        yield f"cut at {length}", data[:length]


def damages(data: bytes, n_cases: int, step: int) -> Iterator[tuple[str, bytes]]:
    dice = random.Random(n_cases)
    yield from pages_zeroed(data, step)
    yield from nul_runs(data, dice, n_cases)
    yield from bits_flipped(data, dice, n_cases)
    yield from cut(data, dice, n_cases // 3)


@pytest.mark.parametrize("n_cases", [60, pytest.param(2_000, marks=pytest.mark.slow)])
def test_a_damaged_file_gives_typed_errors_or_what_was_written(
    tmp_path: Path, whole: tuple[bytes, Written], n_cases: int
) -> None:
    data, written = whole
    for what, damaged in damages(data, n_cases, 1):
        path = put_beside(tmp_path / "store.db", damaged)
        try:
            assert_true_or_typed(path, written)
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error


@pytest.mark.parametrize(
    ("n_cases", "step"), [(6, 7), *(pytest.param(n, 4, marks=pytest.mark.slow) for n in range(60, 70))]
)
def test_a_repair_brings_back_what_can_be_read_by_key(
    tmp_path: Path, whole: tuple[bytes, Written], n_cases: int, step: int
) -> None:
    data, written = whole
    for what, damaged in damages(data, n_cases, step):
        path = put_beside(tmp_path / "store.db", damaged)
        try:
            assert_repaired(path, written)
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error


def test_a_page_of_a_log_takes_only_its_own_records_with_it(
    tmp_path: Path, whole: tuple[bytes, Written]
) -> None:
    data, written = whole
    n_records = sum(map(len, written.logs.values()))
    page = data.index(b"a-root says 30: ") // PAGE_BYTES
    path = put_beside(tmp_path / "store.db", dict(pages_zeroed(data))[f"page {page}"])
    salvage = repaired(path)
    n_skipped = sum(agent.n_skipped for agent in salvage.agents)
    assert 0 < n_skipped < 40
    assert sum(agent.n_kept for agent in salvage.agents) == n_records - n_skipped


def test_the_first_page_may_be_lost(tmp_path: Path, whole: tuple[bytes, Written]) -> None:
    data, written = whole
    path = put_beside(tmp_path / "store.db", bytes(PAGE_BYTES) + data[PAGE_BYTES:])
    assert examine(path).damages[0].what.startswith("the first page of the file is lost")
    repaired(path)
    assert read_logs(path) == written.logs


def test_a_file_without_its_tables_is_no_empty_store(tmp_path: Path, whole: tuple[bytes, Written]) -> None:
    data, written = whole
    path = put_beside(tmp_path / "store.db", data[:103] + bytes(2) + data[105:])  # the number of the tables
    with pytest.raises(StoreDamaged, match="its tables are lost"):
        read_logs(path)
    repaired(path)
    assert read_logs(path) == written.logs


def test_a_file_cut_to_nothing_still_has_its_log(tmp_path: Path, killed: Killed) -> None:
    path = put_beside(tmp_path / "store.db", b"", killed.wal)
    repaired(path)
    assert_prefix(path, killed)
    assert sum(len(log) for log in read_logs(path).values() if isinstance(log, list)) == len(killed.records)
