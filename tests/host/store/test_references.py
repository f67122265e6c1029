"""Ids of artifacts found in bytes."""

from hypothesis import given
from hypothesis import strategies as st

from host.store.references import referred

ID = "0123456789abcdef" * 4
OTHER_ID = "f" * 64


def test_an_id_is_found_wherever_it_stands() -> None:
    for before in (b"", b"x", b'{"id":"', b"\\u2026", b"abc", b"f" * 64):
        for behind in (b"", b"x", b'"}', b"0" * 65):
            assert ID in referred(before + ID.encode() + behind, {ID, OTHER_ID})


def test_what_is_no_known_id_is_not_found() -> None:
    for data in (b"", ID[:-1].encode(), ID.upper().encode(), b"0" * 200, ID.encode("utf-16")):
        assert referred(data, {ID, OTHER_ID}) == set()
    assert referred(ID.encode(), set()) == set()


def test_ids_that_overlap_are_all_found() -> None:
    digits = "0123456789abcdef" * 5
    ids = {digits[at : at + 64] for at in range(17)}
    assert referred(digits.encode(), ids) == ids


@given(st.text("0af xé\n", max_size=400))
def test_it_finds_what_looking_at_every_place_finds(text: str) -> None:
    data = text.encode()
    known = {text[at : at + 64] for at in range(0, len(text), 7)}
    digits = set(b"0123456789abcdef")
    windows = (data[at : at + 64] for at in range(len(data) - 63))
    wanted = {window.decode() for window in windows if set(window) <= digits} & known
    assert referred(data, known) == wanted
