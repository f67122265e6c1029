"""A repair that is stopped at any moment leaves the damaged store or the new one."""

import os
import random
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from actors.records import RecordsSkipped
from host.errors import StoreDamaged
from host.store.examine import examine
from host.store.replacing import NewStore, replace_store
from host.store.schema import open_database
from tests.host.store.broken import assert_salvaged, change, damaged_copies, read_logs, repaired, written_to
from tests.host.store.samples import OTHER, ROOT


def hurt(store: Path) -> bytes:
    """Damages the store's file, beside which a write-ahead log stays that counts; gives the file."""
    change(store, f"UPDATE records SET data = x'00' WHERE agent_id = '{ROOT}' AND seq = 5")
    connection = open_database(store)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"UPDATE records SET data = x'00' WHERE agent_id = '{OTHER}' AND seq = 5")
    wal = store.with_name("store.db-wal")
    data, log = store.read_bytes(), wal.read_bytes()
    connection.close()
    store.write_bytes(data)
    wal.write_bytes(log)
    return data


def is_repaired(store: Path) -> bool:
    """Whether the store is the new one; it is the new one or the damaged one, as a store opens it."""
    logs = read_logs(store)
    log = logs[ROOT]
    if isinstance(log, StoreDamaged):
        assert log.seq == 5
        assert isinstance(logs[OTHER], StoreDamaged), "its write-ahead log is lost"
        return False
    assert isinstance(log, list)
    assert isinstance(log[5], RecordsSkipped)
    seen = examine(store)
    assert seen.is_sound, seen.damages
    return True


@pytest.mark.parametrize("is_empty", [False, True])
def test_a_stop_between_any_two_steps_leaves_the_old_store_or_the_new(tmp_path: Path, is_empty: bool) -> None:
    n_steps, answers = 0, []
    while n_steps < 20:
        path = tmp_path / str(n_steps) / "store.db"
        path.parent.mkdir()
        written_to(path, n_records=10)
        data = hurt(path)
        if is_empty:
            path.write_bytes(b"")
        new = NewStore.beside(path)
        make_new(path.parent / "elsewhere", new)
        kept = path.with_name("store.db.damaged-then")
        steps = replace_store(path, new, kept)
        done = [step for _, step in zip(range(n_steps), steps, strict=False)]
        steps.close()  # type: ignore[attr-defined]  # a generator is
        if n_steps:
            assert kept.read_bytes() == (b"" if is_empty else data)
            assert kept.with_name(f"{kept.name}-wal").stat().st_size > 0
        is_there = "the log of the new store is in place" in done
        if is_there or not is_empty:  # before, there is nothing in its place that could be read
            answers.append(is_repaired(path))
        if len(done) < n_steps:
            break
        n_steps += 1
    assert answers == sorted(answers), "once it is the new one, it stays so"
    assert answers[-1]
    if not is_empty:
        assert not answers[0]


def make_new(folder: Path, new: NewStore) -> None:
    """The store that a repair makes, at its place before the change."""
    folder.mkdir()
    path = folder / "store.db"
    written_to(path, n_records=10)
    hurt(path)
    repaired(path)
    source = sqlite3.connect(path)
    connection = open_database(new.file)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    for table in ("agents", "records", "artifacts", "leases"):
        rows = source.execute(f"SELECT * FROM {table}").fetchall()
        places = ", ".join("?" for _ in rows[0])
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
    source.close()
    new.finish(connection)


@pytest.mark.parametrize("n_kills", [6, pytest.param(150, marks=pytest.mark.slow)])
def test_a_killed_repair_leaves_the_old_store_or_the_new_and_loses_nothing(
    tmp_path: Path, n_kills: int
) -> None:
    dice = random.Random(n_kills)
    store = tmp_path / "store.db"
    written = written_to(store, n_records=10)
    damaged = hurt(store)
    wal = store.with_name("store.db-wal").read_bytes()
    outcomes = set()
    for _ in range(n_kills):
        for path in tmp_path.glob("store.db*"):
            if path.is_file():
                path.unlink()
        store.write_bytes(damaged)
        store.with_name("store.db-wal").write_bytes(wal)
        kill_repair_after(dice.uniform(0, 0.15), store)
        originals = [store, *damaged_copies(store)]
        assert damaged in [path.read_bytes() for path in originals], "the damaged file is gone"
        outcomes.add(is_repaired(store))
        if False in outcomes:
            repaired(store)
        after = read_logs(store)[ROOT]
        assert isinstance(after, list)
        assert_salvaged(written.logs[ROOT], after)
    assert outcomes


def kill_repair_after(delay_s: float, store: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            repaired(store)
        finally:
            os._exit(0)
    time.sleep(delay_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
