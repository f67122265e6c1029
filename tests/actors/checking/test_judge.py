"""What is told of a history: what is refused, by whom and where, what repair does, and what stays."""

import json
import time

import pytest
from pydantic import JsonValue

from actors.checking import Question, Report, histories_of, judge
from actors.projection import RepairRule
from actors.projection.words import words_of
from providers.model import Dialect, ModelProfile
from tests.actors.checking.asking import found, reports, told

_HI: JsonValue = {"role": "user", "content": "Hi"}
_A, _C, _R = Dialect.ANTHROPIC, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES
_BROKEN: JsonValue = {
    "model": "claude-opus-4-5",
    "max_tokens": 9,
    "system": "S",
    "messages": [
        _HI,
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": ""},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {}},
                {"type": "tool_use", "id": "t2", "name": "look", "input": "page 13"},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "wait"},
                {"type": "tool_result", "tool_use_id": "t1", "content": "seen"},
            ],
        },
        {"role": "system", "content": "late"},
        _HI,
    ],
}


def _one(value: JsonValue, *dialects: Dialect, takes_system: bool = False) -> Report:
    (report,) = reports(json.dumps(value, indent=1), *dialects, takes_system=takes_system)
    return report


def _repairs(report: Report) -> list[tuple[str, str]]:
    return [(line.rule.value, line.place.path) for line in report.repairs]


def test_everything_wrong_is_told_at_its_place() -> None:
    report = _one(_BROKEN)
    assert report.dialects == (_A,)
    assert report.is_refused
    assert sorted(found(report)) == sorted(
        [
            ("empty_text", "messages[1].content[0]"),
            ("call_without_result", "messages[1].content[1]"),
            ("call_without_result", "messages[1].content[2]"),
            ("arguments", "messages[1].content[2]"),
            ("result_without_call", "messages[2].content[1]"),
            ("system_mid_conversation", "messages[3]"),
        ]
    )
    assert {"arguments", "result_missing", "moved_behind_results", "system_place"} <= {
        rule for rule, _ in _repairs(report)
    }
    assert report.remaining == ()
    assert report.n_messages == 5


def test_lines_are_those_of_the_file() -> None:
    text = json.dumps(_BROKEN, indent=1)
    (report,) = reports(text)
    lines = text.split("\n")
    (call,) = [c for c in report.complaints if c.rule == "arguments"]
    assert '"id": "t2"' in "".join(lines[call.place.line - 1 : call.place.line + 3])


def test_the_same_broken_rule_in_two_blocks_has_two_places() -> None:
    blocks: JsonValue = [{"type": "text", "text": text} for text in ("", "a", "")]
    report = _one({"system": "S", "messages": [{"role": "user", "content": blocks}]})
    assert found(report) == [("empty_text", f"messages[0].content[{at}]") for at in (0, 2)]


def test_a_legal_history_is_left_alone() -> None:
    report = _one([_HI, {"role": "assistant", "content": "Hello"}, _HI])
    assert (report.complaints, report.repairs, report.remaining) == ((), (), ())
    assert not report.is_refused
    assert report.dialects == tuple(Dialect)


def test_each_dialect_has_its_own_findings() -> None:
    report = _one([_HI, {"role": "assistant", "content": "a"}, _HI, {"role": "user", "content": "  "}])
    (complaint,) = report.complaints
    assert (complaint.rule, complaint.dialects) == ("blank_text", (_A,))
    late = _one([_HI, {"role": "system", "content": "late"}, _HI])
    assert [c.dialects for c in late.complaints] == [(_A,)]


@pytest.mark.parametrize("takes_system", [False, True])
def test_the_model_decides_on_system_messages(takes_system: bool) -> None:
    late: list[JsonValue] = [
        _HI,
        {"role": "system", "content": "late"},
        {"role": "assistant", "content": "a"},
    ]
    report = _one({"system": "S", "messages": [*late, _HI]}, takes_system=takes_system)
    assert report.is_refused is not takes_system
    assert bool(report.repairs) is not takes_system


def test_a_repair_for_some_dialects_names_them() -> None:
    late: list[JsonValue] = [
        _HI,
        {"role": "system", "content": "late"},
        {"role": "assistant", "content": "a"},
    ]
    (repair,) = _one([*late, _HI]).repairs
    assert (repair.rule, repair.dialects) == (RepairRule.SYSTEM_PLACE, (_A,))


def test_conditions_on_a_request_count_only_in_a_request() -> None:
    messages: JsonValue = [_HI, {"role": "assistant", "content": "a"}]
    body: JsonValue = {"model": "claude-opus-5", "max_tokens": 9, "messages": messages}
    history, request = _one(messages), _one(body)
    assert [c.rule for c in history.complaints] == ["assistant_last"]
    assert (history.is_refused, request.is_refused) == (False, True)
    assert [(left.kind, left.rule) for left in request.remaining] == [("request", "assistant_last")]


def test_what_a_body_lacks_is_left_to_its_sender() -> None:
    report = _one({"model": "claude-opus-5", "messages": [_HI]})
    assert [(left.kind, left.text) for left in report.remaining] == [("request", "max_tokens is missing")]
    assert found(report) == [("missing_field", "")]
    named_elsewhere = _one({"system": "S", "messages": [_HI]})
    assert (named_elsewhere.complaints, named_elsewhere.remaining) == ((), ())


def test_what_was_asked_for_goes_before_what_the_file_is() -> None:
    assert _one(_BROKEN, _R, _C, _R).dialects == (_R, _C)


@pytest.mark.parametrize(
    ("value", "spoken", "wanted"),
    [
        ([_HI], (_A,), (_A,)),
        ([_HI], (_C, _R), (_C, _R)),
        ({"input": "Hi"}, (_C, _R), (_R,)),
        ({"input": "Hi"}, (_A,), (_A,)),
        ({"input": "Hi"}, (), (_R,)),
        ([_HI], (), tuple(Dialect)),
    ],
)
def test_the_model_speaks_for_the_dialect(
    value: JsonValue, spoken: tuple[Dialect, ...], wanted: tuple[Dialect, ...]
) -> None:
    question = Question(lambda dialect, name: ModelProfile("m", 9, 9), spoken=spoken)
    (report,) = judge(histories_of(json.dumps(value)), question)
    assert report.dialects == wanted


def test_what_could_not_be_read_is_refused_by_its_own_format_only() -> None:
    value: JsonValue = {"system": "S", "messages": [{"role": "king", "content": "x"}]}
    assert [c.dialects for c in _one(value).complaints] == [(_A,)]
    elsewhere = _one(value, _C)
    assert [(c.rule, c.dialects) for c in elsewhere.complaints] == [("unknown_role", ())]
    assert not elsewhere.is_refused
    assert [c.dialects for c in _one([{"role": "king", "content": "x"}]).complaints] == [tuple(Dialect)]


def test_an_unknown_block_is_told_but_not_refused() -> None:
    value: JsonValue = {
        "system": "S",
        "messages": [_HI, {"role": "assistant", "content": [{"type": "server_tool_use"}]}, _HI],
    }
    report = _one(value)
    assert [told(c) for c in report.complaints] == [("unknown_type", "messages[1].content[0]")]
    assert report.complaints[0].role == "assistant"
    assert not report.is_refused


def test_pictures_that_lie_elsewhere_are_legal() -> None:
    parts: JsonValue = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    assert _one([{"role": "user", "content": parts}]).complaints == ()


def test_arguments_that_are_no_json_are_refused_and_repaired() -> None:
    call: JsonValue = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{"}}
    report = _one(
        [
            _HI,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ]
    )
    assert found(report) == [("arguments", "[1].tool_calls[0]")]
    assert [told(c) for c in report.complaints if not c.dialects] == [
        ("arguments_text", "[1].tool_calls[0].function.arguments")
    ]
    assert _repairs(report) == [("arguments", "[1]")]


def test_repairs_of_one_kind_to_one_message_are_counted() -> None:
    uses: JsonValue = [{"type": "tool_use", "id": f"t{n}", "name": "look", "input": {}} for n in range(3)]
    report = _one({"system": "S", "messages": [_HI, {"role": "assistant", "content": uses}]})
    assert [(line.rule.value, line.n_times) for line in report.repairs] == [("result_missing", 3)]


def test_an_id_used_again_in_one_message_is_told_at_the_second_call() -> None:
    use: JsonValue = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    report = _one({"system": "S", "messages": [_HI, {"role": "assistant", "content": [use, use]}]})
    assert ("call_id_twice", "messages[1].content[1]") in found(report)


@pytest.mark.parametrize("rule", list(RepairRule))
def test_every_repair_has_words_of_its_own(rule: RepairRule) -> None:
    assert words_of(rule) != rule.value.replace("_", " ")


def test_ten_thousand_messages_take_seconds_though_each_is_wrong() -> None:
    messages: JsonValue = [
        {
            "role": ("user", "assistant")[at % 2],
            "content": [{"type": "text", "text": ""}, {"type": "tool_result", "tool_use_id": f"t{at}"}],
        }
        for at in range(10_000)
    ]
    text = json.dumps({"messages": messages}, indent=1)
    began = time.process_time()
    (report,) = reports(text, *Dialect)
    assert len(report.complaints) > 20_000
    assert time.process_time() - began < 10
