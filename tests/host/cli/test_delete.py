"""Deleting sessions as a command, asked and unasked."""

import resource

import anyio
import pytest

from actors.address import AgentId
from host.store import SqliteStore
from tests.host.cli.commands import Call, caller, in_store
from tests.host.cli.kept import NEW, OLD, SECRET, append, at_work, bytes_of, ids, put, rename
from tests.host.cli.processes import Home
from tests.host.store.samples import accepted, opened, said


@pytest.fixture
def call(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return caller(home, monkeypatch, capfd)


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


def test_more_sessions_than_files_can_be_open_go_together(call: Call, home: Home) -> None:
    async def write(store: SqliteStore) -> None:
        shared = await store.put_artifact(b"shared by all")
        for number in range(450):
            agent_id = AgentId(f"sess_{number}")
            async with await store.lease(agent_id):
                await store.create(opened(agent_id), *said(shared))

    in_store(home, write)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
    try:
        done = call("delete", "--older-than", "0h", "--yes")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (done.stderr, done.code) == ("", 0)
    assert done.stdout.startswith("deleted 450 sessions: 900 records (")
    assert "and 1 large text (13 bytes)" in done.stdout
    assert home.sessions() == ()


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
        in_store(home, lambda store: append(store, OLD))
        terminal.write("y\n")
        assert terminal.ends() == 1
    assert f"session {OLD} was changed meanwhile and stays" in terminal.text
    assert len(home.sessions()) == 1
