"""Ids and names that one server made, as another takes them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.encoding import safe_id, safe_name

_IDS = st.one_of(st.text(max_size=80), st.text("ab._-:|", max_size=6), st.text("ab_", max_size=80))
_LIMITS = st.sampled_from([40, 64])


@pytest.mark.parametrize("call_id", ["toolu_01AbC-9", "a", "x" * 40])
def test_an_id_that_every_server_takes_stays(call_id: str) -> None:
    assert safe_id(call_id, limit=40) == call_id


@given(_IDS, _LIMITS, st.booleans())
def test_a_made_id_has_the_form_and_the_length_that_is_wanted(
    call_id: str, limit: int, takes_any: bool
) -> None:
    made = safe_id(call_id, limit=limit, takes_any=takes_any)
    assert 0 < len(made) <= limit
    assert re.fullmatch(r"[!-~]+" if takes_any else r"[a-zA-Z0-9_-]+", made)
    assert safe_id(made, limit=limit, takes_any=takes_any) == made


@given(_IDS, _IDS, _LIMITS, st.booleans())
def test_two_ids_stay_two_and_one_stays_one(first: str, second: str, limit: int, takes_any: bool) -> None:
    made = [safe_id(call_id, limit=limit, takes_any=takes_any) for call_id in (first, second)]
    assert (made[0] == made[1]) == (first == second)


@pytest.mark.parametrize(
    "ids",
    [
        ("a.b", "a_b", "a:b", "a|b", "a b"),
        ("x" * 70, "x" * 71, "x" * 64 + "y"),
        ("", "_", "__"),
        ("\ud83d", "\ufffd", "?"),
    ],
)
def test_ids_that_look_alike_stay_apart(ids: tuple[str, ...]) -> None:
    assert len({safe_id(call_id, limit=40) for call_id in ids}) == len(ids)


def test_an_id_of_visible_characters_stays_where_all_of_them_are_taken() -> None:
    assert safe_id("functions.read:0", limit=40, takes_any=True) == "functions.read:0"
    assert safe_id("functions read", limit=40, takes_any=True) != "functions read"


@pytest.mark.parametrize(
    ("name", "sent"), [("Read", "Read"), ("no such tool!", "no_such_tool_"), ("", "_"), ("x" * 70, "x" * 64)]
)
def test_a_name_that_no_tool_can_have_becomes_one_that_it_could(name: str, sent: str) -> None:
    assert safe_name(name, limit=64) == sent
