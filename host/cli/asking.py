"""One question and its answer: the text on stdout, everything else on stderr."""

import contextlib
import sys
import time

import anyio
import anyio.lowlevel

from actors import Agent, builtin_tools
from actors.errors import NotDelivered
from host.cli.boundary import ExitCode
from host.cli.keyboard import is_terminal
from host.cli.launch import Signals
from host.cli.options import Settings
from host.cli.outcome import exit_code_of_turn
from host.cli.output import put, put_json, visible
from host.cli.questions import ConsoleSurface
from host.cli.reading import standard_input
from host.cli.view import EventView, Line, Shown, Words, WordsEnd
from host.opening import open_host
from host.session import Session
from host.store import event_to_json
from host.turn_stream import TurnStream


async def ask(text: str, settings: Settings, name: str, signals: Signals, *, as_json: bool) -> int:
    """Asks in a session of its own; gives the exit code of the turn."""
    async with open_host(arguments=settings.arguments(), cwd=settings.folder()) as host:
        host.model_name()
        agent = Agent(name, model=settings.model, tools=tuple(builtin_tools().values()))
        session = await host.start(agent)
        stream = session.stream(text)
        console = _Answering()
        with contextlib.ExitStack() as stack:
            stack.enter_context(signals.interrupts_go_to(stream.cancel))
            if is_terminal(sys.stdin, sys.stderr):
                stack.enter_context(host.attach(console.surface, session))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(console.read)
                code = await _follow(session, stream, as_json=as_json)
                tasks.cancel_scope.cancel()
        return code


async def _follow(session: Session, stream: TurnStream, *, as_json: bool) -> int:
    output = _Split()
    view = EventView(session.name, time.monotonic)
    try:
        async for event in stream:
            if as_json:
                put_json(event_to_json(event))
            else:
                for shown in view.show(event):
                    output.show(shown)
    except NotDelivered:  # Ctrl-C came before the turn began and took the question back
        return ExitCode.INTERRUPTED
    assert stream.answer is not None, "a stream that ends has its answer"
    return exit_code_of_turn(stream.answer)


class _Answering:
    """Asks on stderr, and reads stdin only while a question waits."""

    def __init__(self) -> None:
        self.surface = ConsoleSurface(self._show, self._asks)
        self._asked = anyio.Event()

    async def read(self) -> None:
        lines = standard_input()
        while True:
            await self._asked.wait()
            self.surface.offer(await lines.next())
            await anyio.lowlevel.checkpoint()

    async def _show(self, line: Line) -> None:
        put(visible(line.text) + "\n", sys.stderr)

    def _asks(self, is_asking: bool) -> None:
        if is_asking:
            self._asked.set()
        else:
            self._asked = anyio.Event()


class _Split:
    """The answer to stdout, what happens around it to stderr."""

    def __init__(self) -> None:
        self._is_terminal = is_terminal(sys.stdout)
        self._is_at_start = True

    def show(self, shown: Shown) -> None:
        match shown:
            case Words(is_reasoning=False) if shown.text:
                put(visible(shown.text) if self._is_terminal else shown.text)
                self._is_at_start = shown.text.endswith("\n")
            case WordsEnd() if not self._is_at_start:
                put("\n")
                self._is_at_start = True
            case Line():
                if not self._is_at_start and self._is_terminal:
                    put("\n")
                    self._is_at_start = True
                put(shown.text + "\n", sys.stderr)
            case _:
                pass
