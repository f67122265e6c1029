"""Permission questions at the console: one after the other, answered with a letter."""

import json
from collections.abc import Awaitable, Callable

import anyio

from actors.ports import PermissionQuestion
from host.cli.output import one_line, visible
from host.cli.view import Line, Tone
from host.permissions import HumanAnswer, OpenQuestion, Scope

_FIELD_CHARACTERS = 200
_KEYS = "y once · s for this session · n no, with a reason if you like (n because …)"


class ConsoleSurface:
    """Asks a person, in the order in which questions come.

    `show` puts a line before the person's eyes and returns when it is there.
    Whoever reads the console gives what was written to `offer` while `is_asking`.
    """

    def __init__(self, show: Callable[[Line], Awaitable[None]], asks: Callable[[bool], None]) -> None:
        self._show = show
        self._asks = asks
        self._one_at_a_time = anyio.Lock()
        self._lines: list[str | None] = []
        self._came = anyio.Event()
        self.is_asking = False

    async def ask(self, question: OpenQuestion) -> HumanAnswer:
        """Waits for an answer that can be read as one; the end of the input refuses."""
        async with self._one_at_a_time:
            for line in question_lines(question):
                await self._show(line)
            self._lines.clear()
            self._turn(True)
            try:
                while True:
                    answer = read_answer(await self._next())
                    if answer is not None:
                        return answer
                    await self._show(Line(f"? {_KEYS}", Tone.CAREFUL))
            finally:
                self._turn(False)

    def offer(self, line: str | None) -> None:
        """A line that the person wrote; None is the end of the input."""
        self._lines.append(line)
        self._came.set()

    def _turn(self, is_asking: bool) -> None:
        self.is_asking = is_asking
        self._asks(is_asking)

    async def _next(self) -> str | None:
        while not self._lines:
            self._came = anyio.Event()
            await self._came.wait()
        return self._lines.pop(0)


def read_answer(line: str | None) -> HumanAnswer | None:
    """What was meant; None where that cannot be told."""
    if line is None:
        return HumanAnswer(False, reason="the console was closed before an answer came")
    word, _, rest = line.strip().partition(" ")
    match word.lower().rstrip(",.:"):
        case "y" | "yes" if not rest:
            return HumanAnswer(True)
        case "s" | "session" if not rest:
            return HumanAnswer(True, Scope.SESSION)
        case "n" | "no":
            return HumanAnswer(False, reason=rest.strip())
        case _:
            return None


def question_lines(open_question: OpenQuestion) -> tuple[Line, ...]:
    """The question with everything that the call would do, so that nobody allows what they have not seen."""
    question = open_question.question
    subject = _all_of(question.subject) if question.subject is not None else ""
    caused_by = f", after a message from {', '.join(question.caused_by)}" if question.caused_by else ""
    return (
        Line(f"? {question.agent_path} wants {question.tool} {subject}".rstrip(), Tone.CAREFUL),
        *(Line(f"  {text}", Tone.QUIET) for text in _other_input(question)),
        Line(f"  {open_question.reason}{caused_by}", Tone.QUIET),
        Line(f"  {_KEYS}", Tone.CAREFUL),
    )


def _all_of(subject: str) -> str:
    """Never shortened: what is cut off could be what matters."""
    return visible(subject.replace("\n", "\n    "))


def _other_input(question: PermissionQuestion) -> list[str]:
    if not isinstance(question.input, dict):
        return [one_line(json.dumps(question.input, ensure_ascii=False), _FIELD_CHARACTERS)]
    fields = []
    for name, value in question.input.items():
        if value == question.subject:
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        size = f" ({len(text):,} characters)" if len(text) > _FIELD_CHARACTERS else ""
        fields.append(f"{one_line(name, 40)}: {one_line(text, _FIELD_CHARACTERS)}{size}")
    return fields
