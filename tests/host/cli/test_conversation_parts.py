"""The small parts of a chat: commands, answers, which session is meant, what is still to come."""

import anyio
import pytest

from actors.address import Address, AgentId
from actors.events import AgentChanged, MessageDropped, MessageTaken, TurnBegan, TurnFinished
from actors.history import Authority
from actors.permission import PermissionClass
from actors.ports import PermissionQuestion
from actors.records import AgentRole, AgentState, TurnId, TurnStop
from host.cli.finding import find_session
from host.cli.options import Mode
from host.cli.questions import ConsoleSurface, question_lines, read_answer
from host.cli.slash import SlashCommand, message_of, slash_command
from host.cli.turns import Turns
from host.cli.view import Line
from host.errors import UnknownSession
from host.permissions import HumanAnswer, OpenQuestion, PermissionMode, Scope
from host.store.ports import AgentRow
from providers.model import Usage

MAIN = Address("main")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/help", SlashCommand("help", "")),
        ("/mode  plan ", SlashCommand("mode", "plan")),
        ("/etc/hosts is wrong", None),
        ("//quit", None),
        ("say /quit", None),
    ],
)
def test_a_line_with_a_slash_is_a_command_unless_it_is_a_path(
    line: str, command: SlashCommand | None
) -> None:
    assert slash_command(line) == command


def test_two_slashes_send_one() -> None:
    assert message_of("//quit") == "/quit"
    assert message_of("quit") == "quit"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y", HumanAnswer(True)),
        (" YES ", HumanAnswer(True)),
        ("s", HumanAnswer(True, Scope.SESSION)),
        ("n", HumanAnswer(False)),
        ("no, not there", HumanAnswer(False, reason="not there")),
        ("yes but not now", None),
        ("", None),
        ("maybe", None),
    ],
)
def test_only_what_is_clearly_a_yes_allows(line: str, answer: HumanAnswer | None) -> None:
    assert read_answer(line) == answer


def test_the_end_of_the_input_refuses() -> None:
    answer = read_answer(None)
    assert answer is not None
    assert not answer.is_allowed


def question(number: int = 1, command: str = "ls") -> OpenQuestion:
    asked = PermissionQuestion(
        AgentId("a1"),
        "main",
        "c1",
        "Bash",
        PermissionClass.EXECUTE,
        False,
        {"command": command, "timeout_s": 3, "why": "x" * 500},
        command,
        Authority.USER,
    )
    return OpenQuestion(f"q{number}", number, asked, "default mode asks")


def test_a_question_shows_the_whole_command_and_steers_no_terminal() -> None:
    command = "echo " + "a" * 3_000 + "\nrm -rf \x1b[2K/"
    lines = [line.text for line in question_lines(question(command=command))]
    assert "a" * 3_000 in lines[0]
    assert lines[0].endswith("\n    rm -rf [2K/")
    assert "  timeout_s: 3" in lines
    assert any("(500 characters)" in line for line in lines)


async def test_waiting_questions_are_asked_in_order_and_each_needs_its_own_answer() -> None:
    shown: list[str] = []
    answers: dict[int, HumanAnswer] = {}

    async def show(line: Line) -> None:
        shown.append(line.text)

    surface = ConsoleSurface(show, lambda _: None)

    async def ask(number: int) -> None:
        answers[number] = await surface.ask(question(number, f"command {number}"))

    async with anyio.create_task_group() as tasks:
        for number in (1, 2):
            tasks.start_soon(ask, number)
            await anyio.wait_all_tasks_blocked()
        assert not any("command 2" in line for line in shown)
        surface.offer("hm")
        surface.offer("y")
        surface.offer("y")
        await anyio.wait_all_tasks_blocked()
        assert answers == {1: HumanAnswer(True)}
        surface.offer("n")
    assert answers[2] == HumanAnswer(False)
    assert not surface.is_asking


async def test_a_withdrawn_question_gives_way_to_the_next() -> None:
    async def show(line: Line) -> None:
        pass

    surface = ConsoleSurface(show, lambda _: None)
    with anyio.move_on_after(1):
        await surface.ask(question(1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(surface.ask, question(2))
        await anyio.wait_all_tasks_blocked()
        assert surface.is_asking
        surface.offer("y")


def row(agent_id: str, name: str) -> AgentRow:
    return AgentRow(AgentId(agent_id), AgentId(agent_id), None, name, AgentRole.MAIN, 0.0, 0.0, 1, None)


def test_a_session_is_meant_by_its_id_its_beginning_or_its_name() -> None:
    rows = [row("sess_ab", "main"), row("sess_abc", "main"), row("sess_x", "scribe")]
    assert find_session(rows, "sess_ab").agent_id == "sess_ab"
    assert find_session(rows, "sess_x").agent_id == "sess_x"
    assert find_session(rows, "scribe").agent_id == "sess_x"
    for wanted, named in (("main", "sess_ab, sess_abc"), ("sess_", "3 sessions"), ("", "no session")):
        with pytest.raises(UnknownSession, match=named):
            find_session(rows, wanted)


def test_turns_tell_what_is_still_to_come() -> None:
    turns = Turns(MAIN)
    assert turns.is_idle
    turns.sent("m1")
    assert not turns.is_idle
    turns.saw(MessageTaken(MAIN, "m1", Address("user"), "", ""))
    turns.saw(TurnBegan(MAIN, TurnId("t1"), ""))
    turns.saw(TurnBegan(Address("child"), TurnId("t2"), ""))
    assert turns.is_in_turn
    turns.saw(ended(TurnStop.DONE))
    turns.sent("m1")
    assert turns.is_idle


def test_behind_a_failed_turn_nothing_goes_on_by_itself() -> None:
    turns = Turns(MAIN)
    turns.sent("m1")
    turns.sent("m2")
    turns.saw(MessageTaken(MAIN, "m1", Address("user"), "", ""))
    turns.saw(ended(TurnStop.FAILED))
    assert turns.is_idle
    turns.saw(MessageDropped(MAIN, "m2", "dead", ""))
    assert turns.is_idle


async def test_an_agent_that_broke_is_not_waited_for() -> None:
    turns = Turns(MAIN)
    turns.sent("m1")
    turns.saw(MessageTaken(MAIN, "m1", Address("user"), "", ""))
    turns.saw(AgentChanged(MAIN, AgentId("a1"), None, AgentState.FAILED, "a defect"))
    with anyio.fail_after(1):
        await turns.answered("m1")
        await turns.idle()
    assert turns.broken_because == "a defect"


def ended(stop: TurnStop) -> TurnFinished:
    return TurnFinished(MAIN, TurnId("t1"), stop, "", Usage(), None, 1, None)


def test_the_modes_of_the_options_are_those_of_the_host() -> None:
    assert [mode.value for mode in Mode] == [mode.value for mode in PermissionMode]
