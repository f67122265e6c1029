"""Each wire rule: what breaks it is found, in the dialects that have it, and nothing else is."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from providers import legality
from providers.legality import RULES, check
from providers.legality.finding import Rule
from providers.model import CacheMark, Dialect, ModelProfile, Request, TextBlock, ToolChoice, ToolSpec
from tests.providers import legality_messages as messages
from tests.providers import legality_requests as requests
from tests.providers.legality_case import PICTURE, PROFILE, SEALED, Case, answer, asked, result, system, user

CASES: dict[str, Case] = {
    **messages.PAIRING,
    **messages.CONTENT,
    **messages.REASONING,
    **messages.PLACES,
    **requests.TOOLS,
    **requests.OUTPUT,
    **requests.WHOLE,
}
CHAT = Dialect.OPENAI_CHAT


def _rules(request: Request, dialect: Dialect, profile: ModelProfile = PROFILE) -> set[str]:
    return {finding.rule for finding in check(request, dialect, profile)}


@pytest.mark.parametrize("dialect", Dialect)
def test_a_legal_request_has_no_findings(dialect: Dialect) -> None:
    tools = (ToolSpec("Read", "Reads.", {"type": "object"}), ToolSpec("Write", "Writes.", {"type": "object"}))
    legal = asked(
        system(cache=CacheMark()),
        system("t"),
        user((PICTURE, TextBlock("u"))),
        system("mid"),
        answer((SEALED, TextBlock("a")), "c1", "c2"),
        result("c2"),
        result("c1", (PICTURE,)),
        system("mid"),
        answer(None, "c3"),
        result("c3"),
        user("v", CacheMark()),
    )
    assert check(replace(legal, tools=tools, tool_choice=ToolChoice.ANY), dialect, PROFILE) == ()


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("content", ["", None, ()])
def test_a_result_may_be_empty(content: str | tuple[()] | None, dialect: Dialect) -> None:
    asked_with = asked(user(), answer("a", "c1"), result("c1", content), user())
    assert check(asked_with, dialect, PROFILE) == ()


def test_anthropic_takes_neighbouring_answers_as_one() -> None:
    request = asked(user(), answer("a", "c1"), answer("b", "c2"), result("c1"), result("c2"), user())
    assert check(request, Dialect.ANTHROPIC, PROFILE) == ()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_broken_rule_is_found_where_it_holds_and_alone(case: Case) -> None:
    for dialect in Dialect:
        found = _rules(case.broken, dialect, case.profile)
        assert found - case.also == ({case.rule} if dialect in case.where else set())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_just_keeps_a_rule_is_legal(case: Case) -> None:
    for dialect in Dialect:
        assert check(case.beside, dialect, case.profile) == ()


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_broken_by_some_case(rule: Rule) -> None:
    findings = (
        finding
        for case in CASES.values()
        for dialect in case.where
        for finding in rule(case.broken, dialect, case.profile)
    )
    assert next(findings, None) is not None


def test_every_finding_that_a_rule_can_make_has_a_case() -> None:
    source = "".join(path.read_text("utf-8") for path in Path(legality.__file__).parent.glob("*.py"))
    named = set(re.findall(r'Finding\(\s*"(\w+)"', source))
    assert named == {case.rule for case in CASES.values()}


def test_a_model_without_eyes_is_sent_no_attachment_however_it_looks() -> None:
    for request in messages.WITHOUT_EYES:
        for dialect in Dialect:
            assert check(request, dialect, messages.NO_EYES) == ()


@pytest.mark.parametrize("name", requests.TOOLS)
def test_tools_of_a_model_without_them_are_not_sent(name: str) -> None:
    for dialect in Dialect:
        assert check(requests.TOOLS[name].broken, dialect, replace(PROFILE, tools=False)) == ()


@pytest.mark.parametrize("name", ["five marks", "an hour behind"])
def test_marks_of_a_model_without_them_are_not_sent(name: str) -> None:
    profile = replace(PROFILE, cache_marks=False)
    assert check(messages.PLACES[name].broken, Dialect.ANTHROPIC, profile) == ()


def test_a_guessed_limit_refuses_nothing() -> None:
    long = requests.OUTPUT["a long answer"].broken
    assert check(long, CHAT, replace(PROFILE, is_assumed=True)) == ()


@pytest.mark.parametrize("call_id", ["functions.read:0", "x" * 200, "a|b", "\ud83d"])
@pytest.mark.parametrize("dialect", Dialect)
def test_an_id_that_the_encoder_rewrites_is_legal(call_id: str, dialect: Dialect) -> None:
    assert check(asked(user(), answer("a", call_id), result(call_id)), dialect, PROFILE) == ()


def _kinds(case: Case) -> set[str]:
    found = (f for dialect in case.where for f in check(case.broken, dialect, case.profile))
    return {finding.kind for finding in found if finding.rule == case.rule}


def test_conditions_on_a_whole_request_are_of_their_own_kind() -> None:
    whole = [*requests.TOOLS.values(), *requests.OUTPUT.values(), *requests.WHOLE.values()]
    for case in CASES.values():
        assert _kinds(case) == ({"request"} if case in whole else {"history"}), case.rule


def test_a_system_message_behind_an_answer_is_last_itself() -> None:
    request = asked(user(), answer(), system())
    assert _rules(request, Dialect.ANTHROPIC) == {"system_place"}


def test_a_finding_says_which_message() -> None:
    (finding,) = check(asked(user(), answer(), user("")), Dialect.ANTHROPIC, PROFILE)
    assert finding.message_index == 2


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_says_what_the_wire_wants(rule: Callable[..., object]) -> None:
    assert rule.__doc__
    assert any(name in rule.__doc__ for name in ("Anthropic", "OpenAI", "Responses", "RFC", "sdk"))
