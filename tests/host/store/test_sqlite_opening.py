"""Opening the file: where it may be, whose it may be, and which versions."""

import os
import sqlite3
import stat
import threading
from functools import partial
from pathlib import Path

import anyio
import pytest

from host.errors import StoreDamaged, StoreError, StoreTooNew, StoreUnavailable
from host.store.schema import MIGRATIONS, Durability, open_database
from host.store.sqlite import SqliteStore
from host.store.sqlite_thread import OpenFile, SqliteThread
from tests.host.store.samples import ROOT, opened, said, texts_of


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def write_one(path: Path) -> None:
    async with SqliteStore(path) as store, await store.lease(ROOT):
        (await store.create(opened())).submit(said("hello"), lambda _: None)


async def refused(path: Path, error: type[StoreError], match: str) -> None:
    n_threads = threading.active_count()
    with pytest.raises(error, match=match):
        async with SqliteStore(path):
            pass
    assert threading.active_count() == n_threads


def set_version(path: Path, version: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (version,))
    connection.close()


def test_only_the_owner_may_read_a_store(tmp_path: Path, real_backend: str) -> None:
    path = tmp_path / "new" / "store.db"

    async def main() -> None:
        async with SqliteStore(path) as store, await store.lease(ROOT):
            await store.create(opened())
            assert mode_of(path.parent) == 0o700
            files = [file for file in path.parent.rglob("*") if file.is_file()]
            assert len(files) == 4, "the database, two of its log, a lease"
            assert {mode_of(file) for file in files} == {0o600}

    old_mask = os.umask(0)
    try:
        anyio.run(main, backend=real_backend)
    finally:
        os.umask(old_mask)


def test_nothing_is_left_beside_a_closed_store(tmp_path: Path, real_backend: str) -> None:
    n_threads = threading.active_count()
    anyio.run(write_one, tmp_path / "store.db", backend=real_backend)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["store.db"]
    assert threading.active_count() == n_threads


def test_making_a_store_object_touches_nothing(tmp_path: Path) -> None:
    n_threads = threading.active_count()
    SqliteStore(tmp_path / "store.db")
    assert (list(tmp_path.iterdir()), threading.active_count()) == ([], n_threads)


def test_a_store_object_is_opened_once_at_a_time(tmp_path: Path, real_backend: str) -> None:
    async def main() -> None:
        async with SqliteStore(tmp_path / "store.db") as store:
            with pytest.raises(RuntimeError, match="open already"):
                async with store:
                    pass
            assert await store.agents() == ()

    anyio.run(main, backend=real_backend)


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("normal", 1)])
def test_durability_sets_how_sqlite_syncs(tmp_path: Path, durability: Durability, level: int) -> None:
    connection = open_database(tmp_path / "store.db", durability)
    assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_normal_durability_stores_as_well(tmp_path: Path, real_backend: str) -> None:
    async def main() -> None:
        async with SqliteStore(tmp_path / "store.db", durability="normal") as store, await store.lease(ROOT):
            (await store.create(opened())).submit(said("hello"), lambda _: None)
            assert texts_of(await store.load(ROOT)) == ["hello"]

    anyio.run(main, backend=real_backend)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"this is not a database, only a text that happens to be here " * 20, "file is not a database"),
        (b"\0" * 8192, "damaged"),
        (b"SQLite format 3\0" + b"\xff" * 5000, ""),
    ],
    ids=["text", "zeros", "header"],
)
def test_a_garbage_file_is_a_damaged_store(tmp_path: Path, content: bytes, match: str) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    anyio.run(refused, path, StoreDamaged, f"{path}.*{match}")
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cookies.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cookies (name TEXT)")
    connection.close()
    before = path.read_bytes()
    anyio.run(refused, path, StoreUnavailable, "cookies.db is an SQLite database, but not a store")
    assert path.read_bytes() == before


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.db").mkdir()
    anyio.run(refused, tmp_path / "store.db", StoreUnavailable, "store.db")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("")
    anyio.run(refused, tmp_path / "folder" / "store.db", StoreUnavailable, "folder")


def test_a_newer_store_is_refused_and_both_versions_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_one, path)
    set_version(path, "99")
    before = path.read_bytes()

    async def main() -> None:
        with pytest.raises(
            StoreTooNew, match=f"version 99, this program knows up to {len(MIGRATIONS)}"
        ) as newer:
            async with SqliteStore(path):
                pass
        assert (newer.value.found, newer.value.supported) == (99, len(MIGRATIONS))

    anyio.run(main)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", ["", "x", "-1", "1.5"])
def test_a_version_that_is_none_is_refused(tmp_path: Path, version: str) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_one, path)
    set_version(path, version)
    anyio.run(refused, path, StoreUnavailable, "not a store")


def test_an_older_store_is_brought_to_the_newest_version(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_one, path)
    later = (*MIGRATIONS, ("ALTER TABLE agents ADD COLUMN colour TEXT",), ("CREATE TABLE more (x)",))
    connection = open_database(path, migrations=later)
    assert connection.execute("SELECT value FROM meta").fetchall() == [(str(len(later)),)]
    assert connection.execute("SELECT colour, n_records FROM agents").fetchall() == [(None, 2)]
    connection.close()


def test_a_failed_migration_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_one, path)
    with pytest.raises(StoreUnavailable, match="syntax"):
        open_database(path, migrations=(*MIGRATIONS, ("CREATE TABLE half (x)", "NOT SQL")))

    async def main() -> None:
        async with SqliteStore(path) as store:
            assert texts_of(await store.load(ROOT)) == ["hello"]

    anyio.run(main)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
    connection.close()


def test_many_may_make_the_same_store_at_once(tmp_path: Path, real_backend: str) -> None:
    async def open_one(number: int) -> None:
        async with SqliteStore(tmp_path / f"{number // 8}.db") as store:
            await store.agents()

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(partial(open_one, number))

    anyio.run(main, backend=real_backend)


def test_an_error_that_nobody_foresaw_ends_the_opening_and_the_thread(real_backend: str) -> None:
    def fail() -> OpenFile:
        raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await SqliteThread(fail).start()

    n_threads = threading.active_count()
    anyio.run(main, backend=real_backend)
    assert threading.active_count() == n_threads
