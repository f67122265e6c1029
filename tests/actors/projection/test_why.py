"""Why an entry stands elsewhere in a request, or is not in it."""

import pytest

from actors.history import Entry
from actors.projection import (
    ProjectionOptions,
    why_left_out,
    why_moved,
)
from providers.model import Role
from tests.actors.projection.requests import Request, answer, calling, reminder, result, said, user

_PLAIN = ProjectionOptions()
_MIDWAY = ProjectionOptions(mid_conversation_system=True)


@pytest.mark.parametrize(
    ("entries", "options", "wanted"),
    [
        ((user("a"), reminder("r", "date_change")), _PLAIN, {1: "date_change stands where its turn begins"}),
        ((user("a"), said("s", Role.USER, "x", source="legacy_synthetic")), _PLAIN, None),
        (
            (calling("b", "c1", "c2"), result("r1", "c1"), reminder("r", "hook_context"), result("r2", "c2")),
            _PLAIN,
            {2: "it waits until the results of the answer are complete"},
        ),
        (
            (calling("b", "c1"), user("u"), result("r1", "c1")),
            _PLAIN,
            {1: "nothing may stand between a call and its results"},
        ),
        (
            (calling("b", "c1"), answer("d"), user("u"), result("r1", "c1")),
            _PLAIN,
            {3: "a result stands right behind its call"},
        ),
        (
            (reminder("r", "date_change"), user("a"), reminder("s", "hook_context")),
            _MIDWAY,
            {0: "2 reminders are joined into one system message"},
        ),
        (
            (reminder("r", "date_change"), user("a")),
            _MIDWAY,
            {0: "as a system message it waits until it interrupts nothing"},
        ),
        ((user("a"), answer("b"), reminder("r", "date_change"), user("c")), _PLAIN, {}),
        (
            (calling("b", "c1"), answer("d"), user("u"), reminder("r", "date_change"), result("r1", "c1")),
            _PLAIN,
            {3: "date_change stands where its turn begins", 4: "a result stands right behind its call"},
        ),
        (
            (
                reminder("r", "date_change"),
                user("a"),
                said("s", Role.USER, "x", presentation="subagent_reply"),
            ),
            _MIDWAY,
            {0: "it waits until it interrupts nothing"},
        ),
    ],
)
def test_every_move_within_a_request_has_its_reason(
    entries: tuple[Entry, ...], options: ProjectionOptions, wanted: dict[int, str] | None
) -> None:
    wanted = {1: "legacy_synthetic stands where its turn begins"} if wanted is None else wanted
    assert why_moved(Request(entries, options)) == wanted


def test_what_is_not_sent_says_why() -> None:
    orphan, results = result("r", "nobody"), (result("r1", "c1"), result("r2", "c1"))
    entries = (user("a"), answer("b", ""), orphan, calling("c", "c1"), *results)
    assert why_left_out(Request(entries)) == {
        1: "it says nothing",
        2: "no call asked for this result",
        5: "its call has a result already",
    }
