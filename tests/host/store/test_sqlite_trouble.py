"""A full disk, a read-only one, damage in the file, and zombies."""

import asyncio
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from actors.errors import LogFailed, StaleWriter
from host.errors import SessionBusy, StoreDamaged, StoreUnavailable
from host.store.sqlite import SqliteStore
from tests.disks import disk_of
from tests.host.store.samples import OTHER, ROOT, Answers, opened, said, texts_of


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    with disk_of(1, tmp_path / "small") as folder:
        yield folder


def change(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


async def write_some(path: Path) -> None:
    async with SqliteStore(path) as store, await store.lease(ROOT):
        (await store.create(opened())).submit(said("a", "b", "c"), lambda _: None)


def test_a_full_disk_loses_nothing_that_was_answered(small_disk: Path, real_backend: str) -> None:
    path = small_disk / "store.db"
    ballast = small_disk / "ballast"

    async def main() -> None:
        answers = Answers()
        async with SqliteStore(path) as store, await store.lease(ROOT), await store.lease(OTHER):
            log, other = await store.create(opened()), await store.create(opened(OTHER))
            ballast.write_bytes(b"x" * 300_000)
            for number in range(40):
                log.submit(said(f"{number} " + "x" * 30_000), partial(answers.hear, number))
                await store.flush()
            with pytest.raises(StoreUnavailable, match=f"{path}.*full"):
                await store.put_artifact(b"x" * 900_000)
            kept = answers.error_types.index(LogFailed)
            assert answers.labels == list(range(40))
            assert answers.error_types == [None] * kept + [LogFailed] * (40 - kept)
            assert "full" in str(answers.heard[kept][1])

            ballast.unlink()
            log.submit(said("behind a lost one"), partial(answers.hear, "fenced"))
            other.submit(said("goes on"), partial(answers.hear, "other"))
            await store.flush()
            assert answers.error_types[40:] == [LogFailed, None]

            loaded = await store.load(ROOT)
            assert [text.split()[0] for text in texts_of(loaded)] == [str(number) for number in range(kept)]
            store.writer(ROOT, loaded.next_seq).submit(said("anew"), partial(answers.hear, "anew"))
            await store.flush()
            assert answers.heard[-1] == ("anew", None)

    anyio.run(main, backend=real_backend)


def test_a_store_on_a_read_only_disk_is_unavailable(small_disk: Path, real_backend: str) -> None:
    path = small_disk / "store.db"
    anyio.run(write_some, path, backend=real_backend)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)

    async def main(path: Path) -> None:
        with pytest.raises(StoreUnavailable, match=str(path)):
            async with SqliteStore(path):
                pass

    anyio.run(main, path, backend=real_backend)
    anyio.run(main, small_disk / "new.db", backend=real_backend)
    anyio.run(main, small_disk / "folder" / "new.db", backend=real_backend)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_without_the_right_to_write_is_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_some, path)
    path.chmod(0o400)

    async def main() -> None:
        with pytest.raises(StoreUnavailable, match=str(path)):
            async with SqliteStore(path):
                pass

    anyio.run(main)


@pytest.mark.parametrize(
    ("statement", "values", "seq"),
    [
        ("DELETE FROM records WHERE seq = 2", (), 2),
        ("DELETE FROM records WHERE seq = 3", (), 3),
        ("DELETE FROM records", (), 0),
        ("UPDATE records SET data = ? WHERE seq = 1", (b"{",), 1),
        ("UPDATE records SET kind = 'unheard_of' WHERE seq = 1", (), 1),
        ("UPDATE records SET kind = CAST(x'ff' AS TEXT) WHERE seq = 1", (), 1),
        ("UPDATE records SET version = 7 WHERE seq = 0", (), 0),
        ("UPDATE agents SET n_records = 3", (), 3),
    ],
)
def test_damage_in_a_log_is_named_and_the_others_are_readable(
    tmp_path: Path, statement: str, values: tuple[object, ...], seq: int
) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_some, path)
    change(path, statement, *values)

    async def main() -> None:
        async with SqliteStore(path) as store, await store.lease(OTHER):
            with pytest.raises(StoreDamaged, match=f"of agent {ROOT}") as damaged:
                await store.load(ROOT)
            assert (damaged.value.agent_id, damaged.value.seq) == (ROOT, seq)
            await store.create(opened(OTHER))
            assert (await store.load(OTHER)).next_seq == 1

    anyio.run(main)


def test_a_damaged_listing_and_a_damaged_artifact_are_typed_errors(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def put() -> str:
        async with SqliteStore(path) as store:
            return await store.put_artifact(b"bytes")

    async def read(artifact_id: str) -> None:
        async with SqliteStore(path) as store:
            with pytest.raises(StoreDamaged, match="listing"):
                await store.agents()
            with pytest.raises(StoreDamaged, match=artifact_id):
                await store.get_artifact(artifact_id)
            await store.flush()

    anyio.run(write_some, path)
    artifact_id = anyio.run(put)
    change(path, "UPDATE agents SET role = 'king'")
    change(path, "UPDATE artifacts SET data = x'00'")
    anyio.run(read, artifact_id)


def test_garbage_over_the_pages_of_a_file_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_some, path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))

    async def main() -> None:
        async with SqliteStore(path) as store:
            await store.load(ROOT)

    with pytest.raises((StoreDamaged, StoreUnavailable), match=str(path)):
        anyio.run(main)


def test_a_zombie_whose_lock_was_taken_from_it_is_fenced_by_the_epoch(
    tmp_path: Path, real_backend: str
) -> None:
    path = tmp_path / "store.db"

    async def main() -> None:
        answers = Answers()
        async with SqliteStore(path) as first, SqliteStore(path) as second:
            old_lease = await first.lease(ROOT)
            zombie = await first.create(opened())
            for lock in path.with_name("store.db-leases").iterdir():
                lock.unlink()
            async with await second.lease(ROOT) as new_lease:
                assert new_lease.epoch > old_lease.epoch
                zombie.submit(said("zombie"), partial(answers.hear, "zombie"))
                await first.flush()
                assert answers.error_types == [StaleWriter]
                await old_lease.release()
                assert [lock.exists() for lock in path.with_name("store.db-leases").iterdir()] == [True]
            assert (await first.load(ROOT)).next_seq == 1

    anyio.run(main, backend=real_backend)


def test_a_lock_file_with_garbage_in_it_does_not_hide_that_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def main(content: bytes, match: str) -> None:
        async with SqliteStore(path) as store, await store.lease(ROOT):
            (lock,) = path.with_name("store.db-leases").iterdir()
            lock.write_bytes(content)
            with pytest.raises(SessionBusy, match=match):
                await store.lease(ROOT)

    anyio.run(main, b"", "by another process")
    anyio.run(main, b"\xff{", "by another process")
    anyio.run(main, b'{"session": "s", "pid": 7, "since_s": 1e300}', "by process 7 since 1e")


def test_a_dead_holders_file_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def main() -> None:
        async with SqliteStore(path) as store:
            lease = await store.lease(ROOT)
            (lock,) = path.with_name("store.db-leases").iterdir()
            await lease.release()
            lock.write_bytes(b'{"session": "s", "pid": 7, "since_s": 1}')
            async with await store.lease(ROOT):
                pass

    anyio.run(main)


def test_an_answer_that_raises_does_not_keep_the_others_from_theirs(tmp_path: Path) -> None:
    """On asyncio the loop reports the error; trio ends the run, which no test can look into."""
    answers = Answers()
    reported: list[object] = []

    def fail(_: Exception | None) -> None:
        raise ZeroDivisionError

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: reported.append(context["exception"])
        )
        async with SqliteStore(tmp_path / "store.db") as store, await store.lease(ROOT):
            log = await store.create(opened())
            log.submit(said("a"), fail)
            log.submit(said("b"), partial(answers.hear, "b"))
            log.submit(said("c"), fail)
            log.submit(said("d"), partial(answers.hear, "d"))
            await store.flush()

    anyio.run(main)
    assert answers.heard == [("b", None), ("d", None)]
    assert [type(error) for error in reported] == [ZeroDivisionError] * 2


def test_a_log_too_long_to_be_decoded_on_the_loop_comes_back_whole(tmp_path: Path, real_backend: str) -> None:
    n_records = 1000

    async def main() -> None:
        async with SqliteStore(tmp_path / "store.db") as store, await store.lease(ROOT):
            log = await store.create(opened())
            log.submit(said(*(str(number) for number in range(n_records))), lambda _: None)
            assert len(texts_of(await store.load(ROOT))) == n_records

    anyio.run(main, backend=real_backend)
