"""Finding the documents of a text, and saying where there are none."""

import json

import pytest

from providers.transcripts import Broken, Document, documents_of
from providers.transcripts.documents import MAX_DEPTH


def _values(text: str) -> list[object]:
    return [document.value for document in documents_of(text) if isinstance(document, Document)]


def _reasons(text: str) -> list[str]:
    return [document.reason for document in documents_of(text) if isinstance(document, Broken)]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_one_document_may_spread_over_lines(indent: int | None) -> None:
    assert _values(json.dumps({"a": [1, {"b": None}]}, indent=indent)) == [{"a": [1, {"b": None}]}]


def test_documents_follow_each_other_line_by_line_or_spread() -> None:
    assert _values('{"a":1}\n\n[2]\r\n {\n"b":\n3}\n') == [{"a": 1}, [2], {"b": 3}]


def test_only_json_blanks_separate_documents() -> None:
    text = json.dumps(["a\u2028b", "c\x85d", "e\rf"], ensure_ascii=False)
    assert _values(f"{text}\n{text}") == [["a\u2028b", "c\x85d", "e\rf"]] * 2
    assert _reasons("{}\u2028{}") != []


def test_a_bad_line_among_good_ones_leaves_them_alone() -> None:
    found = documents_of('{"a":1}\n{"a":\n{"a":3}\n{"a":4} x\n{"a":5}\n')
    assert [type(document) for document in found] == [Document, Broken, Document, Broken, Document]
    assert [document.offset for document in found] == [0, 8, 14, 22, 32]


def test_half_of_the_lines_being_good_is_enough() -> None:
    assert [type(found) for found in documents_of("  {}\nno")] == [Document, Broken]
    assert [type(found) for found in documents_of("{}\nno\nno")] == [Broken]
    assert [found.offset for found in documents_of("no\n \t{}\n x")] == [0]
    assert [found.offset for found in documents_of("no\n \t{}\n {}")] == [0, 5, 9]


def test_a_broken_document_is_one_broken_document() -> None:
    text = json.dumps({"messages": [{"role": "user"}] * 5}, indent=1)
    (broken,) = documents_of(text.replace("]", ""))
    assert isinstance(broken, Broken)
    assert broken.offset > 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "Expecting value"),
        ("NaN", "NaN is no JSON number"),
        ('{"a": -Infinity}', "-Infinity"),
        ("[" * 100_000, "nested deeper"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested deeper"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "nested deeper"),
        ('"\x00"', "Invalid control character"),
    ],
)
def test_what_is_no_json_says_why(text: str, reason: str) -> None:
    (told,) = _reasons(text)
    assert reason in told


def test_the_deepest_document_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert len(_values(text)) == 1


def test_numbers_of_any_size_are_read() -> None:
    assert _values("[" + "9" * 100_000 + "]") == [[float("inf")]]
    assert _values("[1e999, 1E-999]") == [[float("inf"), 0.0]]


@pytest.mark.parametrize("text", ["", " \n\t\r\n"])
def test_nothing_holds_no_documents(text: str) -> None:
    assert documents_of(text) == ()
