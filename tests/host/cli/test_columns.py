"""Sizes and ages in words, and rows under each other."""

import pytest

from actors.errors import BadInput
from host.cli.amounts import age_s, bytes_text, count_text
from host.cli.cells import cells
from host.cli.columns import table
from tests.host.cli.kept import DAY_S


def test_bytes_are_told_with_three_digits() -> None:
    told = {0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 99_949: "99.9 kB", 99_950: "100 kB"}
    told |= {999_499: "999 kB", 999_500: "1.0 MB", 3_400_000: "3.4 MB", 10**16: "10000 TB"}
    assert {number: bytes_text(number) for number in told} == told
    assert (count_text(1, "record"), count_text(1200, "record")) == ("1 record", "1,200 records")


def test_ages_are_hours_days_and_weeks() -> None:
    assert [age_s(text, "--x") for text in ("12h", "90d", "2w", "0d")] == [43_200, 90 * DAY_S, 14 * DAY_S, 0]
    for text in ("", "d", "1.5d", "1D", "٣d", "9999999d", " 1d"):
        with pytest.raises(BadInput, match="--x"):
            age_s(text, "--x")


def test_the_elastic_column_gives_way_by_cells() -> None:
    rows = [("a", "日本語日本語日本語", "1"), ("bb", "short", "22")]
    lines = table(("id", "title", "n"), rows, width=18, elastic=1, at_right={2})
    assert lines == ["id  title        n", "a   日本語日…    1", "bb  short       22"]
    assert max(cells(line) for line in lines) == 18
    assert table(("id", "title"), [], width=3, elastic=1) == ["id  title"]
