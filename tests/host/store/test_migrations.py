"""Stores of version 1, kept here as files: they open, migrate, and survive a migration that fails."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.history import MessageEntry
from actors.records import TurnEnded, TurnStop
from host.errors import StoreDamaged, StoreError, StoreTooNew, StoreUnavailable
from host.ids import CountingIds
from host.store.codec import encode_record
from host.store.migrating import Migration
from host.store.ports import AgentRow, LoadedLog
from host.store.schema import MIGRATIONS, open_database
from host.store.sqlite import SqliteStore
from providers.model import text_of
from providers.scripted import ScriptedProvider
from tests.disks import disk_of
from tests.host.hosts import scripted_host
from tests.host.store.data import make_version_1
from tests.host.store.samples import OTHER, ROOT, opened, said, texts_of

DATA = Path(make_version_1.__file__).parent
CHIEF = make_version_1.CHIEF
VERSION_1 = MIGRATIONS[:1]
NEWEST = len(MIGRATIONS)
N_RECORDS = {"version-1.db": (34, 12, 11), "version-1-killed.db": (24, 12, 11)}

Content = tuple[tuple[AgentRow, ...], tuple[LoadedLog, ...]]


@pytest.fixture(params=list(N_RECORDS))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a store of version 1: one that was closed, and one whose process was killed."""
    name = str(request.param)
    for file in (DATA / name, DATA / f"{name}-wal"):
        if file.exists():
            shutil.copy(file, tmp_path)
    return tmp_path / name


async def content(path: Path, *, read_only: bool = False) -> Content:
    async with SqliteStore(path, read_only=read_only) as store:
        rows = await store.agents()
        return rows, tuple([await store.load(row.agent_id) for row in rows])


def before_the_migration(path: Path) -> Content:
    return anyio.run(lambda: content(path, read_only=True))


def version_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
        return str(version)


def dump_of(path: Path) -> list[str]:
    """Everything in the file, tables and rows."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def long_store_of_version_1(path: Path, n_records: int, data: bytes) -> None:
    with closing(open_database(path, migrations=VERSION_1)) as connection:
        connection.execute(
            "INSERT INTO agents VALUES (1, 'a-root', 'a-root', NULL, 'main', 'main', 1, 1, ?, NULL)",
            (n_records,),
        )
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO records VALUES ('a-root', ?, 'kind', 1, ?)",
            ((seq, data) for seq in range(n_records)),
        )
        connection.execute("COMMIT")


# --- a migration that goes well


def test_every_old_store_opens_migrates_and_keeps_what_it_holds(old: Path) -> None:
    before = before_the_migration(old)
    assert version_of(old) == "1"
    assert anyio.run(content, old) == before
    assert version_of(old) == str(NEWEST)
    rows, logs = before
    assert tuple(len(log.records) for log in logs) == N_RECORDS[old.name]
    assert [row.archived_at for row in rows] == [None] * 3
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        # Salvage counts on it that the tables of every store begin at the same pages.
        pages = "SELECT name, rootpage FROM sqlite_master ORDER BY name"
        with closing(open_database(old.with_name("new.db"))) as new:
            assert connection.execute(pages).fetchall() == new.execute(pages).fetchall()


def test_an_artifact_is_still_there_after_the_migration(old: Path) -> None:
    async def main() -> bytes | None:
        with closing(sqlite3.connect(old)) as connection:
            ((artifact_id,),) = connection.execute("SELECT artifact_id FROM artifacts").fetchall()
        async with SqliteStore(old) as store:
            return await store.get_artifact(artifact_id)

    data = anyio.run(main)
    assert data is not None
    assert data.startswith(b"line 0 of the house")


def test_a_session_of_an_old_store_goes_on(old: Path) -> None:
    """Of the killed one, the turn that was cut off is closed as lost."""

    async def main() -> None:
        ids = CountingIds()
        for _ in range(5000):  # beyond those that the old host gave out
            ids.new("x")
        provider = ScriptedProvider(["Still here."])
        async with scripted_host(provider, store=SqliteStore(old), ids=ids) as host:
            chief = await host.resume(CHIEF, tools=make_version_1.TOOLS)
            assert await chief.ask("Are you there?") == "Still here."
            said = [text_of(e.message.content) for e in chief.history if isinstance(e, MessageEntry)]
            assert said[0] == "How many doors are there?"
        _, logs = await content(old)
        stops = [stored.record.stop for stored in logs[0].records if isinstance(stored.record, TurnEnded)]
        assert stops.count(TurnStop.LOST) == 1
        assert stops[-1] is TurnStop.DONE

    anyio.run(main)


def test_the_migrated_hashes_find_a_change(old: Path) -> None:
    anyio.run(content, old)
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("UPDATE records SET data = x'7b7d' WHERE agent_id = ? AND seq = 7", (CHIEF,))
    with pytest.raises(StoreDamaged, match=f"record 7 of agent {CHIEF}"):
        anyio.run(content, old)


@pytest.mark.parametrize(
    "statement", ["DELETE FROM records WHERE seq = 3", "UPDATE records SET data = x'7b'"]
)
def test_damage_that_an_old_store_had_is_neither_hidden_nor_in_the_way(
    tmp_path: Path, statement: str
) -> None:
    """Who has one broken log would not give up the others for it."""
    path = tmp_path / "version-1.db"
    shutil.copy(DATA / path.name, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"{statement} {'AND' if 'WHERE' in statement else 'WHERE'} agent_id = 'agent_6'")

    async def main() -> None:
        async with SqliteStore(path) as store:
            assert (await store.load(CHIEF)).next_seq == 34
            with pytest.raises(StoreDamaged, match="of agent agent_6"):
                await store.load(AgentId("agent_6"))

    anyio.run(main)


def test_records_without_an_agent_do_not_keep_a_store_from_migrating(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    long_store_of_version_1(path, 3, b"{}")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM agents")
        connection.execute("INSERT INTO records VALUES (CAST(x'ff' AS TEXT), 0, 'kind', 1, x'7b7d')")
    with closing(open_database(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM records WHERE length(hash) = 32").fetchone() == (3,)


def test_a_program_of_the_old_version_that_has_the_file_open_stores_nothing_more(old: Path) -> None:
    """It would write records without hashes, which read as damage."""
    with closing(open_database(old, migrations=VERSION_1)) as of_old_program:
        of_old_program.execute("SELECT count(*) FROM records").fetchone()
        anyio.run(content, old)
        with pytest.raises(sqlite3.IntegrityError, match=r"records\.hash"):
            of_old_program.execute(
                "INSERT INTO records (agent_id, seq, kind, version, data) VALUES ('x', 0, 'k', 1, x'00')"
            )
    with pytest.raises(StoreTooNew, match=f"version {NEWEST}, this program knows up to 1"):
        open_database(old, migrations=VERSION_1)


def test_migrating_takes_no_more_memory_for_a_large_store(tmp_path: Path) -> None:
    """Measured in processes of their own, since the peak of a process never sinks."""
    script = (
        "import resource, sys; from pathlib import Path; from host.store.schema import open_database;"
        " open_database(Path(sys.argv[1])).close();"
        " print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks_kib = []
    for n_records in (100, 12_000):
        path = tmp_path / f"{n_records}.db"
        long_store_of_version_1(path, n_records, b"x" * 4000)
        run = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
        peaks_kib.append(int(run.stdout))
    assert peaks_kib[1] - peaks_kib[0] < 12_000, "of 48 megabytes"


def test_many_may_open_an_old_store_at_once(old: Path, real_backend: str) -> None:
    """One of them migrates, the others wait for it."""
    before = before_the_migration(old)
    found: list[Content] = []

    async def open_one() -> None:
        found.append(await content(old))

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(open_one)

    anyio.run(main, backend=real_backend)
    assert found == [before] * 12


# --- a migration that fails


def fail(_: sqlite3.Connection) -> None:
    raise ValueError("the middle is not for me")


FAILING: dict[str, Migration] = {
    "a statement": ("CREATE TABLE half (x)", "NOT SQL"),
    "a function": ("CREATE TABLE half (x)", "UPDATE agents SET name = 'half'", fail),
}


def assert_as_it_was(path: Path, dump: list[str], before: Content) -> None:
    assert dump_of(path) == dump
    assert before_the_migration(path) == before


@pytest.mark.parametrize("name", FAILING)
def test_a_failed_migration_says_so_and_the_store_is_as_it_was(old: Path, name: str) -> None:
    before, dump = before_the_migration(old), dump_of(old)
    with pytest.raises(StoreUnavailable) as failed:
        open_database(old, migrations=(*MIGRATIONS, FAILING[name]))
    text = str(failed.value)
    assert f"{old} has version 1 and could not be brought to version {NEWEST + 1}" in text
    assert "as it was" in text
    assert "can still be read" in text
    assert_as_it_was(old, dump, before)
    assert anyio.run(content, old) == before


def test_a_migration_that_is_killed_leaves_the_store_as_it_was(old: Path) -> None:
    before, dump = before_the_migration(old), dump_of(old)

    def die(_: sqlite3.Connection) -> None:
        os._exit(7)

    child = os.fork()
    if child == 0:
        try:
            open_database(old, migrations=(*MIGRATIONS, (die,)))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert version_of(old) == "1"
    assert_as_it_was(old, dump, before)
    assert anyio.run(content, old) == before


def test_a_page_of_records_that_cannot_be_read_leaves_the_rest_readable(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    write_version_1(path)
    place = path.read_bytes().rindex(b"state_changed")
    with path.open("r+b") as file:
        file.seek(place // 4096 * 4096)
        file.write(b"\xff" * 4096)
    broken = path.read_bytes()
    with pytest.raises(
        StoreDamaged, match=r"has version 1 and could not be brought.*malformed.*still be read"
    ):
        open_database(path)
    assert path.read_bytes() == broken

    async def main() -> None:
        async with SqliteStore(path, read_only=True) as store:
            assert texts_of(await store.load(OTHER)) == ["other"]
            with pytest.raises(StoreError):
                await store.load(ROOT)

    anyio.run(main)


def test_records_out_of_order_end_the_migration_and_not_in_a_circle(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    long_store_of_version_1(path, 3000, b"{}")
    with (
        closing(sqlite3.connect(path)) as connection,
        connection,
    ):  # the order of the pages is the other one now
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'id, seq)', 'id, seq DESC)')")
    with pytest.raises(
        StoreDamaged, match=r"version 1 and could not be brought.*out of order.*still be read"
    ):
        open_database(path)
    assert version_of(path) == "1"


def write_version_1(path: Path) -> None:
    """A short log, and behind it a long one whose last page is full of `state_changed`."""
    logs = {
        OTHER: [opened(OTHER), *said("other")],
        ROOT: [opened(ROOT), *said(*("x" * 300 for _ in range(200)))],
    }
    with closing(open_database(path, migrations=VERSION_1)) as connection:
        for agent_id, records in logs.items():
            connection.execute(
                "INSERT INTO agents (agent_id, root_id, name, role, created_at, updated_at, n_records)"
                " VALUES (?1, ?1, 'main', 'main', 1, 1, ?2)",
                (agent_id, len(records)),
            )
            for seq, encoded in enumerate(map(encode_record, records)):
                connection.execute(
                    "INSERT INTO records VALUES (?, ?, ?, ?, ?)",
                    (agent_id, seq, encoded.kind, encoded.version, encoded.data),
                )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    with disk_of(8, tmp_path / "small") as folder:
        yield folder


def test_a_disk_that_fills_up_leaves_the_store_as_it_was(small_disk: Path) -> None:
    path = small_disk / "store.db"
    long_store_of_version_1(path, 500, b"x" * 4000)
    dump = dump_of(path)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - 500_000))
    with pytest.raises(StoreUnavailable, match=r"version 1 and could not be brought.*full.*still be read"):
        open_database(path)
    assert dump_of(path) == dump
    ballast.unlink()
    open_database(path).close()
    assert version_of(path) == str(NEWEST)
