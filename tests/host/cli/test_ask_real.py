"""`callboard ask` as a process, against a model server as a process."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from actors.history import ResultStatus
from tests.host.cli.processes import Home, assert_whole, events_of, results_of
from tests.real.conftest import LLMock

pytestmark = pytest.mark.real

OPENAI = "openai:gpt-5.6-terra"
ANTHROPIC = "anthropic:claude-sonnet-5-5"


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_the_answer_goes_to_stdout_and_the_tools_to_stderr(
    connected: Home, model_server: LLMock, model: str
) -> None:
    (connected.folder / "note.txt").write_text("forty-two\n")
    model_server.script(
        {"type": "reply", "tool_calls": [{"name": "Read", "arguments": {"path": "note.txt"}}]},
        {"type": "reply", "text": "The note says forty-two."},
    )
    done = connected.run("ask", "What does the note say?", "--model", model)
    assert (done.stdout, done.code) == ("The note says forty-two.\n", 0)
    assert "→ Read note.txt" in done.stderr
    assert "✓ Read note.txt · ok" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert results_of(connected.fold().history) == [("Read", ResultStatus.OK)]


def test_a_program_reads_one_event_a_line(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "Grüße."})
    done = connected.run("ask", "-", "--model", OPENAI, "--json", "--backend", "trio", stdin="Hallo?\n")
    events = events_of(done.stdout)
    assert {"turn_began", "text_arrived", "answer_committed"} <= {str(event["event"]) for event in events}
    assert (events[-1]["event"], events[-1]["stop"], events[-1]["text"]) == (
        "turn_finished",
        "done",
        "Grüße.",
    )
    assert done.stdout.isascii()


def test_without_a_terminal_what_needs_permission_is_denied(connected: Home, model_server: LLMock) -> None:
    model_server.script(
        {"type": "reply", "tool_calls": [{"name": "Bash", "arguments": {"command": "touch made"}}]},
        {"type": "reply", "text": "I may not."},
    )
    done = connected.run("ask", "Make it", "--model", OPENAI)
    assert (done.stdout, done.code) == ("I may not.\n", 0)
    assert "✗ Bash · denied" in done.stderr
    assert not (connected.folder / "made").exists()


def test_at_a_terminal_a_person_is_asked(connected: Home, model_server: LLMock) -> None:
    model_server.script(
        {"type": "reply", "tool_calls": [{"name": "Bash", "arguments": {"command": "touch made"}}]},
        {"type": "reply", "text": "Made it."},
    )
    with connected.terminal("ask", "Make it", "--model", OPENAI) as terminal:
        terminal.expect("wants Bash touch made")
        terminal.expect("y once")
        terminal.write("what?\n")
        terminal.expect("? y once")
        terminal.write("y\n")
        terminal.expect("Made it.")
        assert terminal.ends() == 0
    assert (connected.folder / "made").exists()


def test_a_wrong_key_is_told_and_not_tried_again(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "fail", "status": 401, "message": "Incorrect API key provided."})
    done = connected.run("ask", "Hi", "--model", OPENAI)
    assert (done.stdout, done.code) == ("", 2)
    assert "401" in done.stderr
    assert "Traceback" not in done.stderr
    assert model_server.n_requests() == 1


def test_a_model_that_the_provider_does_not_know_is_told(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "fail", "status": 404, "message": "model: claude-nonesuch"})
    done = connected.run("ask", "Hi", "--model", "anthropic:claude-nonesuch")
    assert (done.stdout, done.code) == ("", 2)
    assert "claude-nonesuch" in done.stderr


def test_a_rejected_request_is_a_failed_turn(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "fail", "status": 400, "message": "No."})
    done = connected.run("ask", "Hi", "--model", ANTHROPIC)
    assert (done.stdout, done.code) == ("", 1)


def test_html_instead_of_json_is_told(connected: Home) -> None:
    with _page() as url:
        done = connected.run("ask", "Hi", "--model", OPENAI, OPENAI_BASE_URL=url)
    assert (done.stdout, done.code) == ("", 2)
    assert "text/html" in done.stderr


def test_a_refused_connection_is_told_while_it_is_tried_again(connected: Home) -> None:
    process = subprocess.Popen(
        _ask("Hi", OPENAI),
        cwd=connected.folder,
        env=connected.environment(OPENAI_BASE_URL="http://127.0.0.1:9/v1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "no connection to http://127.0.0.1:9" in line
    assert "trying again in" in line
    began_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (out, process.returncode) == ("", 130)
    assert "Traceback" not in err
    assert time.monotonic() - began_s < 3
    assert_whole(connected.fold())


def test_ctrl_c_in_the_middle_of_an_answer_keeps_what_was_said(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "word " * 500})
    process = subprocess.Popen(
        _ask("Talk", OPENAI),
        cwd=connected.folder,
        env=connected.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.read(9) == b"word word"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert b"Traceback" not in err
    fold = connected.fold()
    assert_whole(fold)
    assert fold.last_turn is not None
    assert fold.last_turn.text.startswith("word word")


def test_a_reader_that_goes_away_ends_it_quietly(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "word " * 500})
    process = subprocess.Popen(
        _ask("Talk", OPENAI),
        cwd=connected.folder,
        env=connected.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(4)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=10) == 141
    assert_whole(connected.fold())


def test_output_that_cannot_be_written_is_told(connected: Home, model_server: LLMock) -> None:
    model_server.script({"type": "reply", "text": "word"})
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            _ask("Talk", OPENAI),
            cwd=connected.folder,
            env=connected.environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert b"No space left" in done.stderr


def _ask(text: str, model: str) -> list[str]:
    return [sys.executable, "-m", "host.cli.main", "ask", text, "--model", model]


class _Page(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = b"<!doctype html><title>Welcome</title>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        pass


@contextmanager
def _page() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
