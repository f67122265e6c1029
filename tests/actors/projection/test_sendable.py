"""Arguments of calls as objects that JSON and UTF-8 can express."""

import math

import pytest
from pydantic import JsonValue

from actors.projection.sendable import as_sendable, is_sendable, sendable_object

_HALF = "\ud83d"


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (None, {}),
        ("x", {"value": "x"}),
        (_HALF, {"value": "\ufffd"}),
        (False, {"value": False}),
        ([1, math.nan, [_HALF, -math.inf], 1.5], {"value": [1, None, ["\ufffd", None], 1.5]}),
        ({"a": _HALF, "b": {"c": [math.inf, "d", None]}}, {"a": "\ufffd", "b": {"c": [None, "d", None]}}),
        ({_HALF: 1}, {"\ufffd": 1}),
        ({"a": {_HALF: 1, "b": True}}, {"a": {"\ufffd": 1, "b": True}}),
        ({"a": [{"b": _HALF}]}, {"a": [{"b": "\ufffd"}]}),
        ({"a": ["b", _HALF]}, {"a": ["b", "\ufffd"]}),
        ({"a": "b", "c": math.nan}, {"a": "b", "c": None}),
    ],
)
def test_arguments_become_an_object_that_can_be_sent(value: JsonValue, sent: dict[str, JsonValue]) -> None:
    assert sendable_object(value) == sent
    assert sendable_object(sent) is sent


@pytest.mark.parametrize("value", [{}, {"ä": "😀", "b": [1.5, None, {"c": ["d", False]}]}])
def test_an_object_that_can_be_sent_stays_itself(value: dict[str, JsonValue]) -> None:
    assert sendable_object(value) is value


def test_half_of_a_pair_is_replaced_and_a_whole_pair_becomes_its_character() -> None:
    assert [is_sendable(text) for text in ("a", "ä😀", f"ä{_HALF}", "\udc00")] == [True, True, False, False]
    assert as_sendable(f"ä{_HALF}x\udc00") == "ä\ufffdx\ufffd"
    assert as_sendable("\ud83d\ude00") == "😀"
