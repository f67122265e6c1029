"""The command `fork`: a new session that begins with a copy of another one."""

import contextlib
from collections.abc import AsyncIterator

import anyio
import pytest

from actors import builtin_tools
from actors.agent import Agent
from host.cli.forking import unused_name
from host.host import Host
from host.ids import RandomIds
from host.outline import outline
from host.store import SqliteStore
from providers.scripted import ScriptedProvider, say, wait
from tests.host.cli.commands import Call, caller
from tests.host.cli.processes import Home, events_of
from tests.host.hosts import scripted_host


@pytest.fixture
def call(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return caller(home, monkeypatch, capfd)


@pytest.fixture
def session(home: Home) -> str:
    """The id of a session of two turns."""

    async def fill() -> str:
        async with living(home, ScriptedProvider(["One.", "Two."])) as host:
            session = await host.start(Agent("main", tools=list(builtin_tools().values())))
            await session.ask("First.")
            await session.ask("Second.")
            return session.id

    return anyio.run(fill)


@contextlib.asynccontextmanager
async def living(home: Home, provider: ScriptedProvider) -> AsyncIterator[Host]:
    async with scripted_host(provider, store=SqliteStore(home.store), ids=RandomIds()) as host:
        yield host


def texts(home: Home, session: object) -> list[str]:
    """What the turns of a session began with."""

    async def read() -> list[str]:
        async with SqliteStore(home.store, read_only=True) as store:
            row = next(row for row in await store.agents() if row.agent_id == session)
            return [turn.text for turn in await outline(store, row.agent_id)]

    return anyio.run(read)


def test_a_fork_has_the_turns_up_to_the_one_named(call: Call, session: str, home: Home) -> None:
    (told,) = events_of(call("fork", session, "--json").stdout)
    assert (told["forked_from"], told["n_turns"], told["name"]) == (session, 2, "main-2")
    assert texts(home, told["session"]) == ["First.", "Second."]
    for after in ("1", "-2"):
        (told,) = events_of(call("fork", session, "--after", after, "--name", f"at{after}", "--json").stdout)
        assert texts(home, told["session"]) == ["First."]
        assert told["name"] == f"at{after}"
    assert texts(home, session) == ["First.", "Second."]


def test_it_says_how_to_go_on(call: Call, session: str, home: Home) -> None:
    done = call("fork", "main")
    fork = home.sessions()[-1]
    assert done.code == 0
    assert done.stdout == (
        f"{fork.agent_id} (main-2) begins with 2 turns of main\n"
        f"`callboard resume {fork.agent_id}` goes on with it\n"
    )
    assert "(main-3)" in call("fork", "main").stdout
    assert "(main-2-2)" in call("fork", "main-2").stdout


def test_what_cannot_be_forked_is_told_and_leaves_no_session(call: Call, session: str, home: Home) -> None:
    for arguments, why in (
        (("nobody",), "no session 'nobody'"),
        ((session, "--after", "3"), "no turn 3"),
        ((session, "--name", "two words"), "an agent's name is"),
        ((session, "--store", "none.db"), "there is no store"),
    ):
        done = call("fork", *arguments)
        assert (done.stdout, done.code) == ("", 2)
        assert why in done.stderr
        assert "Traceback" not in done.stderr
    assert len(home.sessions()) == 1
    assert not (home.folder / "none.db").exists()


def test_a_session_at_work_is_forked_and_does_not_notice(call: Call, session: str, home: Home) -> None:
    async def work() -> str:
        async with living(home, ScriptedProvider([[wait(60), say("Three.")]])) as host:
            resumed = await host.resume(session)
            receipt = await resumed.post("Third.")
            await receipt.taken()
            forked = await anyio.to_thread.run_sync(lambda: home.run("fork", session, "--json"))
            assert forked.code == 0, forked.stderr
            open_turn = await anyio.to_thread.run_sync(lambda: home.run("fork", session, "--after", "3"))
            assert (open_turn.code, "has not ended" in open_turn.stderr) == (2, True)
            resumed.cancel()
            await receipt.answered()
            return str(events_of(forked.stdout)[0]["session"])

    fork = anyio.run(work)
    assert texts(home, fork) == ["First.", "Second."]
    assert texts(home, session) == ["First.", "Second.", "Third."]


def test_a_name_that_is_not_taken_is_found() -> None:
    assert unused_name("a", []) == "a"
    assert unused_name("a", ["a", "a-2", "a-4"]) == "a-3"
    assert unused_name("a", ["a", "a", "a-2"]) == "a-3"
