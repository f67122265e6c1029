"""Deleting and collecting in a real file: its bytes, full disks, other processes."""

import contextlib
import math
import signal
import sqlite3
import subprocess
from functools import partial
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.errors import StaleWriter
from host.errors import SessionBusy, StoreUnavailable, UnknownSession
from host.store import keeping
from host.store.collecting import Collection, Scan
from host.store.compacting import compact
from host.store.deleting import Deletion
from host.store.examine import examine
from host.store.sqlite import SqliteStore
from tests.host.store.kept import (
    CHILD,
    SECRET,
    bytes_of,
    fill,
    other_process,
    path,
    small_disk,
    write,
    write_secrets,
)
from tests.host.store.samples import OTHER, ROOT, Answers, opened, said, texts_of

__all__ = ["other_process", "path", "small_disk"]  # fixtures


def test_deleted_text_is_overwritten_and_gone_when_the_file_is_written_anew(
    path: Path, real_backend: str
) -> None:
    async def main() -> None:
        async with SqliteStore(path) as store:
            artifact_id = await write_secrets(store)
            n_before = bytes_of(path).count(SECRET.encode())
            removed = await store.delete(ROOT)
            assert removed.is_wal_empty
            assert (removed.n_records, removed.n_artifacts) == (303, 1)
            assert bytes_of(path).count(SECRET.encode()) < n_before // 1000
            assert await store.get_artifact(artifact_id) is None
            assert len(texts_of(await store.load(OTHER))) == 300
            assert removed.after.wal_bytes == 0
            assert removed.after.free_bytes > 300_000
            await write(store, AgentId("a-third"), "x" * 200_000)
            sizes = (await store.sizes()).file
            assert sizes.file_bytes == removed.after.file_bytes
            assert sizes.free_bytes < removed.after.free_bytes

    anyio.run(main, backend=real_backend)
    assert examine(path).is_sound
    compact(path)
    assert SECRET.encode() not in bytes_of(path)
    assert examine(path).is_sound


@pytest.mark.slow  # deleting waits ten seconds for the reader
def test_a_reader_that_needs_the_old_state_is_told_of(path: Path) -> None:
    """The write-ahead log cannot be emptied under it; it is on the next occasion."""

    async def main() -> None:
        async with SqliteStore(path) as store:
            await write_secrets(store)
            reader = sqlite3.connect(path, isolation_level=None)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM records").fetchone()
            removed = await store.delete(ROOT)
            assert not removed.is_wal_empty
            assert removed.after.wal_bytes > 0
            reader.close()
            collected = await store.collect()
            assert collected.is_wal_empty
            assert collected.after.wal_bytes == 0

    anyio.run(main)


def test_a_full_disk_does_not_keep_anybody_from_deleting(small_disk: Path, real_backend: str) -> None:
    path, ballast = small_disk / "store.db", small_disk / "ballast"

    async def main() -> None:
        async with SqliteStore(path) as store:
            await write(store, ROOT, *(f"{number} " + "x" * 9_000 for number in range(60)))
            await write(store, OTHER, "stays")
            await store.collect()
            fill(ballast, leaving=150_000)
            assert (await store.delete(ROOT)).n_records == 61
            assert texts_of(await store.load(OTHER)) == ["stays"]
        ballast.unlink()

    anyio.run(main, backend=real_backend)
    assert examine(path).is_sound


@pytest.mark.parametrize("room", [0, 8_192, 16_384, 32_768, 49_152, 65_536, 81_920, 98_304])
def test_with_hardly_any_room_the_store_stays_sound_and_the_session_can_be_deleted_later(
    small_disk: Path, room: int
) -> None:
    path, ballast = small_disk / "store.db", small_disk / "ballast"

    async def main() -> None:
        async with SqliteStore(path) as store:
            await write(store, ROOT, *(f"{number} " + "x" * 9_000 for number in range(60)))
            await write(store, OTHER, "stays")
            await store.collect()
            fill(ballast, leaving=room)
            with contextlib.suppress(StoreUnavailable):
                await store.delete(ROOT)
            for row in await store.agents():
                texts = texts_of(await store.load(row.agent_id))
                numbers = [str(number) for number in range(len(texts))]
                assert [text.split()[0] for text in texts] in (numbers, ["stays"])
            ballast.unlink()
            with contextlib.suppress(UnknownSession):
                assert (await store.delete(ROOT)).n_agents == 1
            assert [row.agent_id for row in await store.agents()] == [OTHER]

    anyio.run(main)
    assert examine(path).is_sound


def test_a_deletion_that_dies_between_two_pieces_leaves_a_beginning_in_the_archive(path: Path) -> None:
    async def main() -> None:
        async with SqliteStore(path) as store:
            await write(store, ROOT, *(f"{number} " + "x" * 9_000 for number in range(60)))
            await write(store, CHILD, "the child's", root_id=ROOT)
            async with await store.lease(ROOT):
                deletion = Deletion((ROOT,), (), piece_bytes=100_000)
                assert not await store._call(deletion.piece)
            (root,) = await store.agents()
            assert (root.agent_id, root.n_records) == (ROOT, 61 + 2 - deletion.n_records)
            assert root.archived_at is not None
            texts = texts_of(await store.load(ROOT))
            assert [text.split()[0] for text in texts] == [str(number) for number in range(len(texts))]
            async with await store.lease(ROOT):
                store.writer(ROOT, root.n_records).submit(said("60 goes on"), lambda _: None)
            assert texts_of(await store.load(ROOT))[-1] == "60 goes on"
            assert (await store.delete(ROOT)).n_records == root.n_records + 1

    anyio.run(main)
    assert examine(path).is_sound


def test_whoever_lost_the_lease_deletes_and_archives_nothing(path: Path) -> None:
    async def main() -> None:
        async with SqliteStore(path) as first, SqliteStore(path) as second:
            await write(first, ROOT, "a")
            async with await first.lease(ROOT):
                for lock in path.with_name("store.db-leases").iterdir():
                    lock.unlink()
                async with await second.lease(ROOT):
                    pass
                deletion = Deletion((ROOT,), ())
                for work in (deletion.piece, partial(keeping.archive, root_id=ROOT, is_archived=True)):
                    with pytest.raises(SessionBusy):
                        await first._call(work)
            (row,) = await first.agents()
            assert (row.n_records, row.archived_at) == (2, None)

    anyio.run(main)


def test_asking_for_a_session_that_is_not_there_leaves_no_trace(path: Path) -> None:
    async def main() -> None:
        async with SqliteStore(path) as store:
            for change in (store.delete, store.archive):
                with pytest.raises(UnknownSession):
                    await change(ROOT)

    anyio.run(main)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM leases").fetchone() == (0,)


def test_a_zombie_does_not_bring_a_deleted_session_back(path: Path, real_backend: str) -> None:
    async def main() -> None:
        answers = Answers()
        async with SqliteStore(path) as first, SqliteStore(path) as second:
            await first.lease(ROOT)
            zombie = await first.create(opened())
            beginner = first.writer(ROOT, 0)
            child = first.writer(CHILD, 0)
            for lock in path.with_name("store.db-leases").iterdir():
                lock.unlink()
            await second.delete(ROOT)
            zombie.submit(said("zombie"), partial(answers.hear, "append"))
            beginner.submit((opened(),), partial(answers.hear, "begin"))
            child.submit((opened(CHILD, ROOT),), partial(answers.hear, "child"))
            await first.flush()
            assert answers.error_types == [StaleWriter] * 3
            assert await first.agents() == ()

    anyio.run(main, backend=real_backend)


def test_another_process_keeps_its_session_and_what_it_may_have_put(
    path: Path, other_process: "subprocess.Popen[str]", real_backend: str
) -> None:
    async def main() -> None:
        async with SqliteStore(path) as store:
            same = await store.put_artifact(b"in flight")
            await write(store, ROOT, f"see {same}")
            for change in (store.delete, store.archive):
                with pytest.raises(SessionBusy, match=f"process {other_process.pid}"):
                    await change(OTHER)
            removed = await store.delete(ROOT)
            assert (removed.n_artifacts, removed.n_spared) == (0, 1)
            other_process.send_signal(signal.SIGKILL)
            other_process.wait()
            await write(store, ROOT, f"see {same}")
            assert (await store.delete(ROOT)).n_artifacts == 1
            await store.delete(OTHER)
            assert await store.agents() == ()

    anyio.run(main, backend=real_backend)


def test_a_reference_that_comes_between_the_scan_and_the_removal_counts(path: Path) -> None:
    """A session that is copied refers to what was put long ago."""

    async def main() -> None:
        async with SqliteStore(path) as store, SqliteStore(path) as other:
            ids = [await store.put_artifact(f"{number}".encode()) for number in range(4)]
            await write(store, ROOT, ids[0])
            scan = Scan(ids)
            collection = Collection(scan, list(ids), lambda _: math.inf)
            assert await store._call(scan.piece)
            async with await other.lease(ROOT):
                other.writer(ROOT, 2).submit(said(ids[1]), lambda _: None)
            await write(other, OTHER, ids[2])
            assert await store._call(collection.piece)
            assert [await store.get_artifact(artifact_id) is None for artifact_id in ids] == [
                *[False] * 3,
                True,
            ]
            assert (collection.n_removed, collection.removed_bytes) == (1, 1)

    anyio.run(main)


def test_collecting_lets_the_writer_of_the_same_store_go_on(path: Path) -> None:
    answers = Answers()

    async def main() -> None:
        async with SqliteStore(path) as store:
            await write(store, OTHER, *("y" * 1_000_000 for _ in range(40)))
            await store.put_artifact(b"x")
            async with await store.lease(ROOT):
                log = await store.create(opened())

                async def collect() -> None:
                    await store.collect()
                    answers.hear("collected", None)

                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(collect)
                    await anyio.lowlevel.checkpoint()
                    await anyio.lowlevel.checkpoint()
                    log.submit(said("meanwhile"), partial(answers.hear, "written"))

    anyio.run(main)
    assert answers.heard == [("written", None), ("collected", None)]
