"""Who has a whole store: many who use it, or one who repairs it."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from host.errors import StoreBusy, StoreUnavailable
from host.store.sqlite import SqliteStore
from host.store.store_lock import lease_folder, lock_for_repair, share_store, share_store_to_read
from tests.host.store.samples import ROOT, opened


async def make(path: Path) -> None:
    async with SqliteStore(path) as store, await store.lease(ROOT):
        await store.create(opened())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    anyio.run(make, path)
    return path


def test_a_store_that_nobody_uses_is_had_alone(path: Path) -> None:
    with lock_for_repair(path):
        pass
    with lock_for_repair(path):
        pass
    anyio.run(make_nothing, path)


async def make_nothing(path: Path, *, read_only: bool = False) -> None:
    async with SqliteStore(path, read_only=read_only) as store:
        assert [row.agent_id for row in await store.agents()] == [ROOT]


@pytest.mark.parametrize("read_only", [False, True])
def test_nobody_repairs_a_store_that_is_open_in_the_same_process(
    path: Path, read_only: bool, real_backend: str
) -> None:
    async def main() -> None:
        first, second = (SqliteStore(path, read_only=read_only) for _ in range(2))
        async with first:
            async with second:
                refused(path)
            refused(path)
        with lock_for_repair(path):
            pass

    anyio.run(main, backend=real_backend)


def refused(path: Path) -> None:
    with pytest.raises(StoreBusy, match=f"{path} is in use"), lock_for_repair(path):
        pass


@pytest.mark.parametrize("read_only", [False, True])
def test_nobody_opens_a_store_that_is_being_repaired(path: Path, read_only: bool) -> None:
    with lock_for_repair(path):
        with pytest.raises(StoreBusy, match=f"{path} is being repaired"):
            anyio.run(lambda: make_nothing(path, read_only=read_only))
        refused(path)
    anyio.run(lambda: make_nothing(path, read_only=read_only))


def in_child(work: Callable[[], None]) -> bool:
    """Whether the work went well in another process, which dies with what it holds."""
    if (child := os.fork()) == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_another_process_is_refused_and_a_dead_one_holds_nothing(path: Path) -> None:
    with lock_for_repair(path):
        assert not in_child(lambda: anyio.run(make_nothing, path))
    lock = share_store(path)
    assert not in_child(lambda: lock_for_repair(path).__enter__())
    assert in_child(lambda: anyio.run(make_nothing, path))
    lock.release()
    assert in_child(lambda: lock_for_repair(path).__enter__())  # and dies inside the block
    anyio.run(make_nothing, path)


def test_a_store_that_could_not_be_opened_holds_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is no database " * 100)
    for read_only in (False, True):
        with pytest.raises(Exception, match="not a database"):
            anyio.run(lambda value: make_nothing(path, read_only=value), read_only)
    with lock_for_repair(path):
        pass


def test_a_repair_that_raises_gives_the_store_free(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock_for_repair(path):
        raise ZeroDivisionError
    anyio.run(make_nothing, path)


def test_a_folder_that_was_taken_away_is_made_again_and_locked(path: Path) -> None:
    lease_folder(path).rmdir()
    lock = share_store_to_read(path)
    assert lock is None, "a reader makes nothing"
    with lock_for_repair(path):
        with pytest.raises(StoreBusy):
            share_store(path)
        with pytest.raises(StoreBusy):
            share_store_to_read(path)


def test_a_store_that_is_not_there_is_not_repaired(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="there is no store"), lock_for_repair(tmp_path / "store.db"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder_is_an_unavailable_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    lease_folder(path).touch()
    with pytest.raises(StoreUnavailable, match=str(path)):
        share_store(path)
    with pytest.raises(StoreUnavailable, match=str(path)), lock_for_repair(path):
        pass
