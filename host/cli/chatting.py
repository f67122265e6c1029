"""A conversation at a terminal or through a pipe."""

import contextlib
import shutil
import sys
import time
from collections.abc import Awaitable

import anyio

from actors.errors import ActorStopped, BadInput
from actors.events import TurnBegan
from host.cli.boundary import ExitCode
from host.cli.chat_past import Past
from host.cli.editor import LineEditor, Submitted
from host.cli.keyboard import Keyboard, is_live, is_terminal
from host.cli.launch import Signals
from host.cli.outcome import exit_code_of_turn
from host.cli.output import put_json
from host.cli.questions import ConsoleSurface
from host.cli.reading import read_some, standard_input
from host.cli.screen import Screen
from host.cli.slash import HELP, SlashCommand, message_of, slash_command
from host.cli.turns import Turns
from host.cli.view import WIDE, EventView, Line, Tone, spent
from host.host import Host
from host.hub import Subscription
from host.permissions import PermissionMode
from host.session import Session
from host.store import event_to_json
from providers.errors import CallboardError

_LEAVE_HINT = "Ctrl-C again, or Ctrl-D, leaves"


class Chat:
    """One session and whoever writes to it.

    At a terminal what is written during a turn steers it; through a pipe each
    line is a message with a turn of its own, and the end of the input ends
    the chat behind the last answer.
    """

    def __init__(self, host: Host, session: Session, *, model: str | None, as_json: bool) -> None:
        self._host = host
        self._session = session
        self._model = model
        self._as_json = as_json
        self._is_person = is_terminal(sys.stdin)
        self._editor = LineEditor() if is_live() and not as_json else None
        self._screen = Screen(self._editor, is_terminal=is_terminal(sys.stdout) and not as_json)
        self._view = EventView(session.name, time.monotonic, _width())
        self._turns = Turns(session.name)
        self._surface = ConsoleSurface(self._show_question, self._asking)
        asks = self._is_person and not as_json
        self._past = Past(host, session, self._turns, self.tell, self._offer_line, asks=asks)
        self._reading = anyio.CancelScope()
        self._is_leaving = False
        self._was_interrupted = False
        for envelope in session.waiting:
            self._turns.sent(envelope.id)

    async def run(self, signals: Signals, events: Subscription) -> int:
        """Talks until the person leaves; `events` are those of the host since before the session began."""
        with contextlib.ExitStack() as stack:
            if self._is_person:
                stack.enter_context(self._host.attach(self._surface, self._session))
            if self._editor is not None:
                keyboard = Keyboard(sys.stdin.fileno())
                stack.enter_context(keyboard.keys())
                signals.on_continue = lambda: self._continued(keyboard)
            stack.enter_context(signals.interrupts_go_to(lambda: self._interrupted(signals)))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._show_events, events)
                self._screen.set_ready(self._turns.is_idle)
                with self._reading:
                    await self._read()
                if not self._is_leaving:
                    await self._turns.idle()
                self._screen.leave()
                tasks.cancel_scope.cancel()
        if self._turns.broken_because is not None:
            raise ActorStopped(f"{self._session.name} broke: {self._turns.broken_because}")
        last = self._turns.last
        return ExitCode.DONE if self._is_person or last is None else exit_code_of_turn(last)

    def tell(self, text: str, tone: Tone = Tone.QUIET) -> None:
        """A line of the program's own; a program that reads along gets none."""
        if not self._as_json:
            self._screen.show(Line(text, tone))

    # Events

    async def _show_events(self, events: Subscription) -> None:
        async for event in events:
            if self._as_json:
                put_json(event_to_json(event))
            else:
                if isinstance(event, TurnBegan) and event.agent == self._session.name:
                    self._screen.set_ready(self._surface.is_asking)
                for shown in self._view.show(event):
                    self._screen.show(shown)
            self._turns.saw(event)
            if self._turns.broken_because is not None:
                self._reading.cancel()
            if not self._turns.is_in_turn:
                self._screen.set_ready(True)

    async def _show_question(self, line: Line) -> None:
        await self._screen.free()
        if self._as_json:
            sys.stderr.write(line.text + "\n")
        else:
            self._screen.show(line)

    def _asking(self, is_asking: bool) -> None:
        if is_asking:
            self._past.withdraw()  # an answer must not be taken for the other question's
        self._screen.set_ready(is_asking or not self._turns.is_in_turn)

    # Input

    async def _read(self) -> None:
        if self._editor is None:
            lines = standard_input()
            while not self._is_leaving and (line := await lines.next()) is not None:
                await self._take(line)
            self._surface.offer(None)
        else:
            await self._read_keys(self._editor)

    async def _read_keys(self, editor: LineEditor) -> None:
        while data := await read_some(sys.stdin.fileno()):
            edits = editor.feed(data)
            for edit in edits:
                if not isinstance(edit, Submitted):
                    return
                self._screen.entered(edit.text)
                await self._take(edit.text)
                if self._is_leaving:
                    return
            self._screen.edited()

    async def _take(self, line: str) -> None:
        """One line of input: an answer, a command or a message."""
        self._was_interrupted = False
        if self._surface.is_asking:
            self._surface.offer(line)
        elif self._past.is_asking:
            await self._try(self._past.answer(line))
        elif (command := slash_command(line)) is not None:
            await self._obey(command)
        elif line.strip():
            await self._send(message_of(line))

    async def _send(self, text: str) -> None:
        try:
            if self._is_person:
                receipt = await self._session.tell(text, model=self._model)
                self._turns.sent(receipt.envelope.id)
                return
            receipt = await self._session.post(text, self._model)
        except BadInput as error:
            self._complain(error)
            return
        self._turns.sent(receipt.envelope.id)
        await self._turns.answered(receipt.envelope.id)

    def _complain(self, error: CallboardError) -> None:
        if self._as_json:
            sys.stderr.write(f"callboard: {error}\n")
        else:
            self._screen.show(Line(f"! {error}", Tone.BAD))

    # Commands

    async def _obey(self, command: SlashCommand) -> None:
        match command.name:
            case "help":
                for name, meaning in HELP.items():
                    self.tell(f"{name:<14} {meaning}")
            case "quit" | "exit":
                self._leave()
            case "agents":
                for agent in self._host.agents():
                    self.tell(f"{agent.name:<16} {agent.state.value:<10} {spent(agent.spent)}")
            case "turns":
                await self._try(self._past.list(_width()))
            case "rewind":
                await self._try(self._past.rewind(command.argument))
            case "fork":
                await self._try(self._past.fork(command.argument))
            case "mode":
                self._set_mode(command.argument)
            case "model":
                self._set_model(command.argument)
            case _:
                self.tell(f"! no command /{command.name}; /help lists them", Tone.CAREFUL)

    async def _try(self, work: Awaitable[None]) -> None:
        try:
            await work
        except CallboardError as error:
            self._complain(error)

    def _offer_line(self, text: str) -> bool:
        """Puts a line before the person to be changed, where there is an editor with nothing in it."""
        return self._editor is not None and self._editor.offer(text)

    def _set_mode(self, name: str) -> None:
        known = [mode.value for mode in PermissionMode]
        if not name:
            self.tell(f"the mode is {self._session.mode.value}; there are {', '.join(known)}")
        elif name not in known:
            self.tell(f"! no mode {name!r}; there are {', '.join(known)}", Tone.CAREFUL)
        else:
            self._host.set_mode(self._session, PermissionMode(name))
            self.tell(f"the mode is {name} now")

    def _set_model(self, name: str) -> None:
        try:
            full = self._host.model_name(name or self._model)
        except CallboardError as error:
            self._complain(error)
            return
        if name:
            self._model = full
        self.tell(f"the model is {full}{' from the next message on' if name else ''}")

    def _leave(self) -> None:
        self._is_leaving = True
        self._reading.cancel()

    # Signals

    def _interrupted(self, signals: Signals) -> None:
        """Ctrl-C: stops the turn, else empties the line, else leaves at the second time."""
        if self._session.cancel():
            self._was_interrupted = True
        elif not self._is_person:
            signals.end(2)
        elif self._past.withdraw():
            pass
        elif self._editor is not None and self._editor.text:
            self._editor.clear()
            self._screen.edited()
        elif self._was_interrupted or self._is_leaving:
            self._leave()
        else:
            self._was_interrupted = True
            self.tell(_LEAVE_HINT)

    def _continued(self, keyboard: Keyboard) -> None:
        """The process was stopped and goes on: the shell has taken the terminal back meanwhile."""
        keyboard.take()
        self._screen.edited()


def _width() -> int:
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else WIDE
