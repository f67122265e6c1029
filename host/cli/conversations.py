"""Opens a host for a chat: with a new session, or with one of the store."""

import sys
from collections.abc import Sequence

from actors import Agent, builtin_tools
from actors.history import Entry, MessageEntry, Origin, Presentation
from host.cli.amounts import count_text
from host.cli.chatting import Chat
from host.cli.finding import find_session
from host.cli.keyboard import is_terminal
from host.cli.launch import Signals
from host.cli.options import Settings
from host.cli.output import visible
from host.cli.screen import PROMPT
from host.cli.view import Tone
from host.opening import open_host
from host.permissions import PermissionMode
from host.session import Session
from providers.model import Role, text_of

LAST_MESSAGES = 6
_MESSAGE_LINES = 12


async def new_chat(settings: Settings, name: str, signals: Signals, *, as_json: bool) -> int:
    """A chat in a new session; gives the exit code."""
    async with open_host(arguments=settings.arguments(), cwd=settings.folder()) as host:
        model = host.model_name()
        events = host.watch()
        agent = Agent(name, model=settings.model, tools=tuple(builtin_tools().values()))
        session = await host.start(agent)
        chat = Chat(host, session, model=None, as_json=as_json)
        if is_terminal(sys.stdin, sys.stdout):
            chat.tell(f"{model} · mode {session.mode.value} · session {session.id} · /help")
        return await chat.run(signals, events)


async def resumed_chat(settings: Settings, wanted: str, signals: Signals, *, as_json: bool) -> int:
    """A chat that goes on with a stored session; gives the exit code."""
    async with open_host(arguments=settings.arguments(), cwd=settings.folder()) as host:
        row = find_session(await host.sessions(), wanted)
        events = host.watch()
        # The chat attaches the person to the session before it first waits.
        session = await host.resume(
            row.agent_id, tools=tuple(builtin_tools().values()), asks_again=is_terminal(sys.stdin)
        )
        model = host.model_name(settings.model or session.model)
        if settings.mode is not None:
            host.set_mode(session, PermissionMode(settings.mode.value))
        chat = Chat(host, session, model=settings.model, as_json=as_json)
        for line in last_messages(session.history):
            chat.tell(visible(line), Tone.PLAIN)
        chat.tell(f"{model} · mode {session.mode.value} · session {session.id}")
        _tell_what_is_left(chat, session, is_any_asked_again=any(map(_is_asked_again, host.agents())))
        return await chat.run(signals, events)


def _tell_what_is_left(chat: Chat, session: Session, *, is_any_asked_again: bool) -> None:
    """What the person has to know of what was before: damage, a turn that was cut off, what waits."""
    if n_skipped := session.fold.n_skipped:
        chat.tell(
            f"! the log was damaged: {count_text(n_skipped, 'record')} of this conversation could not be "
            "read back and cannot be seen here",
            Tone.CAREFUL,
        )
    if session.was_cut_off:
        chat.tell(
            "the last turn was cut off when its host ended; what was acknowledged is here", Tone.CAREFUL
        )
    if is_any_asked_again:
        chat.tell(
            "a question was open when the host ended; it is asked again, and its turn goes on", Tone.CAREFUL
        )
    if n_waiting := len(session.waiting):
        chat.tell(f"{count_text(n_waiting, 'message')} still to be worked on")


def _is_asked_again(agent: Session) -> bool:
    """Whether its turn was cut off at a question and goes on."""
    turn = agent.fold.turn
    return turn is not None and bool(turn.questions) and not agent.was_cut_off


def last_messages(history: Sequence[Entry]) -> list[str]:
    """The last things that were said by the person and by the agent, each as lines."""
    said = [entry for entry in history if isinstance(entry, MessageEntry) and _is_said(entry)]
    lines = []
    for entry in said[-LAST_MESSAGES:]:
        text = text_of(entry.message.content).rstrip().splitlines()
        lead = PROMPT if entry.message.role is Role.USER else ""
        lines += [
            f"{lead if number == 0 else ' ' * len(lead)}{line}"
            for number, line in enumerate(text[:_MESSAGE_LINES])
        ]
        if len(text) > _MESSAGE_LINES:
            lines.append(f"… {len(text) - _MESSAGE_LINES} more lines")
        if entry.is_partial:
            lines.append("(cut off here)")
    return lines


def _is_said(entry: MessageEntry) -> bool:
    if entry.message.role is Role.ASSISTANT:
        return bool(text_of(entry.message.content).strip())
    is_person = entry.origin is Origin.USER and entry.presentation in (None, Presentation.USER_STEER)
    return entry.message.role is Role.USER and is_person
