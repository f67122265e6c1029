"""The command as a process: run to its end, or at a terminal of its own."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from pydantic import JsonValue

from actors.history import Entry, MessageEntry, ResultStatus
from actors.state import AgentFold, open_calls
from host.store import AgentRow, SqliteStore
from tests.real.conftest import LLMock

DEADLINE_S = 30.0
_CONTROL_SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COMMAND = (sys.executable, "-m", "host.cli.main")
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Done:
    """What a command left: its output and its exit code."""

    stdout: str
    stderr: str
    code: int


@dataclass(frozen=True)
class Home:
    """An empty home with a store in it, and the environment of a process that lives there."""

    folder: Path
    server: LLMock | None = None

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    def environment(self, **more: str) -> dict[str, str]:
        environment = {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "CALLBOARD_STORE": str(self.store),
            "TERM": "xterm",
            "LANG": "C.UTF-8",
        }
        if self.server is not None:
            environment |= {
                "OPENAI_API_KEY": "sk-test",
                "OPENAI_BASE_URL": self.server.openai_url,
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": self.server.anthropic_url,
            }
        return environment | more

    def run(self, *arguments: str, stdin: str | bytes = b"", **environment: str) -> Done:
        """Runs the command to its end, with these bytes as its input."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*_COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment(**environment),
            input=data,
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
        out, err = (b.decode("utf-8", "replace") for b in (done.stdout, done.stderr))
        return Done(out, err, done.returncode)

    @contextmanager
    def terminal(self, *arguments: str, **environment: str) -> Iterator["Terminal"]:
        """The command at a terminal; whatever is left of it is killed at the end."""
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [*_COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment(**environment),
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(follower)
        try:
            yield Terminal(process, leader)
        finally:
            process.kill()
            process.wait()
            os.close(leader)

    def sessions(self) -> tuple[AgentRow, ...]:
        """What the store holds."""

        async def read() -> tuple[AgentRow, ...]:
            async with SqliteStore(self.store) as store:
                return await store.agents()

        return anyio.run(read)

    def fold(self) -> AgentFold:
        """The newest session as its log tells it."""

        async def read() -> AgentFold:
            fold = AgentFold()
            async with SqliteStore(self.store) as store:
                row = (await store.agents())[-1]
                for stored in (await store.load(row.agent_id)).records:
                    fold.apply(stored.record)
            return fold

        return anyio.run(read)


class Terminal:
    """A person's side of a terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", leader: int) -> None:
        self.process = process
        self._leader = leader
        self._seen = b""
        self._from = 0

    @property
    def text(self) -> str:
        """Everything shown so far, without what moves the cursor."""
        return _CONTROL_SEQUENCES.sub("", self._seen.decode("utf-8", "replace"))

    def mode(self) -> list[object]:
        """How the terminal is set."""
        return list(termios.tcgetattr(self._leader))

    def write(self, text: str) -> None:
        os.write(self._leader, text.encode())

    def expect(self, text: str, *, within_s: float = DEADLINE_S) -> str:
        """Waits until the text is shown behind what was expected before; gives what came until then."""
        deadline = time.monotonic() + within_s
        while (at := self.text.find(text, self._from)) < 0:
            assert self._read(deadline), f"{text!r} did not come within {within_s} s; seen:\n{self.text}"
        before = self.text[self._from : at]
        self._from = at + len(text)
        return before

    def ends(self, *, within_s: float = DEADLINE_S) -> int:
        """Waits for the end of the process; gives its exit code."""
        deadline = time.monotonic() + within_s
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it did not end within {within_s} s; seen:\n{self.text}"
            self._read(time.monotonic() + 0.05)
        while self._read(time.monotonic() + 0.05):
            pass
        return self.process.returncode

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._leader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            chunk = os.read(self._leader, 65_536)
        except OSError:  # the other side has closed the terminal
            return False
        self._seen += chunk
        return bool(chunk)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def events_of(output: str) -> list[dict[str, JsonValue]]:
    """The events that a command printed with --json."""
    return [json.loads(line) for line in output.splitlines()]


def results_of(history: Sequence[Entry]) -> list[tuple[str, ResultStatus | None]]:
    """The tools whose calls have a result, and what became of each."""
    return [
        (entry.message.tool_name or "", entry.status)
        for entry in history
        if isinstance(entry, MessageEntry) and entry.message.tool_call_id is not None
    ]


def assert_whole(fold: AgentFold) -> None:
    """No turn is open and every call has its result."""
    assert fold.turn is None
    assert open_calls(fold.history) == ()


def is_running(command: str) -> bool:
    """Whether any process has this text in its command line."""
    return subprocess.run(["pgrep", "-f", command], stdout=subprocess.DEVNULL, check=False).returncode == 0
