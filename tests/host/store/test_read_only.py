"""Reading a store that stays as it is: of an old version, without rights, beside a writer."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.errors import LogFailed
from host.errors import StoreDamaged, StoreError, StoreTooNew, StoreUnavailable, UnknownSession
from host.store.sqlite import SqliteStore
from tests.disks import disk_of
from tests.host.store.data import make_version_1
from tests.host.store.samples import OTHER, ROOT, Answers, opened, said, texts_of

DATA = Path(make_version_1.__file__).parent
NOBODY = 65534

Logs = dict[str, int]


async def write_some(path: Path) -> None:
    async with SqliteStore(path) as store, await store.lease(ROOT):
        (await store.create(opened())).submit(said("a", "b", "c"), lambda _: None)
        await store.put_artifact(b"bytes")


async def read(path: Path) -> Logs:
    """How many records each log has, as far as it was read whole."""
    async with SqliteStore(path, read_only=True) as store:
        rows = await store.agents()
        return {row.agent_id: (await store.load(row.agent_id)).next_seq for row in rows}


def digests(folder: Path) -> dict[str, str]:
    """What lies in a folder, but for the index of a log, which holds nothing of its own, and an empty log."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith("-shm") and file.stat().st_size > 0
    }


@pytest.fixture(params=["version-1.db", "version-1-killed.db", "today's"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A closed store of version 1, one whose process was killed, and one of today."""
    folder = tmp_path / "folder"
    folder.mkdir()
    name = str(request.param)
    if name == "today's":
        anyio.run(write_some, folder / "store.db")
    else:
        copy_version_1(name, folder / "store.db")
    return folder / "store.db"


def copy_version_1(name: str, path: Path) -> None:
    shutil.copy(DATA / name, path)
    if (wal := DATA / f"{name}-wal").exists():
        shutil.copy(wal, path.with_name(f"{path.name}-wal"))


# --- nothing is written


def test_reading_a_store_of_any_version_changes_nothing(store: Path) -> None:
    before = digests(store.parent)
    files = {file.name for file in store.parent.iterdir()}
    had_log = "store.db-wal" in files
    logs = anyio.run(read, store)
    assert sum(logs.values()) in (57, 47, 4)
    assert anyio.run(read, store) == logs
    assert digests(store.parent) == before
    assert {file.name for file in store.parent.iterdir()} == files | ({"store.db-shm"} if had_log else set())


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for path in (tmp_path / "store.db", tmp_path / "folder" / "store.db"):
        with pytest.raises(StoreUnavailable, match=f"there is no store {path}"):
            anyio.run(read, path)
    assert list(tmp_path.iterdir()) == []


def test_every_write_is_refused_with_a_typed_error(store: Path, real_backend: str) -> None:
    before = digests(store.parent)

    async def main() -> None:
        answers = Answers()
        async with SqliteStore(store, read_only=True) as reader:
            first = (await reader.agents())[0]
            calls: list[Callable[[], Awaitable[object]]] = [
                partial(reader.lease, first.agent_id),
                partial(reader.put_artifact, b"bytes"),
            ]
            for call in calls:
                with pytest.raises(StoreUnavailable, match=f"{store} is open for reading only"):
                    await call()
            with pytest.raises(LogFailed, match="reading only"):
                await reader.create(opened(OTHER))
            log = reader.writer(first.agent_id, first.n_records)
            log.submit(said("x"), partial(answers.hear, "x"))
            log.submit(said("y"), partial(answers.hear, "y"))
            await reader.flush()
            assert answers.error_types == [LogFailed, LogFailed]
            assert (await reader.agents())[0] == first

    anyio.run(main, backend=real_backend)
    assert digests(store.parent) == before


def test_archiving_and_removing_are_refused_with_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_some, path)

    async def main() -> None:
        async with SqliteStore(path, read_only=True) as reader:
            for call in (partial(reader.archive, ROOT), partial(reader.delete, ROOT), reader.collect):
                with pytest.raises(StoreError):
                    await call()

    anyio.run(main)
    assert anyio.run(read, path) == {ROOT: 4}


def test_an_artifact_and_an_unknown_session_read_as_in_any_store(store: Path) -> None:
    async def main() -> None:
        async with SqliteStore(store, read_only=True) as reader:
            with closing(sqlite3.connect(store)) as connection:
                ((artifact_id,),) = connection.execute("SELECT artifact_id FROM artifacts").fetchall()
            assert await reader.get_artifact(artifact_id) is not None
            assert await reader.get_artifact("0" * 64) is None
            with pytest.raises(UnknownSession):
                await reader.load(AgentId("nobody"))

    anyio.run(main)


# --- beside others


def test_what_another_writes_meanwhile_is_seen(tmp_path: Path, real_backend: str) -> None:
    path = tmp_path / "store.db"

    async def main() -> None:
        async with SqliteStore(path) as writer, await writer.lease(ROOT):
            log = await writer.create(opened())
            async with SqliteStore(path, read_only=True) as reader:
                for number in range(20):
                    log.submit(said(str(number)), lambda _: None)
                    await writer.flush()
                    assert (await reader.load(ROOT)).next_seq == number + 2
        async with SqliteStore(path, read_only=True) as reader:
            assert len(texts_of(await reader.load(ROOT))) == 20

    anyio.run(main, backend=real_backend)


def test_a_writer_opens_closes_and_migrates_while_a_reader_has_the_file(
    tmp_path: Path, real_backend: str
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(DATA / "version-1.db", path)

    async def main() -> None:
        async with SqliteStore(path, read_only=True) as reader:
            assert (await reader.load(make_version_1.CHIEF)).next_seq == 34
            async with SqliteStore(path) as writer, await writer.lease(ROOT):
                await writer.create(opened())
                assert (await reader.load(ROOT)).next_seq == 1
            assert (await reader.load(make_version_1.CHIEF)).next_seq == 34
            assert len(await reader.agents()) == 4

    anyio.run(main, backend=real_backend)


# --- without rights


def as_nobody(work: Callable[[], None]) -> None:
    """Runs the work in a child process that has no rights of its own; its error is ours."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")

    def without_rights() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        work()

    assert in_child(without_rights)() == 0


def in_child(work: Callable[[], None]) -> Callable[[], int]:
    """Starts the work in a child process; what comes back waits for its end and gives its exit code."""
    if (child := os.fork()) == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 (the child must not go on as a second test run)
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A folder that everybody may look into, up to the root."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return tmp_path


def lend(store: Path, *, file: int, folder: int) -> None:
    """Gives the store to nobody with these rights."""
    for path in store.parent.iterdir():
        os.chown(path, NOBODY, NOBODY)
        if path.is_file():
            path.chmod(file)
    os.chown(store.parent, NOBODY, NOBODY)
    store.parent.chmod(folder)


@pytest.mark.parametrize(("file", "folder"), [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500)])
@pytest.mark.usefixtures("public")
def test_a_closed_store_is_read_whatever_rights_to_write_there_are(
    store: Path, file: int, folder: int
) -> None:
    before = digests(store.parent)
    has_wal = store.with_name("store.db-wal").exists()
    lend(store, file=file, folder=folder)

    def work() -> None:
        if has_wal and folder == 0o500:
            with pytest.raises(StoreUnavailable, match=r"store\.db-wal holds what was written last.*copy"):
                anyio.run(read, store)
        else:
            assert sum(anyio.run(read, store).values()) in (57, 47, 4)

    as_nobody(work)
    assert digests(store.parent) == before


@pytest.mark.usefixtures("public")
def test_a_store_is_read_without_rights_while_its_owner_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    go, done = os.pipe(), os.pipe()

    async def write() -> None:
        async with SqliteStore(path) as writer, await writer.lease(ROOT):
            log = await writer.create(opened())
            show(tmp_path)
            while os.read(go[0], 1) == b"w":
                log.submit(said("more"), lambda _: None)
                await writer.flush()
                os.write(done[1], b"d")

    # Nobody's reader is a child, too, and no connection of SQLite outlives a fork.
    owner = in_child(partial(anyio.run, write))
    os.close(go[0])
    os.close(done[1])
    for n_records in (2, 3):
        os.write(go[1], b"w")
        assert os.read(done[0], 1) == b"d"
        as_nobody(partial(expect, path, {ROOT: n_records}))
    os.write(go[1], b"e")
    assert owner() == 0
    os.close(go[1])
    os.close(done[0])


def show(folder: Path) -> None:
    """Lets everybody read what lies there."""
    for path in folder.iterdir():
        path.chmod(0o755 if path.is_dir() else 0o644)


def expect(path: Path, logs: Logs) -> None:
    assert anyio.run(read, path) == logs


@pytest.mark.parametrize(("file", "folder"), [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500)])
@pytest.mark.usefixtures("public")
def test_a_store_that_may_not_be_written_is_unavailable_for_writing_and_named(
    store: Path, file: int, folder: int
) -> None:
    before = digests(store.parent)
    lend(store, file=file, folder=folder)

    def work() -> None:
        with pytest.raises(StoreUnavailable, match=str(store)):
            anyio.run(write_some, store)

    as_nobody(work)
    assert digests(store.parent) == before


@pytest.mark.usefixtures("public")
def test_a_store_that_may_not_be_read_is_unavailable_and_named(store: Path) -> None:
    lend(store, file=0o200, folder=0o700)

    def work() -> None:
        with pytest.raises(StoreUnavailable, match=str(store)):
            anyio.run(read, store)

    as_nobody(work)


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with a store that cannot be written any more."""
    with disk_of(2, tmp_path / "disk") as folder:
        for name in ("version-1.db", "version-1-killed.db"):
            copy_version_1(name, folder / name)
        anyio.run(write_some, folder / "store.db")
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        yield folder


def test_stores_on_a_read_only_disk_are_read(read_only_disk: Path) -> None:
    assert anyio.run(read, read_only_disk / "store.db") == {ROOT: 4}
    assert sum(anyio.run(read, read_only_disk / "version-1.db").values()) == 57
    with pytest.raises(StoreUnavailable, match="copy both files"):
        anyio.run(read, read_only_disk / "version-1-killed.db")


# --- what is no store


@pytest.mark.parametrize(
    ("content", "error", "match"),
    [
        (b"", StoreUnavailable, "empty: nothing was ever stored"),
        (b"only a text that happens to be here " * 50, StoreDamaged, "not a database"),
        (b"\0" * 8192, StoreDamaged, "damaged"),
    ],
    ids=["empty", "text", "zeros"],
)
def test_what_is_no_store_is_a_typed_error_and_stays(
    tmp_path: Path, content: bytes, error: type[StoreError], match: str
) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(error, match=f"{path}.*{match}"):
        anyio.run(read, path)
    assert path.read_bytes() == content


def test_a_log_beside_a_file_of_no_length_is_not_lost(tmp_path: Path) -> None:
    for ending in ("", "-wal"):
        shutil.copy(DATA / f"version-1-killed.db{ending}", tmp_path / f"store.db{ending}")
    path, wal = tmp_path / "store.db", tmp_path / "store.db-wal"
    path.write_bytes(b"")
    before = wal.read_bytes()
    with pytest.raises(StoreDamaged, match="the file is empty, though the log beside it is not"):
        anyio.run(read, path)
    assert wal.read_bytes() == before


def test_a_newer_store_and_one_of_another_program_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    anyio.run(write_some, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = '99'")
    with pytest.raises(StoreTooNew, match="version 99"):
        anyio.run(read, path)
    with closing(sqlite3.connect(tmp_path / "cookies.db")) as connection:
        connection.execute("CREATE TABLE cookies (name TEXT)")
    with pytest.raises(StoreUnavailable, match=r"cookies\.db is an SQLite database, but not a store"):
        anyio.run(read, tmp_path / "cookies.db")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreUnavailable, match="folder"):
        anyio.run(read, tmp_path / "folder")


def test_a_name_with_signs_of_a_uri_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "100% of it? #1 & mode=rw.db"
    anyio.run(write_some, path)
    assert anyio.run(read, path) == {ROOT: 4}
