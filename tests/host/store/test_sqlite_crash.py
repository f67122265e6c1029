"""Processes that die and processes that share: what was acknowledged is there, one writer a session."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from host.errors import SessionBusy
from host.store.sqlite import SqliteStore
from tests.host.store.samples import OTHER, ROOT, opened, said, texts_of

REPOSITORY = Path(__file__).parents[3]


@contextmanager
def writer(path: Path, backend: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that writes the session ROOT; killed at the end of the block at the latest."""
    command = [sys.executable, "-m", "tests.host.store.writer_child", str(path), ROOT, backend]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) as child:
        try:
            yield child
        finally:
            child.kill()


def lines_of(child: subprocess.Popen[bytes]) -> Iterator[str]:
    assert child.stdout is not None
    return (line.decode().strip() for line in child.stdout)


def write_and_kill(path: Path, backend: str, after_s: float) -> list[int]:
    """The numbers that the child had acknowledged when it was killed."""
    with writer(path, backend) as child:
        lines = lines_of(child)
        assert next(lines) == "held"
        first = next(lines)
        time.sleep(after_s)
        child.kill()
        # A line that the kill cut in half is no acknowledgement; whole ones in the pipe are.
        return [int(line) for line in (first, *lines)]


async def check_log(path: Path, acknowledged: set[int], backend: str) -> None:
    async with SqliteStore(path) as store:
        texts = texts_of(await store.load(ROOT))
    assert texts == [str(number) for number in range(1, len(texts) + 1)], (
        "a record is missing or out of order"
    )
    assert acknowledged <= {int(text) for text in texts}


def kill_repeatedly(path: Path, backend: str, delays_s: list[float]) -> None:
    acknowledged: set[int] = set()
    for after_s in delays_s:
        numbers = write_and_kill(path, backend, after_s)
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "answers out of order"
        assert numbers[0] > max(acknowledged, default=0)
        acknowledged.update(numbers)
        anyio.run(check_log, path, acknowledged, backend, backend=backend)
    assert acknowledged


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, real_backend: str) -> None:
    kill_repeatedly(tmp_path / "store.db", real_backend, [0.0, 0.05])


@pytest.mark.slow
def test_what_was_acknowledged_survives_many_kills(tmp_path: Path, real_backend: str) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    kill_repeatedly(tmp_path / "store.db", real_backend, [chance.uniform(0, 0.3) for _ in range(40)])


def test_two_processes_share_a_store_but_not_a_session(tmp_path: Path, real_backend: str) -> None:
    path = tmp_path / "store.db"

    async def share(child: subprocess.Popen[bytes]) -> None:
        async with SqliteStore(path) as store:
            with pytest.raises(SessionBusy, match=f"process {child.pid} since") as busy:
                await store.lease(ROOT)
            assert busy.value.pid == child.pid
            async with await store.lease(OTHER):
                log = await store.create(opened(OTHER))
                for number in range(50):
                    log.submit(said(str(number)), lambda _: None)
                assert texts_of(await store.load(OTHER)) == [str(number) for number in range(50)]
            child.kill()
            await anyio.to_thread.run_sync(child.wait)
            async with await store.lease(ROOT) as lease:
                assert lease.epoch == 2
                loaded = await store.load(ROOT)
                resumed = store.writer(ROOT, loaded.next_seq)
                resumed.submit(said("taken over"), lambda _: None)
                assert texts_of(await store.load(ROOT))[-1] == "taken over"

    with writer(path, real_backend) as child:
        lines = lines_of(child)
        assert next(lines) == "held"
        next(lines)
        anyio.run(share, child, backend=real_backend)


def test_a_process_that_stands_still_keeps_its_session_until_it_is_killed(
    tmp_path: Path, real_backend: str
) -> None:
    path = tmp_path / "store.db"

    async def take_over(child: subprocess.Popen[bytes]) -> None:
        async with SqliteStore(path) as store:
            child.send_signal(signal.SIGSTOP)
            with pytest.raises(SessionBusy) as busy:
                await store.lease(ROOT)
            assert busy.value.pid == child.pid
            child.kill()
            await anyio.to_thread.run_sync(child.wait)
            async with await store.lease(ROOT) as lease:
                assert lease.epoch == 2

    with writer(path, real_backend) as child:
        lines = lines_of(child)
        assert next(lines) == "held"
        next(lines)
        anyio.run(take_over, child, backend=real_backend)


def test_a_process_that_wakes_up_behind_its_successor_writes_nothing_more(
    tmp_path: Path, real_backend: str
) -> None:
    """Its lock file was taken away while it stood still: what is left is the epoch."""
    path = tmp_path / "store.db"

    async def succeed(child: subprocess.Popen[bytes]) -> list[str]:
        stop_between_commits(child, path)
        async with SqliteStore(path) as store:
            for lock in path.with_name("store.db-leases").iterdir():
                lock.unlink()
            async with await store.lease(ROOT):
                before = texts_of(await store.load(ROOT))
                child.send_signal(signal.SIGCONT)
                lines = await anyio.to_thread.run_sync(until_refused, child)
                assert texts_of(await store.load(ROOT)) == before
                assert {line for line in lines if line.isdigit()} <= set(before)
                return lines

    with writer(path, real_backend) as child:
        assert next(lines_of(child)) == "held"
        next(lines_of(child))
        assert "StaleWriter" in anyio.run(succeed, child, backend=real_backend)[-1]


def stop_between_commits(child: subprocess.Popen[bytes], path: Path) -> None:
    """Within one it would keep SQLite's lock, and everybody else of the store from writing."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    while True:
        child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            child.send_signal(signal.SIGCONT)
            continue
        connection.execute("ROLLBACK")
        connection.close()
        return


def until_refused(child: subprocess.Popen[bytes]) -> list[str]:
    """What it says up to its first failure; a kill ends the waiting at the latest."""
    said = []
    for line in lines_of(child):
        said.append(line)
        if line.startswith("failed"):
            break
    return said


def test_a_second_process_is_told_the_holder(tmp_path: Path) -> None:
    async def hold() -> str:
        async with SqliteStore(tmp_path / "store.db") as store, await store.lease(ROOT):
            with writer(tmp_path / "store.db", "asyncio") as child:
                return await anyio.to_thread.run_sync(next, lines_of(child))

    assert anyio.run(hold) == f"busy {os.getpid()}"
