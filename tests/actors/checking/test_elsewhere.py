"""Requests that go on from what lies with the provider: what is about that is noted and not refused."""

import json

import pytest
from pydantic import JsonValue

from actors.checking import Report
from tests.actors.checking.asking import found, reports, told

_RESULT: JsonValue = {"type": "function_call_output", "call_id": "c1", "output": "seen"}
_CALL: JsonValue = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
_HI: JsonValue = {"role": "user", "content": "Hi"}
_REASONING: JsonValue = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}


def _one(*items: JsonValue, **fields: JsonValue) -> Report:
    (report,) = reports(json.dumps({"model": "gpt-5.2", "input": list(items), **fields}))
    return report


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
@pytest.mark.parametrize("items", [(_RESULT,), (_RESULT, _HI), (_HI, _RESULT), ()])
def test_results_and_no_items_at_all_go_on_from_what_was_before(
    key: str, items: tuple[JsonValue, ...]
) -> None:
    report = _one(*items, **{key: "x"})
    assert found(report) == []
    assert (report.is_refused, report.repairs, report.remaining) == (False, (), ())


def test_what_was_not_judged_is_noted() -> None:
    report = _one(_RESULT, previous_response_id="resp_1")
    assert [told(c) for c in report.complaints if not c.dialects] == [
        ("kept_elsewhere", "previous_response_id"),
        ("result_without_call", "input[0]"),
    ]


def test_a_call_that_is_referred_to_may_be_answered() -> None:
    report = _one(_HI, _REASONING, {"type": "item_reference", "id": "fc_1"}, _RESULT)
    assert (found(report), report.repairs) == ([], ())


@pytest.mark.parametrize("fields", [{}, {"previous_response_id": None}])
def test_without_anything_before_a_result_has_to_have_its_call(fields: dict[str, JsonValue]) -> None:
    report = _one(_HI, _RESULT, **fields)
    assert found(report) == [("result_without_call", "input[1]")]
    assert [line.rule.value for line in report.repairs] == ["result_without_call"]


def test_without_anything_before_there_has_to_be_an_item() -> None:
    report = _one()
    assert found(report) == [("empty_request", "")]
    assert [left.rule for left in report.remaining] == ["empty_request"]


def test_what_is_wrong_among_the_new_items_is_refused_all_the_same() -> None:
    report = _one(_HI, _CALL, _HI, _RESULT, previous_response_id="resp_1")
    assert found(report) == [("call_without_result", "input[1]"), ("result_without_call", "input[3]")]


@pytest.mark.parametrize("kind", ["computer_call", "local_shell_call", "apply_patch_call", "shell_call"])
def test_a_loop_of_tools_that_are_not_known_here_is_legal(kind: str) -> None:
    call: JsonValue = {"type": kind, "id": "x", "call_id": "c1"}
    output: JsonValue = {"type": f"{kind}_output", "call_id": "c1", "output": "seen"}
    report = _one(_HI, _REASONING, call, output)
    assert (found(report), report.repairs, report.remaining) == ([], (), ())


@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "mcp_call", "id": "mcp_1", "name": "x", "server_label": "l", "arguments": "{}"},
        {"type": "image_generation_call", "id": "ig_1", "result": "AAAA"},
        {"type": "item_reference", "id": "msg_1"},
    ],
)
def test_reasoning_may_lead_to_an_item_that_is_not_known_here(item: JsonValue) -> None:
    for items in ((_HI, _REASONING, item, _HI), (_HI, _REASONING, item)):
        report = _one(*items)
        assert (found(report), report.repairs) == ([], ())
