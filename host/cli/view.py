"""What a person reads of an event. Pure but for the clock that it is given."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias, assert_never

from pydantic import JsonValue

from actors.address import Address
from actors.events import (
    AgentChanged,
    AnswerCommitted,
    AnswerDropped,
    MessageDropped,
    MessageTaken,
    PermissionSettled,
    PermissionWanted,
    ReasoningArrived,
    RetryWaits,
    SessionEvent,
    StepBegan,
    TextArrived,
    ToolBegan,
    ToolFinished,
    TurnBegan,
    TurnFinished,
    WarningRaised,
)
from actors.history import Presentation, ResultStatus
from actors.records import AgentState, TurnStop
from host.cli.output import one_line, visible
from providers.model import Usage

SUBJECT_CHARACTERS = 80
PREVIEW_CHARACTERS = 80
LEAST_PREVIEW_CHARACTERS = 12
WIDE = 240
CHILD_LINES = 8
_SUBJECT_KEYS = ("command", "path", "pattern", "description", "to", "query", "url", "name", "id")


class Tone(Enum):
    """How a line is meant; a terminal shows it as colour."""

    PLAIN = ""
    QUIET = "dim"
    GOOD = "green"
    BAD = "red"
    CAREFUL = "yellow"
    PERSON = "bold cyan"


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of the answer, as it comes."""

    text: str
    is_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class WordsEnd:
    """The answer of this step is whole; what follows begins a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of its own about what happens."""

    text: str
    tone: Tone = Tone.PLAIN


Shown: TypeAlias = Words | WordsEnd | Line


@dataclass(frozen=True, slots=True)
class _Call:
    text: str
    began_s: float


class EventView:
    """Turns the events of one tree into what is shown.

    `root` is the agent that the person talks to; `width` the characters that
    a line has room for.
    """

    def __init__(self, root: str, clock_s: Callable[[], float], width: int = WIDE) -> None:
        self._root = root
        self._clock_s = clock_s
        self._width = width
        self._depths: dict[str, int] = {root: 0}
        self._began: dict[tuple[str, str], _Call] = {}
        self._turn_began_s = clock_s()

    def show(self, event: SessionEvent) -> tuple[Shown, ...]:
        """What to show now, in order; nothing for events that say nothing to a person."""
        match event:
            case TextArrived():
                return (Words(event.text),) if event.agent == self._root else ()
            case ReasoningArrived():
                return (Words(event.text, is_reasoning=True),) if event.agent == self._root else ()
            case AnswerCommitted():
                return self._answer(event)
            case AnswerDropped():
                said = f"the answer broke off ({event.error}); it starts again"
                return (WordsEnd(), self._line(event.agent, f"! {said}", Tone.CAREFUL))
            case ToolBegan():
                return self._tool_began(event)
            case ToolFinished():
                return self._tool_finished(event)
            case RetryWaits():
                said = f"{event.error}; trying again in {event.delay_s:.1f} s (attempt {event.attempt})"
                return (self._line(event.agent, f"! {said}", Tone.CAREFUL),)
            case MessageTaken():
                return self._taken(event)
            case MessageDropped():
                said = f"! a message is {event.state}: {event.reason}"
                return (self._line(event.agent, said, Tone.CAREFUL),)
            case WarningRaised():
                return (self._line(event.agent, f"! {event.text}", Tone.CAREFUL),)
            case TurnBegan():
                if event.agent == self._root:
                    self._turn_began_s = self._clock_s()
                return ()
            case TurnFinished():
                return self._finished(event)
            case AgentChanged():
                return self._changed(event)
            case StepBegan() | PermissionWanted() | PermissionSettled():
                return ()
            case _:
                assert_never(event)

    def _answer(self, event: AnswerCommitted) -> tuple[Shown, ...]:
        """A child's words come line by line when they are whole: those of several would mix."""
        if event.agent == self._root:
            # Without calls more of the same answer can follow, where it was cut at the output limit.
            return (WordsEnd(),) if event.n_calls else ()
        lines = [line for line in visible(event.text).splitlines() if line.strip()]
        shown = [self._line(event.agent, f"│ {line}", Tone.PLAIN) for line in lines[:CHILD_LINES]]
        if len(lines) > CHILD_LINES:
            more = f"│ … {len(lines) - CHILD_LINES} more lines"
            shown.append(self._line(event.agent, more, Tone.QUIET))
        return tuple(shown)

    def _tool_began(self, event: ToolBegan) -> tuple[Shown, ...]:
        subject = subject_of(event.input)
        call = _Call(f"{event.name} {subject}".rstrip(), self._clock_s())
        self._began[event.agent, event.call_id] = call
        return (self._line(event.agent, f"→ {call.text}", Tone.QUIET),)

    def _tool_finished(self, event: ToolFinished) -> tuple[Shown, ...]:
        is_ok = event.status is ResultStatus.OK
        began = self._began.pop((event.agent, event.call_id), None)
        text = f"{'✓' if is_ok else '✗'} {event.name if began is None else began.text}"
        text += f" · {event.status.value.replace('_', ' ')}"
        if began is not None:  # else it was refused before it began
            text += f" · {duration(self._clock_s() - began.began_s)}"
        line = self._line(event.agent, text, Tone.GOOD if is_ok else Tone.BAD)
        room = min(self._width - len(line.text) - 4, PREVIEW_CHARACTERS)
        if room >= LEAST_PREVIEW_CHARACTERS and (preview := one_line(event.preview, room)):
            line = replace(line, text=f"{line.text} · {preview}")
        return (line,)

    def _taken(self, event: MessageTaken) -> tuple[Shown, ...]:
        """What the person wrote as a new turn stands there already; everything else is told."""
        said = one_line(event.preview, SUBJECT_CHARACTERS)
        match event.presentation:
            case Presentation.USER_STEER:
                text = f"↳ taken into this turn: {said}"
            case Presentation.TASK_NOTIFICATION | Presentation.TASK_NOTIFICATION_STEER:
                text = "↳ a task that was started has news"
            case Presentation.SUBAGENT_REPLY | Presentation.SUBAGENT_REPLY_STEER:
                text = f"↳ from {event.sender}: {said}"
            case Presentation.COORDINATOR_STEER:
                text = f"↳ from its coordinator {event.sender}: {said}"
            case _:
                return ()
        return (self._line(event.agent, text, Tone.QUIET),)

    def _finished(self, event: TurnFinished) -> tuple[Shown, ...]:
        return (WordsEnd(), self._end(event)) if event.agent == self._root else ()

    def _end(self, event: TurnFinished) -> Line:
        took = duration(self._clock_s() - self._turn_began_s)
        if event.stop is TurnStop.DONE:
            return Line(f"{took} · {spent(event.usage)}", Tone.QUIET)
        if event.stop is TurnStop.CANCELLED:
            return Line(f"cancelled after {took}", Tone.CAREFUL)
        return Line(f"! {visible(why_it_ended(event))}", Tone.BAD)

    def _changed(self, event: AgentChanged) -> tuple[Shown, ...]:
        if event.parent is None:
            return ()
        is_new = event.agent not in self._depths
        self._depths.setdefault(event.agent, self._depths.get(event.parent, 0) + 1)
        reason = f": {one_line(event.reason, SUBJECT_CHARACTERS)}" if event.reason else ""
        match event.state:
            case AgentState.RUNNING if is_new:
                return (self._line(event.agent, "started", Tone.QUIET),)
            case AgentState.COMPLETED:
                return (self._line(event.agent, "completed", Tone.GOOD),)
            case AgentState.FAILED | AgentState.CANCELLED | AgentState.LOST:
                return (self._line(event.agent, f"{event.state.value}{reason}", Tone.BAD),)
            case _:
                return ()

    def _line(self, agent: Address, text: str, tone: Tone) -> Line:
        depth = self._depths.get(agent, 1)
        lead = f"{'  ' * depth}{agent} " if depth else ""
        return Line(lead + visible(text), tone)


def subject_of(value: JsonValue) -> str:
    """What a call is about, in one line: its command, path or pattern, else its whole input."""
    if isinstance(value, dict):
        for key in _SUBJECT_KEYS:
            if isinstance(found := value.get(key), str) and found:
                return one_line(found, SUBJECT_CHARACTERS)
        if not value:
            return ""
    return one_line(json.dumps(value, ensure_ascii=False), SUBJECT_CHARACTERS)


def duration(seconds: float) -> str:
    """A time as a person reads it: 12 ms, 3.4 s, 2 min 5 s."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def spent(usage: Usage) -> str:
    """Tokens in and out, and how many of those in came from the provider's cache."""
    cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens else ""
    return f"{usage.total_input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"


def why_it_ended(event: TurnFinished) -> str:
    """Why a turn did not end as done, without the name of the error's class."""
    if event.error is None:
        return f"the turn ended: {event.stop.value.replace('_', ' ')}"
    _, colon, text = event.error.partition(": ")
    return text if colon else event.error
