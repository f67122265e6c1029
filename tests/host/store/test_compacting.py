"""Writing a store anew, and measuring it without writing."""

import os
import shutil
import signal
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from host.errors import StoreBusy, StoreUnavailable, UnknownSession
from host.store.compacting import compact
from host.store.examine import examine
from host.store.holder import Holder
from host.store.lease_file import take_lease_file
from host.store.ports import AgentRow, LoadedLog
from host.store.sizes import StoreSizes
from host.store.sqlite import SqliteStore
from tests.host.store.kept import fill, other_process, path, small_disk, write, write_secrets
from tests.host.store.samples import OTHER, ROOT

__all__ = ["other_process", "path", "small_disk"]  # fixtures


def test_compacting_gives_the_room_back_and_loses_nothing(path: Path, real_backend: str) -> None:
    sizes: list[StoreSizes] = []

    async def write_and_delete() -> tuple[tuple[AgentRow, ...], LoadedLog]:
        async with SqliteStore(path) as store:
            await write_secrets(store)
            await store.put_artifact(b"kept")
            await store.archive(OTHER)
            await store.delete(ROOT)
            sizes.append(await store.sizes())
            return await store.agents(), await store.load(OTHER)

    async def read() -> tuple[tuple[AgentRow, ...], LoadedLog]:
        async with SqliteStore(path) as store:
            sizes.append(await store.sizes())
            async with await store.lease(ROOT) as lease:
                assert lease.epoch == 3  # after those that wrote and deleted it: they are fenced still
            return await store.agents(), await store.load(OTHER)

    before = anyio.run(write_and_delete, backend=real_backend)
    compact(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in path.parent.iterdir()) == ["store.db", "store.db-leases"]
    assert anyio.run(read, backend=real_backend) == before
    first, second = sizes
    assert replace(first, file=second.file) == second
    assert second.file.free_bytes == 0
    assert second.file.file_bytes <= first.file.file_bytes - first.file.free_bytes
    assert examine(path).is_sound


def test_a_compacted_store_has_its_tables_where_every_store_has_them(path: Path, tmp_path: Path) -> None:
    async def make(path: Path) -> None:
        async with SqliteStore(path) as store:
            await write_secrets(store)
            await store.delete(ROOT)

    anyio.run(make, path)
    compact(path)
    anyio.run(make, tmp_path / "other.db")
    tables = "SELECT name, rootpage FROM sqlite_master ORDER BY name"
    places = [sqlite3.connect(file).execute(tables).fetchall() for file in (path, tmp_path / "other.db")]
    assert places[0] == places[1]


def test_a_store_that_somebody_has_open_is_not_compacted(
    path: Path, other_process: "subprocess.Popen[str]"
) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreBusy):
        compact(path)
    assert path.read_bytes() == before
    other_process.send_signal(signal.SIGKILL)
    other_process.wait()
    compact(path)
    assert examine(path).is_sound


def test_a_session_that_an_older_program_holds_keeps_the_store_from_being_compacted(path: Path) -> None:
    """It does not lock the store as a whole."""

    async def main() -> None:
        async with SqliteStore(path) as store:
            await write(store, ROOT)

    anyio.run(main)
    lease_file = take_lease_file(path.with_name("store.db-leases"), Holder(ROOT, os.getpid(), 1.0))
    with pytest.raises(StoreBusy, match="is being written"):
        compact(path)
    lease_file.release()
    compact(path)


def test_compacting_on_a_full_disk_leaves_the_store_as_it_was(small_disk: Path) -> None:
    path, ballast = small_disk / "store.db", small_disk / "ballast"

    async def main() -> None:
        async with SqliteStore(path) as store:
            await write(store, ROOT, *(f"{number} " + "x" * 9_000 for number in range(60)))

    anyio.run(main)
    fill(ballast, leaving=300_000)
    with pytest.raises(StoreUnavailable, match="full"):
        compact(path)
    ballast.unlink()
    assert sorted(file.name for file in path.parent.iterdir()) == ["store.db", "store.db-leases"]
    assert examine(path).is_sound
    with pytest.raises(StoreUnavailable, match="there is no store"):
        compact(small_disk / "none.db")


def test_a_store_of_version_1_is_measured_as_it_is(path: Path) -> None:
    shutil.copyfile(Path(__file__).parent / "data" / "version-1.db", path)
    before = path.read_bytes()

    async def main() -> StoreSizes:
        async with SqliteStore(path, read_only=True) as store:
            return await store.sizes()

    sizes = anyio.run(main)
    assert sum(size.n_records for size in sizes.sessions) > 10
    assert all(size.record_bytes > 100 for size in sizes.sessions)
    assert path.read_bytes() == before


def test_a_store_of_today_is_measured_and_listed_read_only(path: Path) -> None:
    async def main() -> None:
        async with SqliteStore(path) as store:
            await write(store, ROOT, "a")
        async with SqliteStore(path, read_only=True) as store:
            (size,) = (await store.sizes()).sessions
            assert size.n_records == 2
            for change in (store.archive, store.delete):
                with pytest.raises(StoreUnavailable, match="reading only"):
                    await change(ROOT)
            with pytest.raises(StoreUnavailable, match="reading only"):
                await store.collect()
            with pytest.raises(UnknownSession):
                await store.load(OTHER)

    anyio.run(main)
