"""The past of a chat without a terminal: what is asked, what is withdrawn, what is refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from actors import builtin_tools
from actors.address import Address
from actors.agent import Agent
from actors.errors import BadInput
from actors.events import TurnBegan, TurnFinished
from actors.records import TurnId, TurnStop
from host.cli.chat_past import Past
from host.cli.editor import LineEditor
from host.cli.slash import line_of, message_of, slash_command
from host.cli.turns import Turns
from host.cli.view import Tone
from host.config import Config
from host.permissions import PermissionMode
from host.session import Session
from providers.model import Usage
from providers.scripted import ScriptedProvider, call
from tests.host.hosts import scripted_host

BYPASS = Config(store="unused", permission_mode=PermissionMode.BYPASS)


@dataclass
class Talk:
    """A session with one turn that wrote a file, and what its person sees."""

    session: Session
    past: Past
    path: Path
    told: list[str]
    line: list[str]

    def was_told(self, text: str) -> bool:
        return any(text in line for line in self.told)


@dataclass
class Screen:
    told: list[str] = field(default_factory=list)
    line: list[str] = field(default_factory=list)

    def tell(self, text: str, _tone: Tone) -> None:
        self.told.append(text)

    def edit(self, text: str) -> bool:
        self.line.append(text)
        return True


@asynccontextmanager
async def talk(tmp_path: Path, *, asks: bool = True) -> AsyncIterator[Talk]:
    path = tmp_path / "a.txt"
    provider = ScriptedProvider([[call("Write", {"path": str(path), "content": "new"})], "Written.", "Two."])
    async with scripted_host(provider, config=BYPASS) as host:
        session = await host.start(Agent("main", tools=[builtin_tools()["Write"]]))
        await session.ask("Write.")
        screen = Screen()
        past = Past(host, session, Turns(session.name), screen.tell, screen.edit, asks=asks)
        yield Talk(session, past, path, screen.told, screen.line)


async def test_files_are_put_back_only_behind_a_clear_yes(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        for answer in ("", "yes please", "write more"):
            await it.past.rewind("")
            await it.past.answer(answer)
            assert it.past.is_asking
        assert it.path.exists()
        await it.past.answer(" Y ")
        assert not it.past.is_asking
        assert not it.path.exists()
        assert it.line == ["Write."]
        assert it.session.turns == ()


async def test_a_question_that_was_withdrawn_takes_nothing_back(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        await it.past.rewind("1")
        assert it.past.withdraw()
        assert not it.past.withdraw()
        await it.past.answer("y")
        assert it.path.exists()
        assert len(it.session.turns) == 1


async def test_a_yes_is_for_the_turns_that_were_shown_and_no_others(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        await it.past.rewind("")
        await it.session.ask("Second.")
        await it.past.answer("y")
        assert it.was_told("has gone on meanwhile")
        assert it.path.exists()
        assert len(it.session.turns) == 2


async def test_where_nobody_is_asked_it_is_done_at_its_word_but_for_conflicts(tmp_path: Path) -> None:
    async with talk(tmp_path, asks=False) as it:
        it.path.write_text("by hand")
        await it.past.rewind("1")
        assert it.was_told("`/rewind 1 overwrite` replaces them")
        assert it.path.exists()
        await it.past.rewind("1 overwrite")
        assert not it.path.exists()


async def test_files_can_be_left_alone(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        it.path.write_text("by hand")
        await it.past.rewind("keep-files")
        assert it.path.read_text() == "by hand"
        assert it.was_told("files left as they are now")
        assert it.session.turns == ()


@pytest.mark.parametrize("argument", ["1 2", "overwrite keep-files", "1 overwrite overwrite"])
async def test_an_unclear_rewind_does_nothing(tmp_path: Path, argument: str) -> None:
    async with talk(tmp_path) as it:
        await it.past.rewind(argument)
        assert it.was_told("! /rewind takes a turn")
        assert len(it.session.turns) == 1
        with pytest.raises(BadInput, match="no turn 9"):
            await it.past.rewind("9")


@pytest.mark.parametrize("message", ["hello", "/quit", "//quit", "/etc/hosts", "///", "/", ""])
def test_a_message_comes_back_as_the_line_that_sends_it(message: str) -> None:
    line = line_of(message)
    assert slash_command(line) is None
    assert message_of(line) == message


def test_a_text_is_offered_for_changing_unless_something_is_written() -> None:
    editor = LineEditor()
    assert editor.offer("two\x1b[2K\tlines\nhere")
    assert editor.text == "two[2K    lines\nhere"
    editor.feed(b"!")
    assert editor.text.endswith("here!")
    assert not editor.offer("other")
    assert not LineEditor().offer("x" * 10_000)


async def test_the_end_of_a_turn_is_waited_for_once_it_is_seen() -> None:
    turns, name = Turns(Address("main")), Address("main")
    turns.saw(TurnBegan(name, TurnId("t1"), ""))
    with anyio.move_on_after(1) as scope:
        await turns.finished_behind(0)
    assert scope.cancelled_caught
    turns.saw(TurnFinished(name, TurnId("t1"), TurnStop.DONE, "", Usage(), None, 1, None))
    turns.saw(TurnBegan(name, TurnId("t2"), ""))
    with anyio.fail_after(1):
        await turns.finished_behind(0)
