"""Texts are cut, padded and wrapped by the cells that they take on a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from host.cli.cells import cells, fitted, padded, wrapped
from host.cli.output import one_line

_TEXTS = st.text(st.sampled_from("ab \u754c\u6587\U0001f642e\u0301\u200d\ufe0f\u2764"), max_size=40)


@pytest.mark.parametrize(
    ("text", "limit", "wanted"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("界界界", 6, "界界界"),
        ("界界界", 5, "界界…"),
        ("界界界", 4, "界…"),
        ("🙂🙂", 3, "🙂…"),
        ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
        ("界", 1, "…"),
    ],
)
def test_a_text_is_cut_at_its_cells(text: str, limit: int, wanted: str) -> None:
    assert (fitted(text, limit), one_line(text, limit)) == (wanted, wanted)


@given(_TEXTS, st.integers(1, 60))
def test_what_is_cut_fits_and_what_fits_is_not_cut(text: str, limit: int) -> None:
    found = fitted(text, limit)
    assert cell_len(found) <= limit
    assert (found == text) is (cell_len(text) <= limit)


def test_a_column_is_as_wide_with_wide_characters() -> None:
    assert padded("界", 4) == "界  "
    assert padded("界", 4, is_right=True) == "  界"
    assert padded("abcde", 4) == "abcde"


def test_words_are_wrapped_and_too_long_ones_split() -> None:
    assert wrapped("aa bb cc", 7, "- ", "  ") == ["- aa bb", "  cc"]
    assert wrapped("界界界界 a", 6, "", " ") == ["界界", " 界界", " a"]
    assert wrapped(" ", 6, "", "") == []
    assert wrapped("界a", 1, "", "") == ["界", "a"]


@given(_TEXTS, st.integers(4, 60))
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    lines = wrapped(text, width, " ", "  ")
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_cells_are_counted_as_the_terminal_does() -> None:
    assert [cells(text) for text in ("ab", "é", "界", "🙂", "e\u0301")] == [2, 1, 2, 2, 1]
