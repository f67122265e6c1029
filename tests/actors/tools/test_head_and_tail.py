import random

import pytest

from actors.tools.head_and_tail import HeadAndTail


def kept(data: bytes, head: int, tail: int, piece: int = 7) -> str:
    buffer = HeadAndTail(head, tail)
    for start in range(0, len(data), piece):
        buffer.add(data[start : start + piece])
    return buffer.text()


@pytest.mark.parametrize("piece", [1, 3, 7, 1_000])
def test_what_fits_is_kept_whole(piece: int) -> None:
    assert kept(b"0123456789", 5, 5, piece) == "0123456789"
    assert kept(b"", 5, 5, piece) == ""


@pytest.mark.parametrize("piece", [1, 3, 7, 1_000])
def test_of_more_both_ends_are_kept_and_the_gap_is_told(piece: int) -> None:
    assert kept(b"0123456789x", 5, 5, piece) == "01234\n[… 1 of 11 bytes left out here …]\n6789x"


@pytest.mark.parametrize("head", range(4, 12))
@pytest.mark.parametrize("tail", range(4, 12))
def test_a_cut_splits_no_character(head: int, tail: int) -> None:
    text = kept("aé€😀".encode() * 10, head, tail)
    assert "\N{REPLACEMENT CHARACTER}" not in text


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert kept(b"\xff\xfea", 5, 5) == "\N{REPLACEMENT CHARACTER}" * 2 + "a"
    assert kept(b"\x80" * 40, 4, 4).count("left out") == 1


def test_memory_stays_bounded_whatever_comes() -> None:
    rng = random.Random(1)
    buffer = HeadAndTail(1_000, 1_000)
    for _ in range(2_000):
        buffer.add(bytes(rng.randrange(0, 5_000)))
        assert len(buffer._head) + sum(map(len, buffer._tail)) <= 2_000 + 5_000
    assert buffer.n_bytes > 1_000_000
