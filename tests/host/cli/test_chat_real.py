"""`callboard chat` and `callboard resume`: at a terminal and through a pipe, interrupted and killed."""

import re
import signal
import time

import pytest
from pydantic import JsonValue

from actors.history import MessageEntry, Presentation, ResultStatus
from actors.records import TurnStop
from host.store import AgentRow
from providers.model import Role, text_of
from tests.host.cli.processes import (
    Home,
    assert_whole,
    events_of,
    is_running,
    results_of,
)
from tests.real.conftest import LLMock

pytestmark = pytest.mark.real

MODEL = ("--model", "openai:gpt-5.6-terra")
LONG: dict[str, JsonValue] = {"type": "reply", "text": "word " * 500}
PROMPT = "› "


def bash(command: str) -> dict[str, JsonValue]:
    return {"type": "reply", "tool_calls": [{"name": "Bash", "arguments": {"command": command}}]}


def said(home: Home) -> list[str]:
    """What was said in the newest session, by the person and by the agent."""
    return [
        text_of(entry.message.content)
        for entry in home.fold().history
        if isinstance(entry, MessageEntry) and entry.message.role in (Role.USER, Role.ASSISTANT)
    ]


def test_every_line_of_a_pipe_is_a_message_with_an_answer(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "One."}, {"type": "reply", "text": "Two."})
    done = connected.run("chat", *MODEL, stdin="first\n\nsecond")
    assert done.code == 0
    assert re.sub(r"[\d.]+ m?s · .*", "-", done.stdout) == "One.\n-\nTwo.\n-\n"
    assert "\x1b" not in done.stdout
    assert said(connected) == ["first", "One.", "second", "Two."]


def test_a_chat_for_programs_prints_events_and_nothing_else(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "One."})
    done = connected.run("chat", *MODEL, "--json", "--backend", "trio", stdin="first\n/help\n/quit\nnever\n")
    names = [event["event"] for event in events_of(done.stdout)]
    assert names[-1] == "turn_finished"
    assert names.count("turn_began") == 1
    assert done.stderr == ""


def test_a_turn_that_failed_ends_a_piped_chat_with_1(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "fail", "status": 400, "message": "No."})
    done = connected.run("chat", *MODEL, stdin="first\n")
    assert done.code == 1
    assert "! openai answered 400" in done.stdout


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_ctrl_c_stops_what_runs_and_the_session_goes_on(
    connected: Home, model_server: LLMock, backend: str
) -> None:
    sleeping = f"sleep 60.{time.monotonic_ns()}"
    with connected.terminal("chat", *MODEL, "--mode", "bypass", "--backend", backend) as terminal:
        terminal.expect(PROMPT)

        model_server.script(LONG)
        terminal.write("talk\n")
        terminal.expect("word word")
        terminal.write("\x03")
        terminal.expect("cancelled after", within_s=5)
        terminal.expect(PROMPT)

        model_server.script(bash(sleeping))
        terminal.write("sleep\n")
        terminal.expect(f"→ Bash {sleeping}")
        terminal.write("\x03")
        terminal.expect("interrupted", within_s=5)
        terminal.expect("cancelled after", within_s=5)
        terminal.expect(PROMPT)
        assert not is_running(sleeping)

        model_server.script({"type": "fail", "status": 503, "retry_after": 60})
        terminal.write("again\n")
        terminal.expect("trying again in 60.0 s")
        terminal.write("\x03")
        terminal.expect("cancelled after", within_s=5)
        terminal.expect(PROMPT)

        model_server.script({"type": "reply", "text": "Still here."})
        terminal.write("are you there?\n")
        terminal.expect("Still here.")
        terminal.expect("tokens in")
        terminal.write("\x04")
        assert terminal.ends() == 0
    fold = connected.fold()
    assert_whole(fold)
    assert results_of(fold.history) == [("Bash", ResultStatus.INTERRUPTED)]
    assert fold.n_turns == 4
    assert "Traceback" not in terminal.text


def test_what_is_written_during_a_turn_steers_it(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "word " * 40}, {"type": "reply", "text": "Then in French."})
    with connected.terminal("chat", *MODEL) as terminal:
        terminal.expect(PROMPT)
        terminal.write("talk\n")
        terminal.expect("word word")
        terminal.write("in French")
        terminal.expect("› in French")
        terminal.write(", please\n")
        terminal.expect("↳ taken into this turn: in French, please")
        terminal.expect("Then in French.")
        terminal.expect("tokens in")
        terminal.write("/quit\n")
        assert terminal.ends() == 0
    fold = connected.fold()
    assert fold.n_turns == 1
    steers = [e for e in fold.history if e.presentation == Presentation.USER_STEER]
    assert len(steers) == 1
    assert "word" not in next(line for line in terminal.text.splitlines() if "in French, please" in line)


def test_questions_are_asked_one_after_the_other(connected: Home, model_server: LLMock) -> None:
    calls: list[JsonValue] = [
        {"name": "Bash", "arguments": {"command": command}} for command in ("touch a", "touch b")
    ]
    model_server.script(
        {"type": "reply", "tool_calls": calls}, bash("touch a"), {"type": "reply", "text": "Done."}
    )
    with connected.terminal("chat", *MODEL) as terminal:
        terminal.expect(PROMPT)
        terminal.write("make them\n")
        terminal.expect("wants Bash touch a")
        terminal.expect(PROMPT)
        terminal.write("s\n")
        terminal.expect("wants Bash touch b")
        terminal.expect(PROMPT)
        terminal.write("n not that one\n")
        assert "wants" not in terminal.expect("Done.")
        terminal.expect("tokens in")
        terminal.expect(PROMPT)
        terminal.write("\x03")
        terminal.expect("Ctrl-C again, or Ctrl-D, leaves")
        terminal.write("\x03")
        assert terminal.ends() == 0
    statuses = [ResultStatus.OK, ResultStatus.DENIED, ResultStatus.OK]
    history = connected.fold().history
    assert [status for _, status in results_of(history)] == statuses
    results = [text_of(entry.message.content) for entry in history if isinstance(entry, MessageEntry)]
    assert any("not that one" in text for text in results)
    assert not (connected.folder / "b").exists()


def test_the_terminal_is_given_back_as_it_was(connected: Home) -> None:
    with connected.terminal("chat", *MODEL) as terminal:
        before = terminal.mode()
        terminal.expect(PROMPT)
        assert terminal.mode() != before
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ends() == 143
        assert terminal.mode() == before


def test_what_was_acknowledged_is_there_after_a_kill(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "Noted."}, LONG)
    with connected.terminal("chat", *MODEL, "--agent-name", "scribe") as terminal:
        terminal.expect(PROMPT)
        terminal.write("remember the milk\n")
        terminal.expect("Noted.")
        terminal.expect("tokens in")
        terminal.write("talk\n")
        terminal.expect("word word")
        terminal.write("and the bread\n")
        terminal.expect("and the bread")
        _wait_until_it_waits(connected)
        terminal.process.kill()
        terminal.process.wait()
    listed = connected.run("sessions")
    assert listed.stdout.split("\t")[1:3] == ["scribe", "remember the milk"]

    model_server.reset()
    model_server.script({"type": "reply", "text": "Milk and bread."})
    done = connected.run("resume", "scribe", *MODEL)
    assert "› remember the milk\nNoted.\n› talk\n" in done.stdout
    assert "the last turn was cut off" in done.stdout
    assert "Milk and bread." in done.stdout
    assert done.code == 0
    fold = connected.fold()
    assert_whole(fold)
    assert said(connected)[-2:] == ["and the bread", "Milk and bread."]


def test_a_session_that_another_process_has_is_refused(connected: Home) -> None:
    with connected.terminal("chat", *MODEL) as terminal:
        terminal.expect(PROMPT)
        row = _row(connected)
        done = connected.run("resume", row.agent_id[:-2], *MODEL)
        assert done.code == 2
        assert f"is being written by process {terminal.process.pid}" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def _row(home: Home) -> AgentRow:
    return home.sessions()[-1]


def _wait_until_it_waits(home: Home) -> None:
    """Until the second message is acknowledged: it is in the store, behind a turn that runs."""
    deadline = time.monotonic() + 10
    while not home.fold().waiting:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_lost_terminal_ends_the_turn_and_keeps_the_session(connected: Home, model_server: LLMock) -> None:
    sleeping = f"sleep 60.{time.monotonic_ns()}"
    model_server.script(bash(sleeping))
    with connected.terminal("chat", *MODEL, "--mode", "bypass") as terminal:
        terminal.expect(PROMPT)
        terminal.write("sleep\n")
        terminal.expect(f"→ Bash {sleeping}")
        terminal.process.send_signal(signal.SIGHUP)
        terminal.ends()
        assert terminal.process.returncode == 128 + signal.SIGHUP
    assert not is_running(sleeping)
    fold = connected.fold()
    assert_whole(fold)
    assert fold.last_turn is not None
    assert fold.last_turn.stop is TurnStop.CANCELLED
