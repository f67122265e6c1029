"""The demonstration as a tree that grows while it is played. Pure."""

from collections.abc import Iterator
from typing import assert_never

from host.cli.output import one_line, visible
from host.cli.view import Line, Tone, duration, spent
from host.demo.events import (
    ActEnded,
    ActStarted,
    AgentAnswered,
    AgentAppeared,
    Claimed,
    DemoEnded,
    DemoEvent,
    DemoStarted,
    MessageLanded,
    MessageSent,
    NotificationArrived,
    ReceiptAdvanced,
    RecordChosen,
    TableJoined,
)

TEXT_CHARACTERS = 160
CELL_CHARACTERS = (24, 26, 10, 60)
_HEAD = ("page", "title", "topic", "key sentence")
_TOY = (
    "A toy model of 135 million parameters on this machine: what it says may be nonsense. "
    "What is shown, and checked, is the work of the host around it. Its server answers one request at a time."
)


class TreeView:
    """Turns events into lines. Agents stand below the one that started them."""

    def __init__(self) -> None:
        self._depths: dict[str, int] = {}

    def show(self, event: DemoEvent) -> tuple[Line, ...]:
        """The lines that this event adds."""
        match event:
            case DemoStarted():
                return tuple(_opening(event))
            case ActStarted():
                self._depths.clear()
                return (
                    Line(""),
                    Line(f"Act {event.act} · {event.title}", Tone.PERSON),
                    Line(f"│  {event.note}", Tone.QUIET),
                )
            case AgentAppeared():
                return (self._appeared(event),)
            case AgentAnswered():
                return tuple(self._answered(event))
            case NotificationArrived():
                text = f"{event.agent} is notified by the host: {event.about} has {event.status}"
                return (self._line(event.agent, text, Tone.CAREFUL),)
            case MessageSent():
                said = one_line(event.body, TEXT_CHARACTERS)
                text = f"{event.sender} → {event.recipient}, which is at work: “{said}”"
                return (self._line(event.sender, text, Tone.CAREFUL),)
            case MessageLanded():
                text = (
                    f"taken into the running turn as {event.presentation}, "
                    f"behind a step that said {event.n_characters_before} characters and called no tool"
                )
                return (self._line(event.agent, text),)
            case ReceiptAdvanced():
                text = f"receipt: {event.state} after {duration(event.seconds)}, {event.detail}"
                return (self._line("", text, Tone.CAREFUL),)
            case RecordChosen():
                return tuple(self._chosen(event))
            case TableJoined():
                return tuple(self._table(event))
            case Claimed():
                detail = f" ({one_line(event.detail, TEXT_CHARACTERS)})" if event.detail else ""
                mark, tone = ("✓", Tone.GOOD) if event.holds else ("✗ NOT SO:", Tone.BAD)
                return (self._line("", f"{mark} {event.text}{detail}", tone),)
            case ActEnded():
                return (Line(f"└─ {duration(event.seconds)} · {spent(event.usage)}", Tone.QUIET),)
            case DemoEnded():
                return tuple(_end(event))
            case _:
                assert_never(event)

    def _appeared(self, event: AgentAppeared) -> Line:
        self._depths[event.agent] = 0 if event.parent is None else self._depths.get(event.parent, 0) + 1
        if event.parent is None:
            return self._line(event.agent, f"{event.agent} was started by this program; it {event.task}")
        how = "in the background" if event.is_background else f"{event.parent} waits for it"
        return self._line(event.agent, f"{event.agent} {event.task}; {how}")

    def _answered(self, event: AgentAnswered) -> Iterator[Line]:
        said = one_line(event.text, TEXT_CHARACTERS)
        yield self._line(event.agent, f"{event.agent}: “{said}”")
        if event.error is not None or event.stop != "done":
            yield self._line(event.agent, f"   ended as {event.stop}: {visible(event.error or '')}", Tone.BAD)
        yield self._line(event.agent, f"   {duration(event.seconds)} · {spent(event.usage)}", Tone.QUIET)

    def _chosen(self, event: RecordChosen) -> Iterator[Line]:
        chosen = f"{event.page}: {one_line(event.title, TEXT_CHARACTERS)} · {event.topic}"
        yield self._line("", chosen)
        yield self._line("", f"   “{one_line(event.key_sentence, TEXT_CHARACTERS)}”")
        yield self._line("", f"   {duration(event.seconds)} · {spent(event.usage)}", Tone.QUIET)

    def _table(self, event: TableJoined) -> Iterator[Line]:
        for row in (_HEAD, *event.rows):
            cells = (
                one_line(cell, width).ljust(width) for cell, width in zip(row, CELL_CHARACTERS, strict=True)
            )
            yield self._line("", "  ".join(cells).rstrip(), Tone.QUIET if row is _HEAD else Tone.PLAIN)

    def _line(self, agent: str, text: str, tone: Tone = Tone.PLAIN) -> Line:
        branch = "│  " if text.startswith("   ") else "├─ "
        return Line("│  " * self._depths.get(agent, 0) + branch + text.removeprefix("   "), tone)


def _opening(event: DemoStarted) -> Iterator[Line]:
    yield Line(f"Callboard · {event.model} · {event.n_pages} pages of {event.folder}")
    if event.model.startswith("local:"):
        yield Line(_TOY, Tone.QUIET)


def _end(event: DemoEnded) -> Iterator[Line]:
    n_held = event.n_claims - event.n_broken
    tone = Tone.BAD if event.n_broken else Tone.GOOD
    yield Line("")
    yield Line(f"{n_held} of {event.n_claims} claims were checked and held", tone)
    yield Line(f"{duration(event.seconds)} · {spent(event.usage)}", Tone.QUIET)
