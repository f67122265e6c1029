"""Listing, archiving, measuring and collecting, as commands."""

import subprocess
import time
from pathlib import Path

import anyio
import pytest

from host.cli.cells import cells
from host.store import SqliteStore
from host.store.ports import GRACE_S
from tests.disks import disk_of
from tests.host.cli.commands import Call, caller, in_store
from tests.host.cli.kept import NEW, OLD, append, ids, put, rename
from tests.host.cli.processes import Home, events_of
from tests.host.store.samples import accepted, said


@pytest.fixture
def call(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return caller(home, monkeypatch, capfd)


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
    in_store(home, lambda store: append(store, OLD))
    assert ids(call) == [OLD]


def test_a_name_means_the_session_that_is_not_archived(call: Call, home: Home) -> None:
    put(home, OLD)
    put(home, NEW)
    in_store(home, lambda store: store.archive(OLD))
    rename(home, "scribe")
    assert call("archive", "scribe").stdout == f"archived {NEW} (scribe)\n"
    call("archive", "--undo", NEW)
    assert call("archive", "--undo", "scribe").stdout == f"taken out of the archive: {OLD} (scribe)\n"


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


def test_a_store_on_a_read_only_disk_is_listed_and_measured(call: Call, home: Home, tmp_path: Path) -> None:
    put(home, OLD)
    with disk_of(8, tmp_path / "disk") as disk:
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
