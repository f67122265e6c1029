"""The line of every element, however the text is laid out."""

import json

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from providers.transcripts import LineFinder, Path

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def _markers(value: JsonValue, path: Path = (0,)) -> list[Path]:
    """Every path of a value, in the order of the text."""
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += _markers(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            found += _markers(inner, (*path, at))
    return found


@given(_JSON)
def test_elements_stand_where_a_pretty_printer_puts_them(value: JsonValue) -> None:
    finder = LineFinder(json.dumps(value, indent=1), [0])
    lines = [finder.line_of(path) for path in _markers(value)]
    assert lines == _printed_lines(value, 1)[0]


def _printed_lines(value: JsonValue, line: int) -> tuple[list[int], int]:
    """The lines of all elements as `indent` lays them out, and the last line."""
    lines = [line]
    if not isinstance(value, dict | list) or not value:
        return lines, line
    for inner in value.values() if isinstance(value, dict) else value:
        below, line = _printed_lines(inner, line + 1)
        lines += below
    return lines, line + 1


def test_a_compact_document_stands_on_one_line() -> None:
    finder = LineFinder('\n\n{"a":[1,{"b":2}]}', [2])
    assert {finder.line_of(path) for path in [(0,), (0, "a"), (0, "a", 1, "b")]} == {3}


def test_blanks_of_every_kind_may_stand_anywhere() -> None:
    finder = LineFinder('{ "a" \n : \n [\n 1 ,\n\r\n {\t"b"\n:\n2 } ] }', [0])
    assert [finder.line_of(path) for path in [(0, "a"), (0, "a", 0), (0, "a", 1), (0, "a", 1, "b")]] == [
        3,
        4,
        6,
        8,
    ]


def test_the_last_of_two_equal_keys_counts() -> None:
    assert LineFinder('{"a": 1,\n"a": 2}', [0]).line_of((0, "a")) == 2


def test_what_is_not_there_has_the_line_of_what_should_hold_it() -> None:
    finder = LineFinder('{"a":\n[\n{"b": 1}\n]}', [0])
    assert finder.line_of((0, "a", 0, "missing")) == 3
    assert finder.line_of((0, "a", 9)) == 2
    assert finder.line_of((0, "c", 1)) == 1


def test_every_document_has_its_own_lines() -> None:
    finder = LineFinder('{"a":1}\n{"a":\n2}', [0, 8])
    assert [finder.line_of(path) for path in [(0, "a"), (1,), (1, "a")]] == [1, 2, 3]
