"""Listing, archiving, deleting, measuring and collecting, as commands."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from actors.address import AgentId
from actors.errors import BadInput
from actors.records import Record
from host.cli.amounts import age_s, bytes_text, count_text
from host.cli.cells import cells
from host.cli.columns import table
from host.store import SqliteStore
from host.store.ports import GRACE_S
from tests.host.cli.commands import Call, caller, in_store
from tests.host.cli.processes import Home, events_of
from tests.host.store.samples import accepted, opened, said

DAY_S = 86_400.0
OLD, NEW = AgentId("sess_old"), AgentId("sess_new")
SECRET = "correct-horse-battery-staple"


@pytest.fixture
def call(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return caller(home, monkeypatch, capfd)


def put(home: Home, agent_id: AgentId, *records: Record, days_ago: float = 0, data: bytes = b"") -> None:
    """A session that was written so long ago, with a large text if there are data."""

    async def write() -> None:
        at_s = time.time() - days_ago * DAY_S
        async with SqliteStore(home.store, now_s=lambda: at_s) as store, await store.lease(agent_id):
            more = said(await store.put_artifact(data)) if data else ()
            await store.create(opened(agent_id), *records, *more)

    anyio.run(write)


def at_work(home: Home, agent_id: AgentId, meanwhile: Callable[[], Awaitable[object]]) -> None:
    """Does something while the session is being written."""

    async def work(store: SqliteStore) -> None:
        async with await store.lease(agent_id):
            await meanwhile()

    in_store(home, work)


def ids(call: Call, *arguments: str) -> list[str]:
    return [str(row["id"]) for row in events_of(call("sessions", "--json", *arguments).stdout)]


def bytes_of(home: Home) -> bytes:
    return b"".join(file.read_bytes() for file in home.folder.glob("store.db*") if file.is_file())


# --- listing and archiving


def test_a_store_that_is_not_there_has_no_sessions_and_is_not_made(call: Call, home: Home) -> None:
    for arguments in ((), ("--json",), ("--all", "--sizes"), ("--store", ":memory:")):
        done = call("sessions", *arguments)
        assert (done.stdout, done.stderr, done.code) == ("", "", 0)
    assert not home.store.exists()
    for command in (("archive", "x"), ("delete", "x", "--yes"), ("size",), ("collect",)):
        done = call(*command)
        assert (done.stdout, done.code) == ("", 2)
        assert f"there is no store {home.store}" in done.stderr
    assert not home.store.exists()


def test_archived_sessions_are_out_of_sight_and_come_back(call: Call, home: Home) -> None:
    put(home, OLD, days_ago=3)
    put(home, NEW)
    done = call("archive", "sess_o")
    assert (done.stdout, done.code) == (f"archived {OLD} (name-of-{OLD})\n", 0)
    assert ids(call) == [NEW]
    assert ids(call, "--archived") == [OLD]
    assert ids(call, "--all") == [OLD, NEW]
    marks = [row["archived_at"] is None for row in events_of(call("sessions", "--all", "--json").stdout)]
    assert marks == [False, True]
    assert call("archive", "--undo", f"name-of-{OLD}").code == 0
    assert ids(call) == [OLD, NEW]


def test_all_sessions_are_found_before_one_is_archived(call: Call, home: Home) -> None:
    put(home, OLD)
    done = call("archive", OLD, "nobody")
    assert (done.stdout, done.code) == ("", 2)
    assert "no session 'nobody'" in done.stderr
    assert ids(call) == [OLD]


def test_an_archived_session_can_be_gone_on_with(call: Call, home: Home) -> None:
    put(home, OLD)
    call("archive", OLD)
    done = call("log", OLD)
    assert done.code == 0
    in_store(home, lambda store: _append(store, OLD))
    assert ids(call) == [OLD]


async def _append(store: SqliteStore, agent_id: AgentId) -> None:
    async with await store.lease(agent_id):
        store.writer(agent_id, (await store.load(agent_id)).next_seq).submit(said("on"), lambda _: None)


def test_a_name_means_the_session_that_is_not_archived(call: Call, home: Home) -> None:
    put(home, OLD)
    put(home, NEW)
    in_store(home, lambda store: store.archive(OLD))
    rename(home, "scribe")
    assert call("archive", "scribe").stdout == f"archived {NEW} (scribe)\n"
    call("archive", "--undo", NEW)
    assert call("archive", "--undo", "scribe").stdout == f"taken out of the archive: {OLD} (scribe)\n"


def rename(home: Home, name: str) -> None:
    """Every session gets this name."""
    with sqlite3.connect(home.store) as connection:
        connection.execute("UPDATE agents SET name = ?", (name,))
    connection.close()


def test_sizes_stand_in_the_listing_where_they_are_wanted(call: Call, home: Home) -> None:
    put(home, OLD, *said("x" * 5000), data=b"y" * 10_000)
    (row,) = events_of(call("sessions", "--sizes", "--json").stdout)
    assert row["artifact_bytes"] == 10_000
    assert isinstance(row["record_bytes"], int)
    assert row["record_bytes"] > 5000
    assert "record_bytes" not in call("sessions", "--json").stdout
    assert call("sessions", "--sizes").stdout.endswith(f"\t{row['record_bytes'] + 10_000}\n")


@pytest.mark.real
def test_a_terminal_is_told_how_many_are_hidden(home: Home) -> None:
    put(home, OLD, accepted("Read the 日本語 manual " * 20))
    put(home, NEW)
    in_store(home, lambda store: store.archive(NEW))
    with home.terminal("sessions", COLUMNS="80") as terminal:
        assert terminal.ends() == 0
    lines = terminal.text.replace("\r", "").splitlines()
    assert lines[-1] == "1 archived session is not shown; --archived lists them"
    assert all(cells(line) <= 80 for line in lines)
    assert OLD in lines[1]
    in_store(home, lambda store: store.archive(NEW, False))
    with home.terminal("sessions", "--archived") as terminal:
        assert terminal.ends() == 0
    assert "no session is archived" in terminal.text


# --- deleting


def test_without_a_terminal_nothing_is_deleted_that_was_not_confirmed(call: Call, home: Home) -> None:
    put(home, OLD, days_ago=100)
    for arguments in ((OLD,), ("--older-than", "90d"), ("--older-than", "1h", "--dry-run")):
        done = call("delete", *arguments)
        assert OLD in done.stdout
        assert done.code == (0 if "--dry-run" in arguments else 2)
        assert ("--yes" in done.stderr) is (done.code == 2)
    assert ids(call) == [OLD]


def test_a_deleted_session_leaves_nothing_in_the_files(call: Call, home: Home) -> None:
    put(home, OLD, accepted(SECRET), *said(SECRET * 100), data=SECRET.encode() * 500)
    put(home, NEW, *said("harmless"))
    assert SECRET.encode() in bytes_of(home)
    done = call("delete", OLD, "--yes")
    assert (done.stderr, done.code) == ("", 0)
    deleted, size = done.stdout.splitlines()
    assert deleted.startswith("deleted 1 session: 4 records (")
    assert deleted.endswith("and 1 large text (14.0 kB)")
    assert size.startswith("the store takes ")
    assert SECRET.encode() not in bytes_of(home)
    assert ids(call, "--all") == [NEW]
    assert call("delete", OLD, "--yes").code == 2


def test_sessions_are_deleted_by_age_and_by_archive(call: Call, home: Home) -> None:
    both = AgentId("sess_both")
    put(home, both, days_ago=100)
    in_store(home, lambda store: store.archive(both))
    put(home, OLD, days_ago=100)
    put(home, NEW)
    in_store(home, lambda store: store.archive(NEW))

    def meant(*arguments: str) -> list[str]:
        done = call("delete", *arguments, "--dry-run")
        assert done.code == 0
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    assert sorted(meant("--older-than", "90d")) == [both, OLD]
    assert meant("--older-than", "90d", "--archived") == [both]
    assert sorted(meant("--archived")) == [both, NEW]
    assert meant("--older-than", "101d") == ["no session is meant; nothing was deleted"]
    assert call("delete", "--older-than", "2w", "--archived", "--yes").code == 0
    assert ids(call, "--all") == [OLD, NEW]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((), "which sessions?"),
        ((OLD, "--older-than", "1d"), "not by both"),
        ((OLD, "--archived"), "not by both"),
        (("--older-than", "90"), "90d"),
        (("--older-than", "3m"), "hours, days or weeks"),
        (("--older-than", "-3d"), "hours, days or weeks"),
        (("nobody", "--yes"), "no session 'nobody'"),
        ((OLD, "nobody", "--yes"), "no session 'nobody'"),
    ],
)
def test_what_is_not_said_clearly_deletes_nothing(
    call: Call, home: Home, arguments: tuple[str, ...], wanted: str
) -> None:
    put(home, OLD, days_ago=1000)
    done = call("delete", *arguments, "--yes")
    assert (done.stdout, done.code) == ("", 2)
    assert wanted in done.stderr
    assert ids(call) == [OLD]


def test_a_name_that_two_sessions_have_deletes_neither(call: Call, home: Home) -> None:
    """Even where one of them is in the archive."""
    put(home, OLD)
    put(home, NEW)
    in_store(home, lambda store: store.archive(OLD))
    rename(home, "scribe")
    done = call("delete", "scribe", "--yes")
    assert (done.stdout, done.code) == ("", 2)
    assert "2 sessions are meant" in done.stderr
    assert ids(call, "--all") == [OLD, NEW]


@pytest.mark.real
def test_a_session_that_is_being_written_stays_and_the_others_go(home: Home) -> None:
    put(home, OLD, days_ago=10)
    put(home, NEW, days_ago=10)

    async def meanwhile() -> None:
        done = await anyio.to_thread.run_sync(home.run, "delete", "--older-than", "1d", "--yes")
        assert done.code == 1
        assert f"session {OLD} is being written" in done.stderr
        assert done.stdout.startswith("deleted 1 session")
        assert "was not written anew" in done.stdout
        archived = await anyio.to_thread.run_sync(home.run, "archive", OLD)
        assert archived.code == 2
        assert "is being written" in archived.stderr

    at_work(home, OLD, meanwhile)
    assert [row.agent_id for row in home.sessions()] == [OLD]


@pytest.mark.real
@pytest.mark.parametrize(
    ("answer", "is_gone"), [("y\n", True), ("Yes\n", True), ("\n", False), ("x\n", False)]
)
def test_a_person_is_asked_with_what_would_go(home: Home, answer: str, is_gone: bool) -> None:
    put(home, OLD, accepted("Reset the router"))
    with home.terminal("delete", OLD, COLUMNS="120") as terminal:
        shown = terminal.expect("Delete this session for good? [y/N] ")
        for text in (OLD, f"name-of-{OLD}", "Reset the router", "records", "last activity"):
            assert text in shown
        terminal.write(answer)
        assert terminal.ends() == 0
    assert ("nothing was deleted" in terminal.text) is not is_gone
    assert (home.sessions() == ()) is is_gone


@pytest.mark.real
def test_an_interrupt_or_the_end_of_input_deletes_nothing(home: Home) -> None:
    put(home, OLD)
    for key, code in (("\x03", 130), ("\x04", 0)):
        with home.terminal("delete", OLD) as terminal:
            terminal.expect("[y/N] ")
            terminal.write(key)
            assert terminal.ends() == code
        assert len(home.sessions()) == 1


@pytest.mark.real
def test_a_session_that_goes_on_while_a_person_decides_stays(home: Home) -> None:
    put(home, OLD)
    with home.terminal("delete", OLD) as terminal:
        terminal.expect("[y/N] ")
        in_store(home, lambda store: _append(store, OLD))
        terminal.write("y\n")
        assert terminal.ends() == 1
    assert f"session {OLD} was changed meanwhile and stays" in terminal.text
    assert len(home.sessions()) == 1


# --- measuring and collecting


def test_the_size_report_names_sessions_largest_first(call: Call, home: Home) -> None:
    put(home, OLD, *said("x" * 9000))
    put(home, NEW, data=b"y" * 20_000)
    in_store(home, lambda store: store.put_artifact(b"of nobody"))
    store, first, second = events_of(call("size", "--json").stdout)
    assert store["store"] == str(home.store)
    assert store["file_bytes"] == home.store.stat().st_size
    assert (store["n_artifacts"], store["artifact_bytes"]) == (2, 20_009)
    assert (store["n_unreferred"], store["unreferred_bytes"]) == (1, 9)
    assert (first["id"], first["artifact_bytes"], first["name"]) == (NEW, 20_000, f"name-of-{NEW}")
    assert (second["id"], second["artifact_bytes"], second["n_records"]) == (OLD, 0, 2)
    lines = [line.split("\t") for line in call("size").stdout.splitlines()]
    assert ["unreferred_bytes", "9"] in lines
    assert [line[1] for line in lines if line[0] == "session"] == [NEW, OLD]


@pytest.mark.real
def test_the_size_report_on_a_terminal_is_a_table(home: Home) -> None:
    put(home, OLD, data=b"y" * 20_000)
    in_store(home, lambda store: store.put_artifact(b"of nobody"))
    with home.terminal("size", COLUMNS="100") as terminal:
        assert terminal.ends() == 0
    assert "2 large texts with 20.0 kB" in terminal.text
    assert "nothing refers to 1 of them with 9 bytes" in terminal.text
    row = next(line for line in terminal.text.splitlines() if line.startswith(OLD))
    assert "20.0 kB" in row
    assert "0 bytes" in row


def test_collecting_takes_old_texts_that_nothing_refers_to(call: Call, home: Home) -> None:
    put(home, OLD, days_ago=5, data=b"used" * 1000)

    async def put_old() -> None:
        at_s = time.time() - GRACE_S - 1
        async with SqliteStore(home.store, now_s=lambda: at_s) as store:
            await store.put_artifact(b"unused" * 100_000)

    anyio.run(put_old)
    in_store(home, lambda store: store.put_artifact(b"new"))
    size = home.store.stat().st_size
    done = call("collect")
    assert (done.stderr, done.code) == ("", 0)
    removed, left, rest = done.stdout.splitlines()
    assert removed == "removed 1 large text that nothing referred to (600 kB)"
    assert left == "1 large text (3 bytes) that nothing refers to is not yet a day old"
    assert rest.startswith("the store takes ")
    assert home.store.stat().st_size < size - 500_000
    assert call("collect").stdout.startswith("there was nothing to remove\n")


# --- words and columns


def test_bytes_are_told_with_three_digits() -> None:
    told = {0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 99_949: "99.9 kB", 99_950: "100 kB"}
    told |= {999_499: "999 kB", 999_500: "1.0 MB", 3_400_000: "3.4 MB", 10**16: "10000 TB"}
    assert {number: bytes_text(number) for number in told} == told
    assert (count_text(1, "record"), count_text(1200, "record")) == ("1 record", "1,200 records")


def test_ages_are_hours_days_and_weeks() -> None:
    assert [age_s(text, "--x") for text in ("12h", "90d", "2w", "0d")] == [43_200, 90 * DAY_S, 14 * DAY_S, 0]
    for text in ("", "d", "1.5d", "1D", "٣d", "9999999d", " 1d"):
        with pytest.raises(BadInput, match="--x"):
            age_s(text, "--x")


def test_the_elastic_column_gives_way_by_cells() -> None:
    rows = [("a", "日本語日本語日本語", "1"), ("bb", "short", "22")]
    lines = table(("id", "title", "n"), rows, width=18, elastic=1, at_right={2})
    assert lines == ["id  title        n", "a   日本語日…    1", "bb  short       22"]
    assert max(cells(line) for line in lines) == 18
    assert table(("id", "title"), [], width=3, elastic=1) == ["id  title"]


def test_a_store_on_a_read_only_disk_is_listed_and_measured(call: Call, home: Home, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    put(home, OLD)
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "none", disk], check=False).returncode != 0
    ):
        pytest.skip("no disk can be mounted here")
    try:
        copy = disk / "store.db"
        copy.write_bytes(home.store.read_bytes())
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for command in (
            ("sessions",),
            ("sessions", "--all", "--sizes"),
            ("size",),
            ("delete", OLD, "--dry-run"),
        ):
            done = call(*command, "--store", str(copy))
            assert (done.stderr, done.code) == ("", 0)
            assert OLD in done.stdout
        done = call("delete", OLD, "--yes", "--store", str(copy))
        assert (done.stdout, done.code) == ("", 2)
        assert str(copy) in done.stderr
    finally:
        subprocess.run(["umount", disk], check=True)
