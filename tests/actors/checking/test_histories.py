"""What a file holds: cases of ours, bodies, messages line by line, and what is none of them."""

import json

import pytest
from pydantic import JsonValue

from actors.checking import Report, histories_of
from actors.errors import BadInput
from providers.model import Dialect
from tests.actors.checking.asking import found, reports

_HI: JsonValue = {"role": "user", "content": "Hi"}
_MARK: JsonValue = {"type": "ephemeral"}


def _one(value: JsonValue) -> Report:
    (report,) = reports(json.dumps(value, indent=1))
    return report


def _case(*entries: JsonValue, **more: JsonValue) -> JsonValue:
    return {"name": "n", "input": {"entries": list(entries), **more}}


def test_a_case_of_ours_is_judged_by_all() -> None:
    call: JsonValue = {"id": "c", "name": "t", "input": {}}
    report = _one(
        _case(
            {"kind": "message", "role": "user", "content": "u"},
            {"kind": "message", "role": "assistant", "content": None, "tool_calls": [call]},
            {"kind": "reminder", "source": "date_change", "content": "x"},
            {"kind": "message", "role": "tool", "tool_call_id": "c", "content": "r"},
        )
    )
    assert (report.name, report.format, report.dialects) == ("n", None, tuple(Dialect))
    assert found(report) == [
        ("call_without_result", "input.entries[1].tool_calls[0]"),
        ("result_without_call", "input.entries[3]"),
    ]
    assert report.remaining == ()


def test_a_case_may_say_that_its_model_takes_system_messages() -> None:
    entries: list[JsonValue] = [
        {"kind": "message", "role": "user", "content": "u"},
        {"kind": "message", "role": "system", "content": "late"},
    ]
    assert found(_one(_case(*entries))) == [("system_mid_conversation", "input.entries[1]")]
    assert found(_one(_case(*entries, mid_conversation_system=True))) == []


@pytest.mark.parametrize(
    ("source", "content", "rule"),
    [("gossip", "x", "unknown_reminder_source"), ("date_change", "", "empty_reminder_body")],
)
def test_a_reminder_that_cannot_be_wrapped_ends_the_repair_with_its_place(
    source: str, content: str, rule: str
) -> None:
    entries: list[JsonValue] = [
        {"kind": "message", "role": "user", "content": "u"},
        {"kind": "reminder", "source": source, "content": content},
    ]
    report = _one(_case(*entries))
    assert (rule, "input.entries[1]") in found(report)
    assert report.failure is not None
    assert report.is_refused


def test_messages_line_by_line_are_one_history() -> None:
    lines = [json.dumps(_HI), "", json.dumps({"role": "tool", "content": "x", "tool_call_id": "c"})]
    (report,) = reports("\n".join(lines))
    (complaint,) = report.complaints
    assert (complaint.rule, complaint.place.line, complaint.place.path) == ("result_without_call", 3, "")
    assert report.n_messages == 2


def test_bodies_and_cases_line_by_line_are_histories_of_their_own() -> None:
    values: list[JsonValue] = [{"messages": [_HI]}, _case(), _HI, _HI, {"input": "Hi"}, [_HI], [_case()] * 2]
    found_reports = reports("\n".join(map(json.dumps, values)))
    assert [r.n_messages for r in found_reports] == [1, 0, 2, 1, 1, 0, 0]
    assert [r.place.line for r in found_reports] == [1, 2, 3, 5, 6, 7, 7]


def test_lines_that_are_nothing_are_told_in_the_history_beside_them() -> None:
    lines = [json.dumps(_HI), "no json", '{"a": 1}', json.dumps(_HI), json.dumps(_HI)]
    (report,) = reports("\n".join(lines))
    assert [(c.rule, c.place.line) for c in report.complaints] == [("not_json", 2), ("not_a_message", 3)]
    assert report.is_refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "got nothing"),
        ("hello", "line 1: this is no JSON"),
        ('{\n"a": 1}', "line 1: neither a message"),
        ('[\n{"role": "user"\n', "line 3: this is no JSON"),
        ('{"name": "n", "input": {"entries": [{"kind": "rumour"}]}}', "line 1: 'n' is not a projection case"),
    ],
)
def test_a_file_without_a_history_is_bad_input(text: str, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        histories_of(text)
    assert words in str(caught.value)


def test_a_bad_line_at_the_end_is_told_too() -> None:
    (report,) = reports(json.dumps({"messages": [_HI]}) + "\n{")
    assert [(c.rule, c.place.line, c.dialects) for c in report.complaints] == [
        ("not_json", 2, tuple(Dialect))
    ]


def test_a_note_belongs_to_the_message_that_it_is_about() -> None:
    result: JsonValue = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    split: JsonValue = {"role": "user", "content": [result, {"type": "text", "text": "x"}], "id": "m"}
    (note,) = [c for c in _one({"system": "S", "messages": [_HI, split]}).complaints if c.kind == "reading"]
    assert (note.rule, note.role, note.place.path) == ("unknown_key", "tool", "messages[1]")
    items: JsonValue = [
        _HI,
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": [{"type": "song"}]},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]
    (note,) = _one({"input": items}).complaints
    assert (note.rule, note.role, note.place.path) == ("unknown_type", "assistant", "input[2].content[0]")
    assert note.within is not None
    assert note.within.path == "input[1]"


def test_marks_of_reminders_count_as_they_stand() -> None:
    reminder: JsonValue = {
        "kind": "reminder",
        "source": "date_change",
        "content": "x",
        "cache_control": _MARK,
    }
    report = _one(_case({"kind": "message", "role": "user", "content": "u"}, *[reminder] * 5))
    assert found(report) == [("cache_marks", "input.entries[5]")]


def test_a_case_may_ask_for_a_mark_of_the_request() -> None:
    system: JsonValue = {"kind": "message", "role": "system", "content": "S", "cache_control": _MARK}
    entries: list[JsonValue] = [*[system] * 4, {"kind": "message", "role": "user", "content": "u"}]
    assert _one(_case(*entries)).repairs == ()
    asked = _one(_case(*entries, apply_cache_control=True))
    assert [line.rule.value for line in asked.repairs] == ["cache_marks"]
