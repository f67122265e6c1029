"""Deleting, collecting and compacting in a real file: its bytes, full disks, other processes."""

import contextlib
import math
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.errors import StaleWriter
from host.errors import SessionBusy, StoreBusy, StoreUnavailable, UnknownSession
from host.store import keeping
from host.store.collecting import Collection, Scan
from host.store.compacting import compact
from host.store.deleting import Deletion
from host.store.examine import examine
from host.store.ports import AgentRow, LoadedLog
from host.store.sizes import StoreSizes
from host.store.sqlite import SqliteStore
from tests.host.store.samples import OTHER, ROOT, Answers, accepted, opened, said, texts_of

CHILD = AgentId("a-child")
SECRET = "correct-horse-battery-staple"
HELD = """
import sys, anyio
from pathlib import Path
from host.store.sqlite import SqliteStore
from tests.host.store.samples import OTHER, opened

async def main() -> None:
    async with SqliteStore(Path(sys.argv[1])) as store, await store.lease(OTHER):
        await store.create(opened(OTHER))
        await store.put_artifact(b"in flight")
        print("held", flush=True)
        sys.stdin.readline()

anyio.run(main)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "small", folder], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def other_process(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Writes the session `OTHER` of the store."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()
    process.stdin.close()


def bytes_of(path: Path) -> bytes:
    """All that lies in the files of the store."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob("store.db*")) if file.is_file())


async def write(store: SqliteStore, agent_id: AgentId, *texts: str, root_id: AgentId | None = None) -> None:
    async with await store.lease(root_id or agent_id):
        log = await store.create(opened(agent_id, root_id))
        for text in texts:
            log.submit(said(text), lambda _: None)


async def write_secrets(store: SqliteStore) -> str:
    """Two sessions whose records lie between each other's, one of them full of secrets; and an artifact."""
    artifact_id = await store.put_artifact(SECRET.encode() * 1000)
    async with await store.lease(ROOT), await store.lease(OTHER):
        logs = [await store.create(opened()), await store.create(opened(OTHER))]
        logs[0].submit((accepted(SECRET), *said(f"see {artifact_id}")), lambda _: None)
        for number in range(300):
            logs[0].submit(said(f"{number} {SECRET} " * (1 + number % 90)), lambda _: None)
            logs[1].submit(said(f"{number} harmless " * (1 + number % 70)), lambda _: None)
    return artifact_id


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


def fill(ballast: Path, *, leaving: int) -> None:
    """Leaves so many bytes of the disk."""
    room = os.statvfs(ballast.parent)
    ballast.write_bytes(b"x" * (room.f_bavail * room.f_bsize - leaving))


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


# --- compacting


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
