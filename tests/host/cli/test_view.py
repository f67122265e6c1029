from itertools import count

import pytest
from pydantic import JsonValue

import host.errors
import providers.errors
from actors.address import Address, AgentId
from actors.events import (
    AgentChanged,
    AnswerCommitted,
    MessageTaken,
    RetryWaits,
    SessionEvent,
    TextArrived,
    ToolBegan,
    ToolFinished,
    TurnBegan,
    TurnFinished,
)
from actors.history import Presentation, ResultStatus
from actors.records import AgentState, TurnId, TurnStop
from host.cli.boundary import ExitCode
from host.cli.outcome import TO_SET_RIGHT, exit_code_of_turn
from host.cli.output import one_line, visible
from host.cli.view import EventView, Words, WordsEnd, duration, subject_of
from providers.model import Usage

MAIN, CHILD = Address("main"), Address("reader")


def finished(stop: TurnStop, error: str | None = None, agent: Address = MAIN) -> TurnFinished:
    return TurnFinished(agent, TurnId("t1"), stop, "", Usage(10, 90, 0, 5), None, 1, error)


def shown(*events: SessionEvent, width: int = 200) -> list[str]:
    seconds = count()
    view = EventView(MAIN, lambda: float(next(seconds)), width)
    return ["|" if isinstance(one, WordsEnd) else one.text for event in events for one in view.show(event)]


def test_a_call_is_a_line_when_it_begins_and_one_when_it_has_ended() -> None:
    lines = shown(
        ToolBegan(MAIN, "c1", "Bash", {"command": "ls\n-l"}),
        ToolFinished(MAIN, "c1", "Bash", ResultStatus.ERROR, "no such file"),
    )
    assert lines == ["→ Bash ls -l", "✗ Bash ls -l · error · 1.0 s · no such file"]


def test_a_call_that_never_began_has_no_duration() -> None:
    assert shown(ToolFinished(MAIN, "c1", "Bash", ResultStatus.NOT_STARTED, "")) == ["✗ Bash · not started"]


def test_a_preview_is_left_out_where_the_line_is_full() -> None:
    done = ToolFinished(MAIN, "c1", "Bash", ResultStatus.OK, "p" * 50)
    assert shown(done, width=24) == ["✓ Bash · ok"]
    assert len(shown(done, width=40)[0]) < 40


def test_what_a_child_does_is_indented_and_named() -> None:
    started = AgentChanged(CHILD, AgentId("a1"), MAIN, AgentState.RUNNING, "")
    lines = shown(
        started,
        started,
        TextArrived(CHILD, "half a"),
        ToolBegan(CHILD, "c1", "Read", {"path": "a.md"}),
        ToolFinished(CHILD, "c1", "Read", ResultStatus.OK, ""),
        AnswerCommitted(CHILD, "one\n\ntwo", Usage(), 0),
        finished(TurnStop.DONE, agent=CHILD),
        AgentChanged(CHILD, AgentId("a1"), MAIN, AgentState.FAILED, "broke"),
    )
    assert lines == [
        "  reader started",
        "  reader → Read a.md",
        "  reader ✓ Read a.md · ok · 1.0 s",
        "  reader │ one",
        "  reader │ two",
        "  reader failed: broke",
    ]


def test_a_steer_is_told_when_it_is_taken_and_a_new_turn_is_not() -> None:
    def taken(presentation: str) -> MessageTaken:
        return MessageTaken(MAIN, "m1", Address("user"), presentation, "and then?")

    assert shown(taken("")) == []
    assert shown(taken(Presentation.USER_STEER)) == ["↳ taken into this turn: and then?"]


def test_the_end_of_a_turn_says_what_it_cost_or_why_it_ended() -> None:
    assert shown(TurnBegan(MAIN, TurnId("t1"), ""), finished(TurnStop.DONE)) == [
        "|",
        "1.0 s · 100 tokens in (90 cached), 5 out",
    ]
    assert shown(finished(TurnStop.FAILED, "ServerFailed: openai: 503"))[-1] == "! openai: 503"
    assert shown(finished(TurnStop.STEP_LIMIT))[-1] == "! the turn ended: step limit"


def test_an_answer_that_goes_on_is_not_broken_into_lines() -> None:
    view = EventView(MAIN, lambda: 0.0)
    cut = AnswerCommitted(MAIN, "half", Usage(), 0)
    assert view.show(cut) == ()
    assert view.show(TextArrived(MAIN, " whole")) == (Words(" whole"),)


def test_nothing_that_is_shown_steers_the_terminal() -> None:
    evil = "a\x1b]0;title\x07\x9b31m\u202eb\rc"
    lines = shown(
        ToolBegan(MAIN, "c1", "Bash", {"command": evil}),
        RetryWaits(MAIN, 1, 2.0, evil),
        finished(TurnStop.FAILED, f"ServerFailed: {evil}"),
        AnswerCommitted(CHILD, evil, Usage(), 0),
    )
    assert all(visible(line) == line for line in lines)
    assert visible("tab\tand\nnewline, ümläut, 日本") == "tab\tand\nnewline, ümläut, 日本"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"path": "a.md", "limit": 3}, "a.md"),
        ({"command": " ls \n -l "}, "ls -l"),
        ({"n": 3}, '{"n": 3}'),
        ({}, ""),
        (None, "null"),
        ({"command": "x" * 200}, "x" * 79 + "…"),
    ],
)
def test_the_subject_of_a_call_is_one_short_line(value: JsonValue, text: str) -> None:
    assert subject_of(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0004, "0 ms"), (0.25, "250 ms"), (3.44, "3.4 s"), (125, "2 min 5 s")]
)
def test_a_duration_has_the_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_line_is_cut_where_it_is_too_long() -> None:
    assert one_line("a\n b", 10) == "a b"
    assert one_line("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (finished(TurnStop.DONE), ExitCode.DONE),
        (finished(TurnStop.CANCELLED), ExitCode.INTERRUPTED),
        (finished(TurnStop.STEP_LIMIT), ExitCode.FAILED),
        (finished(TurnStop.FAILED, "ServerFailed: 503"), ExitCode.FAILED),
        (finished(TurnStop.FAILED, "AuthenticationFailed: wrong key"), ExitCode.UNUSABLE),
    ],
)
def test_the_exit_code_tells_what_has_to_be_set_right(turn: TurnFinished, code: ExitCode) -> None:
    assert exit_code_of_turn(turn) is code


def test_every_error_that_has_to_be_set_right_is_one_there_is() -> None:
    for name in TO_SET_RIGHT:
        assert hasattr(providers.errors, name) or hasattr(host.errors, name)
