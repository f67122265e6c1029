"""Whatever is in a file: findings come out, or words on why there are none; never anything else."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from actors.checking import Report
from actors.errors import BadInput
from tests.actors.checking.asking import reports
from tests.actors.checking.damage import BODIES, DAMAGED, VALUES

_QUICK = settings(max_examples=200, deadline=None, derandomize=True)
_LONG = settings(max_examples=5_000, deadline=None)


def _look(text: str) -> None:
    try:
        found = reports(text)
    except BadInput as error:
        reason = str(error)
    else:
        reason = ""
        assert found
        _look_at(found)
    assert reason == "" or reason.startswith("line ") or reason.endswith("got nothing")


def _look_at(found: list[Report]) -> None:
    for report in found:
        assert report.is_refused in (True, False)
        assert all(complaint.place.line >= 1 for complaint in report.complaints)


@_QUICK
@given(VALUES)
def test_any_json_value_gives_findings_or_a_reason(value: JsonValue) -> None:
    _look(json.dumps(value))


@_QUICK
@given(st.lists(VALUES | st.sampled_from(BODIES), max_size=5))
def test_any_json_values_line_by_line_give_findings_or_a_reason(values: list[JsonValue]) -> None:
    _look("\n".join(map(json.dumps, values)))


@_QUICK
@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_gives_findings_or_a_reason(text: str) -> None:
    _look(text)


@_QUICK
@given(DAMAGED)
def test_a_damaged_body_gives_findings_or_a_reason(text: str) -> None:
    _look(text)


@pytest.mark.slow
@_LONG
@given(DAMAGED)
def test_damage_of_every_kind_gives_findings_or_a_reason(text: str) -> None:
    _look(text)


@pytest.mark.parametrize("body", BODIES[:3])
def test_the_bodies_that_get_damaged_are_legal(body: JsonValue) -> None:
    (report,) = reports(json.dumps(body), takes_system=True)
    assert [complaint for complaint in report.complaints if complaint.kind == "history"] == []


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"messages":' * 50_000,
        json.dumps({"messages": [{"role": "user", "content": "x"}], "n": 1}).replace("1", "9" * 10_000),
        '[{"role":"user","content":"x","n":NaN}]',
        '[{"role":"user","content":"\\ud83d"}]',
        "\x00\x01\x02",
        "\ufeff[]",
        '{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"n","arguments":"1e999"}}]}',
    ],
)
def test_known_traps_give_findings_or_a_reason(text: str) -> None:
    _look(text)
