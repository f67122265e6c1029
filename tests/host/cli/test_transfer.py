"""The commands `export` and `import`, from one store to another."""

import fcntl
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from host.store import SqliteStore
from tests.host.cli.commands import Call, caller, in_store
from tests.host.cli.processes import Done, Home, events_of
from tests.host.store.samples import OTHER, ROOT, accepted, said
from tests.host.transfer.exports import filled


@pytest.fixture
def call(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return caller(home, monkeypatch, capfd)


@pytest.fixture
def session(home: Home) -> str:
    """The id of a session in the store, with a subagent and an artifact."""

    async def fill(store: SqliteStore) -> None:
        artifact = await store.put_artifact(b"large" * 1000)
        await filled(store, accepted("Find the page."), *said(artifact), child=said("b"))

    in_store(home, fill)
    return ROOT


def failed(done: Done, *wanted: str, code: int = 2) -> None:
    """One message on stderr, which says this, and nothing on stdout."""
    assert (done.stdout, done.code) == ("", code)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    for text in wanted:
        assert text in done.stderr


def test_a_session_moves_to_another_store(call: Call, session: str, home: Home) -> None:
    file, other = home.folder / "e.jsonl", str(home.folder / "other.db")
    done = call("export", "name-of-a-root", "-o", str(file), "--exact")
    assert (done.stdout, done.code) == ("", 0)
    assert f"{file.stat().st_size:,} bytes written to {file}" in done.stderr
    done = call("import", str(file), "--store", other)
    assert done.code == 0
    assert "imported a-root (name-of-a-root): 2 agents, 5 records, 1 large text" in done.stdout
    assert "callboard resume a-root" in done.stdout
    assert call("log", session, "--all", "--store", other).stdout == call("log", session, "--all").stdout
    failed(call("import", str(file), "--store", other), "session a-root already")


def test_an_import_tells_programs_what_came(call: Call, session: str, home: Home) -> None:
    call("export", session, "-o", "e.jsonl")
    done = call("import", "e.jsonl", "--json", "--store", "other.db")
    assert events_of(done.stdout) == [
        {
            "session": ROOT,
            "name": "name-of-a-root",
            "exact": False,
            "n_agents": 2,
            "n_records": 5,
            "n_artifacts": 1,
        }
    ]


def test_standard_output_gets_the_same_as_a_file(call: Call, session: str, home: Home) -> None:
    printed = call("export", session).stdout.splitlines()
    call("export", session, "-o", "e.jsonl")
    written = (home.folder / "e.jsonl").read_text().splitlines()
    assert printed[1:-1] == written[1:-1]
    header = json.loads(printed[0])
    assert (header["callboard_export"], header["exact"], header["session"]) == (1, False, ROOT)
    assert header["agents"] == [
        {"agent": ROOT, "name": "name-of-a-root", "records": 3},
        {"agent": OTHER, "name": "name-of-a-other", "records": 2},
    ]


def test_a_file_that_is_there_is_replaced_only_where_that_is_said(
    call: Call, session: str, home: Home
) -> None:
    file = home.folder / "e.jsonl"
    file.write_text("mine")
    failed(call("export", session, "-o", str(file)), "there is a file already", "--force")
    assert file.read_text() == "mine"
    assert call("export", session, "-o", str(file), "--force").code == 0
    assert call("import", str(file), "--store", "other.db").code == 0


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("export", "nobody"), "the store has no session 'nobody'"),
        (("export", "a-other"), "the store has no session 'a-other'"),
        (("export", "a-root", "--store", "missing.db"), "there is no store"),
        (("export", "a-root", "--store", ":memory:"), "a store in a file wanted"),
        (("export", "a-root", "-o", "."), "the name of a file wanted"),
        (("export", "a-root", "-o", "missing/e.jsonl"), "none can be made"),
        (("import", "missing.jsonl"), "missing.jsonl: an export wanted, but it cannot be read: No such file"),
        (("import", "."), ".: an export wanted, but it cannot be read: Is a directory"),
        (("import", "store.db"), "store.db: an export of a session wanted, got an SQLite file"),
        (("import", "/dev/null"), "/dev/null: an export of a session wanted, got an empty file"),
        (("import", "/dev/zero"), "/dev/zero: "),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    call: Call, session: str, arguments: tuple[str, ...], wanted: str
) -> None:
    failed(call(*arguments), wanted)


def test_a_damaged_file_is_refused_and_makes_no_store(call: Call, session: str, home: Home) -> None:
    call("export", session, "-o", "e.jsonl")
    data = (home.folder / "e.jsonl").read_bytes()
    damaged = {
        "cut.jsonl": (data[:-100], "the file is cut off"),
        "changed.jsonl": (data.replace(b"Find", b"Fine"), "was changed since"),
        "packed.gz": (gzip.compress(data)[:100], "a gzip file: unpack it first"),
        "windows.jsonl": (data.replace(b"\n", b"\r\n"), "CR LF"),
        "marked.jsonl": (b"\xef\xbb\xbf" + data, "byte order mark"),
    }
    for name, (altered, wanted) in damaged.items():
        (home.folder / name).write_bytes(altered)
        failed(call("import", name, "--store", "other.db"), f"callboard: {name}: ", wanted)
    assert not (home.folder / "other.db").exists()


def test_nothing_is_imported_into_a_store_that_keeps_nothing(call: Call, session: str) -> None:
    call("export", session, "-o", "e.jsonl")
    failed(call("import", "e.jsonl", "--store", ":memory:"), "keeps nothing")


def test_a_damaged_log_is_not_exported(call: Call, session: str, home: Home) -> None:
    with sqlite3.connect(home.store) as connection:
        connection.execute("UPDATE records SET data = x'7b' WHERE agent_id = 'a-other' AND seq = 1")
    connection.close()
    failed(call("export", session, "-o", "e.jsonl"), "record 1 of agent a-other", "callboard doctor")
    assert not (home.folder / "e.jsonl").exists()
    assert not list(home.folder.glob(".callboard-*"))


@pytest.mark.real
def test_sessions_go_through_pipes(home: Home, session: str) -> None:
    exported = home.run("export", session)
    assert (exported.stderr, exported.code) == ("", 0)
    done = home.run("import", "-", "--store", "other.db", stdin=exported.stdout)
    assert (done.stderr, done.code) == ("", 0)
    garbage = home.run("import", "-", "--store", "third.db", stdin=b"\x00" * 100_000)
    failed(garbage, "standard input: an export of a session wanted, got something else")
    assert not (home.folder / "third.db").exists()


@pytest.mark.real
def test_a_full_disk_and_a_closed_pipe_are_no_success(home: Home, session: str) -> None:
    command = f"{sys.executable} -m host.cli.main export {session}"
    full = subprocess.run(
        f"{command} > /dev/full",
        shell=True,
        env=home.environment(),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert full.returncode == 1
    assert full.stderr.decode() == "callboard: the export cannot be written: No space left on device\n"
    closed = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"],
        env=home.environment(),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert closed.returncode in (0, 141)  # it may have written all before the reader went
    assert closed.stderr == b""


@pytest.mark.real
def test_an_export_that_is_interrupted_leaves_no_file(home: Home) -> None:
    async def fill(store: SqliteStore) -> None:
        await filled(store, *said(*["word " * 2000] * 4000))

    in_store(home, fill)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen(
            [sys.executable, "-m", "host.cli.main", "export", ROOT, "-o", "e.jsonl"],
            cwd=home.folder,
            env=home.environment(),
            stderr=subprocess.PIPE,
        )
        while not list(home.folder.glob(".callboard-*.part")) and process.poll() is None:
            os.sched_yield()
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        was_ended = process.returncode != 0
        assert (home.folder / "e.jsonl").exists() != was_ended
        assert b"Traceback" not in err
        if number is not signal.SIGKILL:
            assert not list(home.folder.glob(".callboard-*"))
        Path(home.folder / "e.jsonl").unlink(missing_ok=True)


@pytest.mark.real
def test_waiting_for_standard_input_can_be_interrupted(home: Home) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "host.cli.main", "import", "-"],
        cwd=home.folder,
        env=home.environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(b'{"callboard_export":1')
    process.stdin.flush()
    while n_waiting(process.stdin.fileno()) and process.poll() is None:
        os.sched_yield()
    process.send_signal(signal.SIGINT)  # it has read that, and waits for more
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")


def n_waiting(descriptor: int) -> int:
    """How many bytes of a pipe nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.real
def test_an_export_is_not_thrown_at_a_terminal(home: Home, session: str) -> None:
    with home.terminal("export", session) as terminal:
        assert terminal.ends() == 2
    assert "an export is for a file" in terminal.text
