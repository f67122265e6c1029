"""A chat and its past: turns listed, taken back and forked; a question asked again behind a kill."""

import time

import anyio
import pytest
from pydantic import JsonValue

from actors.history import EntryId, MessageEntry, ResultStatus
from actors.records import RecordsSkipped
from actors.state import folded
from host.store import SqliteStore
from providers.model import Role, text_of
from tests.host.cli.processes import Home, Terminal, assert_whole, results_of
from tests.real.conftest import LLMock

pytestmark = pytest.mark.real

MODEL = ("--model", "openai:gpt-5.6-terra")
PROMPT = "› "
ENTER = "\n"


def calls(name: str, **arguments: JsonValue) -> dict[str, JsonValue]:
    return {"type": "reply", "tool_calls": [{"name": name, "arguments": arguments}]}


def says(text: str) -> dict[str, JsonValue]:
    return {"type": "reply", "text": text}


def ask(terminal: Terminal, text: str) -> None:
    """Sends a message and waits for the end of its turn."""
    terminal.write(text + ENTER)
    terminal.expect("tokens in")
    terminal.expect(PROMPT)


def said(home: Home, session: str) -> list[str]:
    """What was said in a session, by the person and by the agent."""

    async def read() -> list[str]:
        async with SqliteStore(home.store, read_only=True) as store:
            row = next(row for row in await store.agents() if row.agent_id == session)
            fold = folded(stored.record for stored in (await store.load(row.agent_id)).records)
        entries = [e for e in fold.history if isinstance(e, MessageEntry) and e.message.role is not Role.TOOL]
        return [text for e in entries if (text := text_of(e.message.content))]

    return anyio.run(read)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_turn_is_taken_back_and_its_message_can_be_changed(
    connected: Home, model_server: LLMock, backend: str
) -> None:
    model_server.script(says("One."), says("Two."), says("Other."))
    with connected.terminal("chat", *MODEL, "--backend", backend) as terminal:
        terminal.expect(PROMPT)
        ask(terminal, "first")
        ask(terminal, "second")
        terminal.write("/turns\n")
        terminal.expect("what it began with")
        assert "done" in terminal.expect("second")
        terminal.expect(PROMPT)
        terminal.write("/rewind\n")
        terminal.expect("took back 1 turn")
        terminal.expect("› second")
        terminal.write("-best\n")
        terminal.expect("Other.")
        terminal.expect("tokens in")
        terminal.write("/quit\n")
        assert terminal.ends() == 0
    fold = connected.fold()
    assert_whole(fold)
    assert said(connected, connected.sessions()[0].agent_id) == ["first", "One.", "second-best", "Other."]
    assert "Traceback" not in terminal.text


def test_files_are_put_back_behind_a_yes_and_conflicts_are_told(
    connected: Home, model_server: LLMock
) -> None:
    path = connected.folder / "notes.md"
    model_server.script(calls("Write", path=str(path), content="seven"), says("Written."))
    with connected.terminal("chat", *MODEL, "--mode", "bypass") as terminal:
        terminal.expect(PROMPT)
        ask(terminal, "write")

        terminal.write("/rewind\n")
        terminal.expect("files that would be put back")
        terminal.expect("y or n")
        terminal.expect(PROMPT)
        terminal.write("n\n")
        terminal.expect("nothing was taken back")
        assert path.read_text() == "seven"

        terminal.write("/rewind\n")
        terminal.expect("y or n")
        terminal.expect(PROMPT)
        terminal.write("\x03")
        terminal.expect("nothing was taken back")

        path.write_text("by hand")
        terminal.write("/rewind 1\n")
        terminal.expect("notes.md was changed since by somebody else")
        terminal.expect("`/rewind 1 overwrite`")
        terminal.expect("`/rewind 1 keep-files`")
        terminal.expect(PROMPT)
        assert path.read_text() == "by hand"

        terminal.write("/rewind 1 overwrite\n")
        terminal.expect("y or n")
        terminal.expect(PROMPT)
        terminal.write("y\n")
        terminal.expect("notes.md (removed)")
        terminal.expect("› write")
        terminal.write("\x15/quit\n")
        assert terminal.ends() == 0
    assert not path.exists()
    assert connected.fold().turns == []


def test_a_yes_to_an_agent_s_question_takes_nothing_back(connected: Home, model_server: LLMock) -> None:
    notes, made = connected.folder / "notes.md", connected.folder / "made"
    model_server.script(
        calls("Write", path=str(notes), content="seven"),
        calls("Bash", command="sleep 2"),
        calls("Bash", command=f"touch {made}"),
        says("Done."),
    )
    with connected.terminal("chat", *MODEL, "--mode", "accept-edits") as terminal:
        terminal.expect(PROMPT)
        terminal.write("go\n")
        terminal.expect("wants Bash sleep")
        terminal.expect(PROMPT)
        terminal.write("y\n")
        terminal.expect("→ Bash sleep")
        terminal.write("/rewind\n")
        terminal.expect("Take it back? y or n")
        terminal.expect("wants Bash touch")
        terminal.expect("nothing was taken back")
        terminal.expect(PROMPT)
        terminal.write("y\n")
        terminal.expect("Done.")
        terminal.expect("tokens in")
        terminal.write("/quit\n")
        assert terminal.ends() == 0
    assert made.exists()
    assert notes.read_text() == "seven"
    assert len(connected.fold().turns) == 1


def test_a_running_turn_is_taken_back_at_its_word(connected: Home, model_server: LLMock) -> None:
    model_server.script(says("One."), says("word " * 500))
    with connected.terminal("chat", *MODEL) as terminal:
        terminal.expect(PROMPT)
        ask(terminal, "first")
        terminal.write("talk\n")
        terminal.expect("word word")
        terminal.write("/rewind\n")
        terminal.expect("cancelled after")
        terminal.expect("took back 1 turn")
        terminal.expect("› talk")
        terminal.write("\x15/quit\n")
        assert terminal.ends() == 0
    assert said(connected, connected.sessions()[0].agent_id) == ["first", "One."]


def test_what_cannot_be_taken_back_is_told_and_the_chat_goes_on(
    connected: Home, model_server: LLMock
) -> None:
    model_server.script(says("One."))
    done = connected.run(
        "chat",
        *MODEL,
        stdin="/rewind\n/turns\nfirst\n/rewind 7\n/rewind 1 2\n/rewind 1\n/turns\n/help\n",
    )
    assert done.code == 0
    for text in (
        "! the session has no turn",
        "! no turn 7: the session has 1 turn",
        "! /rewind takes a turn",
        "took back 1 turn",
        "/rewind [TURN]",
    ):
        assert text in done.stdout
    assert done.stdout.count("no turn yet") == 2
    assert done.stdout.splitlines().count("first") == 1


def test_a_fork_can_be_gone_on_with_while_the_chat_lasts(connected: Home, model_server: LLMock) -> None:
    model_server.script(says("One."), says("In the fork."), says("Here."))
    with connected.terminal("chat", *MODEL) as terminal:
        terminal.expect(PROMPT)
        ask(terminal, "first")
        terminal.write("/fork\n")
        terminal.expect("(main-2) begins with 1 turn of this one")
        terminal.expect(PROMPT)
        done = connected.run("resume", "main-2", *MODEL, stdin="there\n")
        assert (done.code, "In the fork." in done.stdout) == (0, True)
        ask(terminal, "here")
        terminal.write("/quit\n")
        assert terminal.ends() == 0
    first, fork = connected.sessions()
    assert said(connected, first.agent_id) == ["first", "One.", "here", "Here."]
    assert said(connected, fork.agent_id) == ["first", "One.", "there", "In the fork."]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_question_that_a_kill_left_open_is_asked_again(
    connected: Home, model_server: LLMock, backend: str
) -> None:
    made = connected.folder / "made"
    model_server.script(calls("Bash", command=f"echo x >> {made}"))
    _kill_at_a_question(connected)
    assert not made.exists()
    model_server.reset()
    model_server.script(says("It is made."))
    with connected.terminal("resume", "main", *MODEL, "--backend", backend) as terminal:
        terminal.expect("a question was open when the host ended; it is asked again")
        terminal.expect("wants Bash echo x")
        terminal.expect(PROMPT)
        assert not made.exists()
        terminal.write("y\n")
        terminal.expect("It is made.")
        terminal.expect("tokens in")
        terminal.write("/quit\n")
        assert terminal.ends() == 0
    assert made.read_text() == "x\n"
    fold = connected.fold()
    assert_whole(fold)
    assert results_of(fold.history) == [("Bash", ResultStatus.OK)]
    assert fold.n_turns == 1
    assert "cut off" not in terminal.text


def test_without_a_person_it_is_not_asked_again(connected: Home, model_server: LLMock) -> None:
    made = connected.folder / "made"
    model_server.script(calls("Bash", command=f"touch {made}"))
    _kill_at_a_question(connected)
    model_server.reset()
    done = connected.run("resume", "main", *MODEL)
    assert "the last turn was cut off" in done.stdout
    assert "asked again" not in done.stdout
    assert results_of(connected.fold().history) == [("Bash", ResultStatus.NOT_STARTED)]
    assert not made.exists()


def test_a_rewind_from_outside_asks_no_model_and_leaves_the_mail(
    connected: Home, model_server: LLMock
) -> None:
    model_server.script(says("One."), says("word " * 500))
    with connected.terminal("chat", *MODEL) as terminal:
        terminal.expect(PROMPT)
        ask(terminal, "first")
        terminal.write("talk\n")
        terminal.expect("word word")
        terminal.write("and then\n")
        _wait_for_mail(connected)
        busy = connected.run("rewind", "main", "--yes")
        assert busy.code == 2
        assert f"is being written by process {terminal.process.pid}" in busy.stderr
        assert "/rewind" in busy.stderr
        terminal.process.kill()
        terminal.process.wait()
    model_server.reset()
    done = connected.run("rewind", "main", "--yes")
    assert (done.code, "talk" in done.stdout) == (0, True)
    assert model_server.n_requests() == 0
    fold = connected.fold()
    assert [envelope.body for envelope in fold.waiting.values()] == ["and then"]
    assert len(fold.turns) == 1


def test_a_session_with_damage_says_so(connected: Home, model_server: LLMock) -> None:
    model_server.script(says("One."))
    connected.run("chat", *MODEL, stdin="first\n")

    async def skip() -> None:
        async with SqliteStore(connected.store) as store:
            (row,) = await store.agents()
            async with await store.lease(row.agent_id):
                log = store.writer(row.agent_id, row.n_records)
                log.submit(
                    (RecordsSkipped(3, "its bytes were wrong", EntryId("ent_x"), 0.0),), lambda _: None
                )

    anyio.run(skip)
    done = connected.run("resume", "main", *MODEL)
    assert "3 records of this conversation could not be read back" in done.stdout
    assert done.code == 0


def _kill_at_a_question(home: Home) -> None:
    with home.terminal("chat", *MODEL) as terminal:
        terminal.expect(PROMPT)
        terminal.write("make it\n")
        terminal.expect("wants Bash")
        terminal.expect(PROMPT)
        terminal.process.kill()
        terminal.process.wait()


def _wait_for_mail(home: Home) -> None:
    deadline = time.monotonic() + 10
    while not home.fold().waiting:
        assert time.monotonic() < deadline
        time.sleep(0.05)
