"""Each wire rule: what breaks it is found, in the dialects that have it, and nothing else is."""

from collections.abc import Callable

import pytest

from providers.legality import RULES, check
from providers.model import (
    CacheMark,
    Content,
    Dialect,
    ImageBlock,
    Message,
    ModelProfile,
    ReasoningBlock,
    Request,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)

ALL = frozenset(Dialect)
ANTHROPIC = frozenset({Dialect.ANTHROPIC})
PICTURE = ImageBlock("image/png", "data:image/png;base64,AA")
SEALED = ReasoningBlock("h", signature="s")


def _user(content: Content = "u", cache: CacheMark | None = None) -> Message:
    return Message(Role.USER, content, cache=cache)


def _answer(content: Content = "a", *call_ids: str, cache: CacheMark | None = None) -> Message:
    return Message(Role.ASSISTANT, content, tuple(ToolCall(c, "Read", {}) for c in call_ids), cache=cache)


def _result(call_id: str | None, content: Content = "found") -> Message:
    return Message(Role.TOOL, content, tool_call_id=call_id, tool_name="Read")


def _system(text: str = "s", cache: CacheMark | None = None) -> Message:
    return Message(Role.SYSTEM, text, cache=cache)


def _profile(*, takes_system: bool = True) -> ModelProfile:
    return ModelProfile("m", 1_000, 100, mid_conversation_system=takes_system, cache_marks=True)


def _rules(request: Request, dialect: Dialect, *, takes_system: bool = True) -> set[str]:
    return {finding.rule for finding in check(request, dialect, _profile(takes_system=takes_system))}


LEGAL = (
    _system(cache=CacheMark()),
    _system("t"),
    _user((PICTURE, TextBlock("u"))),
    _system("mid"),
    _answer((SEALED, TextBlock("a")), "c1", "c2"),
    _result("c2"),
    _result("c1", (PICTURE,)),
    _system("mid"),
    _answer(None, "c3"),
    _result("c3"),
    _user("v", CacheMark()),
)


@pytest.mark.parametrize("dialect", Dialect)
def test_a_legal_request_has_no_findings(dialect: Dialect) -> None:
    tools = (ToolSpec("Read", "Reads.", {"type": "object"}), ToolSpec("Write", "Writes.", {"type": "object"}))
    assert check(Request("m", LEGAL, tools), dialect, _profile()) == ()


_BROKEN: dict[str, tuple[str, tuple[Message, ...], frozenset[Dialect]]] = {
    "no result": ("call_without_result", (_user(), _answer("a", "c1"), _user()), ALL),
    "no result at the end": ("call_without_result", (_user(), _answer("a", "c1")), ALL),
    "one of two results": (
        "call_without_result",
        (_user(), _answer("a", "c1", "c2"), _result("c1"), _user()),
        ALL,
    ),
    "a user between": (
        "call_without_result",
        (_user(), _answer("a", "c1"), _user(), _result("c1"), _user()),
        ALL,
    ),
    "an orphan": ("result_without_call", (_user(), _result("c1"), _user()), ALL),
    "a result behind a user": (
        "result_without_call",
        (_user(), _answer("a", "c1"), _result("c1"), _user(), _result("c1")),
        ALL,
    ),
    "two results": ("result_twice", (_user(), _answer("a", "c1"), _result("c1"), _result("c1")), ALL),
    "a result of nothing": ("result_without_id", (_user(), _result(None)), ALL),
    "an id twice": (
        "call_id_twice",
        (_user(), _answer("a", "c1"), _result("c1"), _answer("a", "c1"), _result("c1")),
        ALL,
    ),
    "an id twice in one": ("call_id_twice", (_user(), _answer("a", "c1", "c1"), _result("c1")), ALL),
    "an empty id": ("call_id_empty", (_user(), _answer("a", ""), _result("")), ALL),
    "arguments of no object": (
        "arguments",
        (_user(), Message(Role.ASSISTANT, "a", (ToolCall("c1", "Read", ["x"]),)), _result("c1")),
        ALL,
    ),
    "arguments without JSON": (
        "arguments",
        (_user(), Message(Role.ASSISTANT, "a", (ToolCall("c1", "R", {"x": [float("inf")]}),)), _result("c1")),
        ALL,
    ),
    "calls of a user": ("call_of_other_role", (Message(Role.USER, "u", (ToolCall("c1", "R", {}),)),), ALL),
    "an assistant's image": (
        "block_of_other_role",
        (_user(), _answer((PICTURE, TextBlock("a"))), _user()),
        ALL,
    ),
    "a user's thoughts": ("block_of_other_role", (_user((SEALED, TextBlock("u"))),), ALL),
    "an empty text": ("empty_text", (_user(""),), ALL),
    "an empty block": ("empty_text", (_user((TextBlock(""), TextBlock("u"))),), ALL),
    "blanks": ("blank_text", (_user(" \n"),), ANTHROPIC),
    "nothing": ("empty_message", (_user(), _answer(None), _user()), ALL),
    "no blocks": ("empty_message", (_user(()),), ALL),
    "thoughts alone": ("empty_message", (_user(), _answer((SEALED,)), _user()), ALL),
    "thoughts at the end": (
        "thinking_last",
        (_user(), _answer((TextBlock("a"), SEALED)), _user()),
        ANTHROPIC,
    ),
    "an empty signature": (
        "thinking_signature",
        (_user(), _answer((ReasoningBlock("h", signature=""), TextBlock("a"))), _user()),
        ANTHROPIC,
    ),
    "half a pair": ("unicode", (_user("\ud83d"),), ALL),
    "a system before a user": ("system_place", (_user(), _system(), _user()), ANTHROPIC),
    "a system behind an answer": (
        "system_place",
        (_user(), _answer(), _system(), _answer(), _user()),
        ANTHROPIC,
    ),
    "five marks": ("cache_marks", tuple(_user(cache=CacheMark()) for _ in range(5)), ANTHROPIC),
    "an hour behind": ("cache_ttl", (_user(cache=CacheMark()), _user(cache=CacheMark("1h"))), ANTHROPIC),
    "a mark on thoughts": (
        "cache_mark_target",
        (_user(), _answer((SEALED,), cache=CacheMark()), _user()),
        ANTHROPIC,
    ),
    "nothing but system": ("empty_request", (_system(),), ALL),
    "an empty request": ("empty_request", (), ALL),
    "an assistant first": ("first_role", (_answer(), _user()), ANTHROPIC),
    "an assistant last": ("assistant_last", (_user(), _answer()), ALL),
}


@pytest.mark.parametrize(("rule", "messages", "dialects"), _BROKEN.values(), ids=_BROKEN.keys())
def test_a_broken_rule_is_found_where_it_holds(
    rule: str, messages: tuple[Message, ...], dialects: frozenset[Dialect]
) -> None:
    found = {dialect for dialect in Dialect if rule in _rules(Request("m", messages), dialect)}
    assert found == dialects


def test_system_messages_in_the_middle_are_found_where_the_model_takes_none() -> None:
    for dialect in Dialect:
        assert "system_mid_conversation" in _rules(Request("m", LEGAL), dialect, takes_system=False)


def _tools(*names: str) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(name, "", {"type": "object"}) for name in names)


@pytest.mark.parametrize(
    ("rule", "tools"),
    [
        ("tool_name_twice", _tools("Read", "Read")),
        ("tool_name", _tools("Read me")),
        ("tool_name", _tools("")),
        ("tool_name", _tools("x" * 129)),
        ("tool_schema", (ToolSpec("Read", "", {"type": "string"}),)),
    ],
)
def test_a_bad_tool_is_found(rule: str, tools: tuple[ToolSpec, ...]) -> None:
    for dialect in Dialect:
        assert rule in _rules(Request("m", (_user(),), tools), dialect)


def test_conditions_on_a_whole_request_are_of_their_own_kind() -> None:
    kinds = {
        finding.rule: finding.kind
        for messages in ((), (_answer(),), (_user(""),))
        for finding in check(Request("m", messages), Dialect.ANTHROPIC, _profile())
    }
    assert kinds == {
        "empty_request": "request",
        "first_role": "request",
        "assistant_last": "request",
        "empty_text": "history",
    }


def test_a_finding_says_which_message() -> None:
    (finding,) = check(Request("m", (_user(), _answer(), _user(""))), Dialect.OPENAI_CHAT, _profile())
    assert finding.message_index == 2


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_says_what_the_wire_wants(rule: Callable[..., object]) -> None:
    assert rule.__doc__
    assert any(name in rule.__doc__ for name in ("Anthropic", "OpenAI", "RFC", "sdk"))
