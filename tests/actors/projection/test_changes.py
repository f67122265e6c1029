"""The difference of two requests: what became of every message, and why."""

import time
from dataclasses import replace

from actors.history import Presentation
from actors.projection import (
    Change,
    ChangeKind,
    Changes,
    ProjectionOptions,
    ToolChange,
    compare,
    why_moved,
)
from providers.model import CacheMark, Message, Role, ToolSpec
from tests.actors.projection.histories import READER
from tests.actors.projection.requests import (
    Request,
    answer,
    calling,
    reminder,
    result,
    said,
    system,
    thinking,
    user,
)

_PLAIN = ProjectionOptions()
_MIDWAY = ProjectionOptions(mid_conversation_system=True)
_MARKED = ProjectionOptions(apply_cache_control=True)


def told(found: Changes) -> list[tuple[ChangeKind, int | None, int | None, tuple[str, ...]]]:
    return [(change.kind, change.before, change.after, change.reasons) for change in found.changed]


def test_the_same_request_has_no_changes() -> None:
    request = Request((user("a"), answer("b"), user("c")))
    found = compare(request, request)
    assert (found.n_same, found.changed, found.first) == (3, (), None)
    assert [change.kind for change in found.messages] == [ChangeKind.SAME] * 3


def test_a_history_that_grew_adds_messages_and_moves_the_mark() -> None:
    before = (user("a"),)
    found = compare(Request(before, _MARKED), Request((*before, answer("b"), user("c")), _MARKED))
    assert found.n_same == 1
    assert told(found) == [
        (ChangeKind.MARK, 0, 0, ("the mark moved away",)),
        (ChangeKind.ADDED, None, 1, ("new in the history",)),
        (ChangeKind.ADDED, None, 2, ("new in the history",)),
    ]
    assert found.first == Change(ChangeKind.ADDED, None, 1, False, ("new in the history",))


def test_what_left_the_history_is_told_where_it_stood() -> None:
    before = (user("a", "1"), answer("b", "2"), user("c", "3"))
    found = compare(Request(before), Request((before[0], before[2])))
    assert [(change.kind, change.before, change.after) for change in found.messages] == [
        (ChangeKind.SAME, 0, 0),
        (ChangeKind.REMOVED, 1, None),
        (ChangeKind.SAME, 2, 1),
    ]
    assert found.changed[0].reasons == ("no longer in the history",)


def test_a_prefix_that_was_built_anew_changed_and_was_not_replaced() -> None:
    one = Request((system("prefix-0", "I"), system("prefix-1", "am Ann"), user("a")), n_prefix=2)
    other = Request((system("prefix-0", "I"), system("prefix-1", "am Bob"), user("a")), n_prefix=2)
    found = compare(one, other)
    assert found.n_same == 1
    assert told(found) == [(ChangeKind.CHANGED, 1, 1, ("the prefix was built anew and says something else",))]


def test_more_and_less_prefix_is_not_the_history() -> None:
    short = Request((system("prefix-0", "I"), user("a")), n_prefix=1)
    long = Request((system("prefix-0", "I"), system("prefix-1", "am Bob"), user("a")), n_prefix=2)
    assert told(compare(short, long)) == [(ChangeKind.ADDED, None, 1, ("new in the prefix",))]
    assert told(compare(long, short)) == [(ChangeKind.REMOVED, 1, None, ("no longer in the prefix",))]


def test_a_result_that_came_takes_the_place_of_the_one_made_up() -> None:
    asked = (user("a"), calling("b", "c1", "c2"), result("r1", "c1"))
    found = compare(Request(asked), Request((*asked, result("r2", "c2"))))
    assert told(found) == [(ChangeKind.CHANGED, 3, 3, ("its result came",))]
    back = compare(Request((*asked, result("r2", "c2"))), Request(asked))
    assert told(back) == [(ChangeKind.CHANGED, 3, 3, ("its result is no longer there",))]


def test_a_result_made_up_is_told_as_such() -> None:
    found = compare(Request((user("a"),)), Request((user("a"), calling("b", "c1"))))
    assert [change.reasons for change in found.changed] == [
        ("new in the history",),
        ("stands for a result that is not there",),
    ]


def test_a_reminder_that_becomes_a_system_message_says_what_the_model_takes() -> None:
    entries = (user("a"), reminder("r", "goal_state_change"))
    found = compare(Request(entries), Request(entries, _MIDWAY))
    assert told(found) == [
        (
            ChangeKind.CHANGED,
            1,
            1,
            ("became a system message", "the model takes system messages mid-conversation"),
        )
    ]
    assert found.options == ("system messages mid-conversation: on, was off",)


def test_thinking_left_out_says_whether_the_words_or_the_model_are_others() -> None:
    entries = (user("a"), thinking("t", request_fingerprint="another"), user("b"))
    bound = replace(entries[1], request_fingerprint=None)
    options = ProjectionOptions(model=READER)
    kept = Request((entries[0], bound, entries[2]), options)
    left = compare(kept, Request(entries, options))
    assert [change.reasons[-1] for change in left.changed] == [
        "its thinking is left out: what stands before it has changed"
    ]
    other = compare(kept, Request(kept.entries, ProjectionOptions(model="another")))
    assert told(other) == [(ChangeKind.CHANGED, 1, 1, ("its thinking is left out: another model wrote it",))]
    assert other.options == (f"the model is another, was {READER}",)
    back = compare(Request(kept.entries, ProjectionOptions(model="another")), kept)
    assert "its thinking goes out again" in back.changed[0].reasons[0]


def test_an_order_that_changed_is_told_of_the_fewest_messages() -> None:
    a, b, c, d = (user(name, name) for name in "abcd")
    found = compare(Request((a, b, c, d)), Request((b, c, d, a)))
    assert told(found) == [(ChangeKind.MOVED, 0, 3, ("what stood between has changed",))]
    assert found.n_same == 0
    assert found.first == found.changed[0]
    assert found.changed[0].says_same


def test_a_moved_message_can_say_something_else_as_well() -> None:
    a, b, c = (user(name, name) for name in "abc")
    found = compare(Request((a, b, c)), Request((b, c, user("a", "A"))))
    assert [(change.kind, change.says_same) for change in found.changed] == [(ChangeKind.MOVED, False)]
    assert "the history says something else here" in found.changed[0].reasons


def test_a_late_result_moves_what_stood_in_its_place_and_says_why() -> None:
    asked = (user("a"), calling("b", "c1", "c2"), result("r1", "c1"), user("u"))
    found = compare(Request(asked), Request((*asked, result("r2", "c2"))))
    assert [(c.kind, c.before, c.after) for c in found.changed] == [(ChangeKind.CHANGED, 3, 3)]
    assert why_moved(Request((*asked, result("r2", "c2")))) == {
        3: "nothing may stand between a call and its results"
    }


def test_marks_that_are_set_or_set_no_more_are_told_as_a_choice() -> None:
    entries = (user("a"),)
    found = compare(Request(entries), Request(entries, _MARKED))
    assert told(found) == [(ChangeKind.MARK, 0, 0, ("marks are set now",))]
    assert found.options == ("cache marks: on, was off",)
    assert found.first is None


def test_tools_that_came_went_or_say_something_else_are_told() -> None:
    def with_tools(*tools: tuple[str, str]) -> Request:
        specs = tuple(ToolSpec(name, text, {"type": "object"}) for name, text in tools)
        return Request((user("a"),), ProjectionOptions(tools=specs))

    found = compare(with_tools(("x", ""), ("y", "old")), with_tools(("y", "new"), ("z", "")))
    assert found.tools == (
        ToolChange(ChangeKind.REMOVED, "x"),
        ToolChange(ChangeKind.CHANGED, "y"),
        ToolChange(ChangeKind.ADDED, "z"),
    )
    swapped = compare(with_tools(("x", ""), ("y", "")), with_tools(("y", ""), ("x", "")))
    assert {change.kind for change in swapped.tools} == {ChangeKind.MOVED}


def test_the_first_difference_is_the_one_that_stands_first_in_either() -> None:
    a, b, c, d = (user(name, name) for name in "abcd")
    found = compare(Request((a, b, c, d)), Request((b, user("n"), c, d, a)))
    assert [change.kind for change in found.changed] == [ChangeKind.ADDED, ChangeKind.MOVED]
    assert found.first == found.changed[1]


def test_it_is_the_reminder_that_moved_and_not_the_user_whom_it_passed() -> None:
    entries = (reminder("r", "date_change"), user("a"))
    found = compare(Request(entries), Request(entries, _MIDWAY))
    assert told(found) == [
        (
            ChangeKind.MOVED,
            0,
            1,
            (
                "as a system message it waits until it interrupts nothing",
                "became a system message",
                "the model takes system messages mid-conversation",
            ),
        )
    ]
    back = compare(Request(entries, _MIDWAY), Request(entries))
    assert told(back) == [
        (
            ChangeKind.MOVED,
            1,
            0,
            (
                "no longer: as a system message it waits until it interrupts nothing",
                "is no system message any more",
                "the model takes no system messages mid-conversation",
            ),
        )
    ]


def test_it_is_the_reminder_that_moved_where_it_had_moved_before() -> None:
    entries = (user("a"), reminder("r", "date_change"))
    found = compare(Request(entries), Request(entries, _MIDWAY))
    assert [(c.kind, c.before, c.after) for c in found.changed] == [(ChangeKind.MOVED, 0, 1)]
    assert found.changed[0].reasons[0] == "no longer: date_change stands where its turn begins"


def test_what_moved_in_both_alike_did_not_move_between_them() -> None:
    entries = (user("a"), reminder("r", "date_change"))
    found = compare(Request(entries), Request((*entries, answer("b"))))
    assert [change.kind for change in found.changed] == [ChangeKind.ADDED]


def test_more_or_less_that_is_joined_to_a_system_message_is_told() -> None:
    one = (user("a"), reminder("r", "goal_state_change"))
    two = (*one, reminder("s", "goal_state_change"))
    assert told(compare(Request(one, _MIDWAY), Request(two, _MIDWAY))) == [
        (ChangeKind.CHANGED, 1, 1, ("more was joined to it",))
    ]
    assert told(compare(Request(two, _MIDWAY), Request(one, _MIDWAY))) == [
        (ChangeKind.CHANGED, 1, 1, ("less is joined to it",))
    ]
    assert told(compare(Request(two), Request(two, _MIDWAY)))[-1] == (
        ChangeKind.REMOVED,
        2,
        None,
        ("stands in another message now",),
    )
    assert told(compare(Request(two, _MIDWAY), Request(two)))[-1] == (
        ChangeKind.ADDED,
        None,
        2,
        ("stood in another message before",),
    )


def test_what_was_left_out_and_now_is_not_says_why_it_was() -> None:
    orphan = (user("a"), result("r", "c1"))
    found = compare(Request(orphan), Request((*orphan, calling("b", "c1"))))
    assert [change.reasons for change in found.changed] == [
        ("new in the history",),
        ("was left out before: no call asked for this result",),
    ]
    back = compare(Request((*orphan, calling("b", "c1"))), Request(orphan))
    assert back.changed[1].reasons == ("is left out now: no call asked for this result",)


def test_a_repair_that_both_have_is_no_reason() -> None:
    one, other = user("a", "half \ud83d"), user("a", "whole \ud83d")
    found = compare(Request((one,)), Request((other,)))
    assert told(found) == [(ChangeKind.CHANGED, 0, 0, ("the history says something else here",))]
    clean = compare(Request((user("a", "clean"),)), Request((other,)))
    assert any(reason.startswith("repair: ") for reason in clean.changed[0].reasons)


def test_a_mark_that_came_and_one_of_another_length_are_told() -> None:
    marks = (None, CacheMark(), CacheMark("1h"))
    none, plain, long = (
        Request((replace(user("a"), message=Message(Role.USER, "words", cache=mark)),)) for mark in marks
    )
    assert told(compare(none, plain)) == [(ChangeKind.MARK, 0, 0, ("the mark moved here",))]
    assert told(compare(plain, long)) == [(ChangeKind.MARK, 0, 0, ("the mark is another one",))]


def test_a_system_message_that_lost_its_place_says_so() -> None:
    entries = (user("a"), reminder("r", "goal_state_change"))
    stops = said("s", Role.USER, "and?", presentation=Presentation.COORDINATOR_INPUT.value)
    found = compare(Request(entries, _MIDWAY), Request((*entries, stops), _MIDWAY))
    assert told(found)[0] == (
        ChangeKind.CHANGED,
        1,
        1,
        ("is no system message any more", "it may not stand there as one"),
    )


def test_two_entries_of_one_id_are_two() -> None:
    changed = compare(
        Request((user("x", "1"), user("e", "2"), user("e", "3"))),
        Request((user("x", "0"), user("e", "2"), user("e", "3"))),
    )
    assert [change.kind for change in changed.messages] == [ChangeKind.CHANGED] + [ChangeKind.SAME] * 2
    found = compare(Request((user("e", "1"), user("e", "2"))), Request((user("e", "1"), user("e", "2")) * 2))
    assert [change.kind for change in found.messages] == [ChangeKind.SAME] * 2 + [ChangeKind.ADDED] * 2


def test_ten_thousand_messages_in_another_order_take_less_than_two_seconds() -> None:
    before = tuple(user(f"e{n}", f"words {n}") for n in range(10_000))
    other = tuple(user(f"e{n}", f"words {n}") for n in (*range(9_999, 5_000, -1), *range(5_000)))
    started = time.process_time()
    found = compare(Request(before), Request(other))
    assert time.process_time() - started < 2
    assert len(found.messages) == 10_000


def test_a_steer_that_came_in_between_is_new_and_presented() -> None:
    entries = (user("a"), calling("b", "c1"), result("r1", "c1"))
    steer = said("s", Role.USER, "stop", presentation=Presentation.USER_STEER.value)
    found = compare(Request(entries), Request((*entries, steer)))
    assert told(found) == [(ChangeKind.ADDED, None, 3, ("new in the history",))]
