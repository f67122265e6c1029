import re

import anyio
import pytest

from host.cli.editor import LineEditor, Submitted
from host.cli.screen import Screen
from host.cli.view import Line, Words, WordsEnd


class Person:
    """Types into a screen, and sees what is on it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.editor = LineEditor()
        self.screen = Screen(self.editor, is_terminal=True)
        self._capsys = capsys
        self._written = ""

    def types(self, text: str) -> None:
        for edit in self.editor.feed(text.encode()):
            if isinstance(edit, Submitted):
                self.screen.entered(edit.text)
        self.screen.edited()

    def sees(self) -> list[str]:
        """The lines as a terminal would show them."""
        self._written += self._capsys.readouterr().out
        lines = []
        for line in self._written.split("\n"):
            # What stood in a line before it was erased is not seen.
            shown = line.rpartition("\r\x1b[K")[2]
            lines.append(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown))
        return lines


@pytest.fixture
def person(capsys: pytest.CaptureFixture[str]) -> Person:
    return Person(capsys)


def test_words_come_as_they_come_and_lines_begin_anew(person: Person) -> None:
    for shown in (Words("Hel"), Words("lo"), Line("→ Read a.md"), Words("Bye"), WordsEnd(), WordsEnd()):
        person.screen.show(shown)
    assert person.sees() == ["Hello", "→ Read a.md", "Bye", ""]


def test_the_prompt_stands_below_everything_while_nothing_runs(person: Person) -> None:
    person.screen.set_ready(True)
    person.screen.show(Line("a task has news"))
    assert person.sees() == ["a task has news", "› "]
    person.screen.set_ready(False)
    person.screen.show(Words("It"))
    assert person.sees() == ["a task has news", "It"]


def test_what_is_written_never_mixes_with_what_comes(person: Person) -> None:
    person.screen.show(Words("one two "))
    person.types("st")
    person.screen.show(Words("three "))
    person.types("op")
    person.screen.show(Words("four"))
    assert person.sees() == ["one two ", "› stop"]
    person.types("\r")
    person.screen.show(Words(" five"))
    assert person.sees() == ["one two ", "› stop", "three four five"]


def test_what_waited_is_shown_when_the_line_is_emptied(person: Person) -> None:
    person.types("x")
    person.screen.show(Line("news"))
    person.types("\x7f")
    assert person.sees() == ["news", ""]


def test_a_long_line_shows_the_part_around_the_cursor(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "13")
    person.types("0123456789日本")
    assert person.sees() == ["› 456789日本"]
    person.types("\x01")
    assert person.sees() == ["› 0123456789"]
    person.types("\r")
    assert person.sees() == ["› 0123456789日本", ""]


def test_a_pasted_text_stands_there_line_by_line(person: Person) -> None:
    person.types("\x1b[200~one\ntwo\x1b[201~\r")
    assert person.sees() == ["› one", "  two", ""]


def test_nothing_in_an_answer_steers_the_terminal(person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    person.screen.show(Words("a\x1b[2Jb\rc"))
    assert capsys.readouterr().out == "a[2Jbc"


async def test_a_question_is_before_the_persons_eyes_before_it_counts(person: Person) -> None:
    person.types("half a mess")
    is_shown = False

    async def ask() -> None:
        nonlocal is_shown
        await person.screen.free()
        is_shown = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert not is_shown
        person.types("age\r")
    assert is_shown


def test_a_pipe_gets_the_answer_as_it_came_and_no_reasoning(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(None, is_terminal=False)
    screen.set_ready(True)
    for shown in (Words("hm", is_reasoning=True), Words("a\x1b[1mb"), WordsEnd(), Line("done")):
        screen.show(shown)
    assert capsys.readouterr().out == "a\x1b[1mb\ndone\n"


def test_reasoning_stands_apart_from_the_answer(person: Person) -> None:
    for shown in (Words("hm", is_reasoning=True), Words(" so", is_reasoning=True), Words("Yes.")):
        person.screen.show(shown)
    assert person.sees() == ["hm so", "Yes."]
