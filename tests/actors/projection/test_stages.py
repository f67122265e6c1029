"""Places, merges, marks and the report of a projection, one rule at a time."""

from dataclasses import replace

import pytest

from actors.errors import EmptyReminderBody, UnknownReminderSource
from actors.history import Entry, EntryId, MessageEntry, Origin, Presentation, ReminderEntry
from actors.projection import ProjectionOptions, project
from providers.model import CacheMark, Message, Role, TextBlock
from tests.actors.projection.entries import answer, calls, incoming, reminder, result, said, user
from tests.actors.projection.histories import as_stored

MID = ProjectionOptions(mid_conversation_system=True)


def _sources(entries: tuple[Entry, ...], options: ProjectionOptions = MID) -> list[tuple[int, ...]]:
    return list(project(entries, options).sources)


def test_nothing_projects_to_nothing() -> None:
    projection = project((), MID)
    assert projection.messages == ()
    assert projection.latest_real_user_index is None


def test_a_reminder_that_floats_and_lands_in_its_old_place_has_not_moved() -> None:
    projection = project((user("u"), reminder("date_change", "today"), answer("a")), MID)
    assert projection.sources == ((0,), (1,), (2,))
    assert projection.moved == ()


def test_a_reminder_that_floats_before_its_user_has_moved() -> None:
    projection = project((user("u"), reminder("date_change", "today"), answer("a")))
    assert projection.sources == ((1,), (0,), (2,))
    assert projection.moved == (1,)


def test_merged_reminders_name_every_entry_behind_them() -> None:
    entries = (user("u"), reminder("date_change", "a"), reminder("hook_context", "b"))
    projection = project(entries, MID)
    assert projection.sources == ((0,), (1, 2))
    assert projection.messages[1] == Message(Role.SYSTEM, "a\n\nb")


def test_a_reminder_kept_with_its_presentation_is_a_boundary_with_its_words() -> None:
    steer = ReminderEntry(
        EntryId("e"), "incoming_message", "stop", Origin.USER, presentation=Presentation.USER_STEER.value
    )
    projection = project((user("u"), user("v"), steer, reminder("date_change", "today"), answer("a")))
    assert projection.sources == ((0,), (1,), (2,), (3,), (4,))
    assert "while you were working" in str(projection.messages[2].content)
    assert projection.latest_real_user_index == 2


@pytest.mark.parametrize("options", [ProjectionOptions(), MID])
def test_an_unknown_source_is_a_typed_error_with_a_code(options: ProjectionOptions) -> None:
    with pytest.raises(UnknownReminderSource, match="'gossip'") as caught:
        project((user("u"), reminder("gossip", "x")), options)
    assert caught.value.code == "unknown_reminder_source"


def test_an_empty_reminder_is_a_typed_error_with_a_code() -> None:
    with pytest.raises(EmptyReminderBody) as caught:
        project((answer("a"), reminder("rewind_notice", "")))
    assert caught.value.code == "empty_reminder_body"


def test_an_empty_reminder_that_would_be_a_system_message_is_left_out() -> None:
    projection = project((user("u"), reminder("hook_context", "")), MID)
    assert len(projection.messages) == 1
    assert [(r.rule.value, r.entry) for r in projection.repaired] == [("empty_message", 1)]


def test_the_input_is_not_changed() -> None:
    entries: list[Entry] = [user("u"), calls("c1"), reminder("date_change", "x"), result("c1"), user("v")]
    before = list(entries)
    project(entries, ProjectionOptions(mid_conversation_system=True, apply_cache_control=True))
    assert entries == before


def test_the_latest_real_user_can_be_a_steer_inside_a_system_message() -> None:
    steer = incoming(Presentation.USER_STEER, "stop", origin=Origin.USER)
    entries = (user("u"), calls("c1"), result("c1"), steer, reminder("task_status", "t"))
    assert project(entries, MID).latest_real_user_index == 3


def test_no_message_of_the_user_is_known_only_where_something_was_presented() -> None:
    peer = incoming(Presentation.SUBAGENT_REPLY, "hi")
    assert project((answer("a"), peer)).latest_real_user_index == -1
    assert project((answer("a"), user("n", source="legacy_synthetic"))).latest_real_user_index is None


def _marked(role: Role, text: str, mark: CacheMark | None) -> MessageEntry:
    entry = said(role, text)
    return MessageEntry(entry.id, Message(role, text, cache=mark), entry.origin, entry.authority)


def _marks(entries: tuple[Entry, ...], options: ProjectionOptions) -> list[tuple[int, str | None]]:
    messages = project(entries, options).messages
    return [(at, m.cache.ttl) for at, m in enumerate(messages) if m.cache is not None]


def test_marks_over_four_go_first_from_the_conversation_and_last_from_its_end() -> None:
    mark = CacheMark()
    head = tuple(_marked(Role.SYSTEM, f"s{n}", mark) for n in range(3))
    entries = (*head, *(_marked(Role.USER, f"u{n}", mark) for n in range(3)))
    assert _marks(entries, ProjectionOptions()) == [(0, None), (1, None), (2, None), (5, None)]
    applied = project(entries, ProjectionOptions(apply_cache_control=True))
    assert applied.cache_control_index == 5
    assert applied.repaired == ()


def test_four_system_marks_give_way_to_the_mark_of_the_conversation() -> None:
    head = tuple(_marked(Role.SYSTEM, f"s{n}", CacheMark()) for n in range(4))
    marks = _marks((*head, user("u")), ProjectionOptions(apply_cache_control=True))
    assert marks == [(1, None), (2, None), (3, None), (4, None)]


def test_a_mark_of_an_hour_behind_a_shorter_one_is_shortened() -> None:
    entries = (
        _marked(Role.USER, "u", CacheMark("1h")),
        _marked(Role.ASSISTANT, "a", CacheMark()),
        _marked(Role.USER, "v", CacheMark("1h")),
    )
    projection = project(entries)
    assert _marks(entries, ProjectionOptions()) == [(0, "1h"), (1, None), (2, None)]
    assert [(r.rule.value, r.entry) for r in projection.repaired] == [("cache_marks", 2)]


def test_a_request_that_must_not_write_marks_the_message_before_the_last() -> None:
    entries = (user("u"), answer("a"), user("v"), reminder("date_change", "x"))
    options = ProjectionOptions(mid_conversation_system=True, apply_cache_control=True, skip_cache_write=True)
    assert project(entries, options).cache_control_index == 1
    assert project(entries[:1], options).cache_control_index is None


def test_the_mark_already_in_place_leaves_the_stored_message() -> None:
    entry = _marked(Role.USER, "u", CacheMark())
    assert project((entry,), ProjectionOptions(apply_cache_control=True)).messages[0] is entry.message


def test_a_presented_body_of_blocks_is_one_text() -> None:
    entry = incoming(
        Presentation.COORDINATOR_INPUT, (TextBlock("a"), TextBlock("b")), origin=Origin.COORDINATOR
    )
    assert project((entry,)).messages[0].content == "a\nb"


def test_every_reminder_of_a_long_turn_lands_in_one_system_message() -> None:
    entries: tuple[Entry, ...] = (user("u"), *(reminder("date_change", f"r{n}") for n in range(500)))
    assert _sources(entries) == [(0,), tuple(range(1, 501))]


def test_a_steer_under_the_name_of_another_source_is_no_message_of_the_user() -> None:
    steer = incoming(Presentation.USER_STEER, "stop", origin=Origin.USER)
    stray = replace(steer, source="legacy_synthetic")
    assert project((user("u"), answer("a"), steer)).latest_real_user_index == 2
    assert project((user("u"), answer("a"), stray)).latest_real_user_index == 0


def test_of_two_that_changed_places_between_the_same_neighbours_one_moved() -> None:
    steer = incoming(Presentation.USER_STEER, "stop", origin=Origin.USER)
    projection = project((steer, reminder("context_prefix", "c"), user("u")), MID)
    assert projection.sources == ((1,), (0,), (2,))
    assert projection.moved == (0,)


def test_the_mark_asked_for_stays_when_there_are_too_many() -> None:
    hour = CacheMark("1h")
    systems = tuple(_marked(Role.SYSTEM, text, hour) for text in "abc")
    entries = (*systems, user("u"), _marked(Role.SYSTEM, "d", CacheMark()))
    options = ProjectionOptions(mid_conversation_system=True, apply_cache_control=True)
    projection = project(entries, options)
    assert projection.cache_control_index == 3
    assert [message.cache for message in projection.messages] == [None, hour, hour, CacheMark(), CacheMark()]
    assert [(r.rule.value, r.entry) for r in projection.repaired] == [("cache_marks", 0)]
    again = project(as_stored(projection.messages), options)
    assert (again.messages, again.repaired) == (projection.messages, ())


def test_a_reminder_that_another_one_passes_has_not_moved() -> None:
    entries = (user("u"), reminder("goal_state_change", "g"), reminder("date_change", "d"))
    projection = project(entries, MID)
    assert projection.sources == ((0,), (2, 1))
    assert projection.moved == (2,)


def test_an_empty_reminder_that_may_not_stay_a_system_message_is_told_by_its_source() -> None:
    steer = incoming(Presentation.COORDINATOR_INPUT, "go", origin=Origin.COORDINATOR)
    with pytest.raises(EmptyReminderBody, match="date_change"):
        project((user("u"), reminder("date_change", ""), steer), MID)


def test_a_shorter_mark_of_the_system_shortens_those_behind_it() -> None:
    entries = (
        _marked(Role.SYSTEM, "s", CacheMark()),
        _marked(Role.USER, "u", CacheMark("1h")),
        _marked(Role.USER, "v", CacheMark()),
    )
    assert _marks(entries, ProjectionOptions()) == [(0, None), (1, None), (2, None)]


def test_a_mark_that_goes_shortens_none() -> None:
    entries = tuple(_marked(Role.USER, f"u{n}", CacheMark("1h") if n else CacheMark()) for n in range(5))
    assert _marks(entries, ProjectionOptions()) == [(n, "1h") for n in range(1, 5)]


def test_the_first_entry_has_not_moved_when_it_comes_first() -> None:
    projection = project((reminder("date_change", "today"), user("u")))
    assert (projection.sources, projection.moved) == (((0,), (1,)), ())


def test_what_does_not_go_out_moves_nothing() -> None:
    projection = project((user(""), user("u"), reminder("date_change", "today"), answer("a")), MID)
    assert (projection.sources, projection.moved) == (((1,), (2,), (3,)), ())


def test_what_moved_is_told_in_the_order_of_the_history() -> None:
    entries = (
        user("u"),
        calls("c1", "c2", "c3"),
        result("c1"),
        user("v"),
        result("c2"),
        answer("a"),
        result("c3"),
    )
    projection = project(entries)
    assert projection.sources == ((0,), (1,), (2,), (4,), (6,), (3,), (5,))
    assert projection.moved == (3, 6)


@pytest.mark.parametrize(("source", "rules"), [("legacy_synthetic", []), (None, ["moved_behind_results"])])
def test_a_notification_between_results_moves_by_its_source(source: str | None, rules: list[str]) -> None:
    notice = replace(incoming(Presentation.TASK_NOTIFICATION, "done", origin=Origin.HOST), source=source)
    projection = project((user("u"), calls("c1", "c2"), result("c1"), notice, result("c2"), answer("a")))
    assert projection.sources == ((0,), (1,), (2,), (4,), (3,), (5,))
    assert projection.moved == (3,)
    assert [repair.rule.value for repair in projection.repaired] == rules


@pytest.mark.parametrize("presentation", [p for p in Presentation if p is not Presentation.USER_STEER])
def test_only_a_steer_of_the_user_is_a_presented_message_of_the_user(presentation: Presentation) -> None:
    for source in (None, "real_user"):
        entry = replace(incoming(presentation, "words", origin=Origin.HOST), source=source)
        assert project((user("u"), answer("a"), entry)).latest_real_user_index == 0


def test_a_steer_of_the_user_may_come_without_a_source_and_without_words() -> None:
    steer = incoming(Presentation.USER_STEER, None, origin=Origin.USER)
    projection = project((user("u"), answer("a"), replace(steer, source=None)))
    assert projection.latest_real_user_index == 2
    spoken = incoming(Presentation.USER_STEER, "", origin=Origin.USER)
    assert projection.messages == project((user("u"), answer("a"), spoken)).messages
    assert len(projection.messages) == 3


def test_a_reminder_before_the_results_moves_as_a_repair() -> None:
    projection = project((user("u"), calls("c1"), reminder("plan_file_reference", "p"), result("c1")))
    assert projection.sources == ((0,), (1,), (3,), (2,))
    assert [(r.rule.value, r.entry) for r in projection.repaired] == [("moved_behind_results", 2)]


def test_of_the_hosts_words_between_results_those_before_the_last_one_have_moved() -> None:
    notes = [reminder("plan_file_reference", text) for text in "pq"]
    entries = (user("u"), calls("c1", "c2"), result("c1"), notes[0], result("c2"), notes[1], answer("a"))
    projection = project(entries)
    assert projection.sources == ((0,), (1,), (2,), (4,), (3,), (5,), (6,))
    assert projection.moved == (3,)


def test_the_hosts_words_behind_a_user_between_results_move_as_a_repair() -> None:
    note = reminder("plan_file_reference", "p")
    projection = project((user("u"), calls("c1", "c2"), result("c1"), user("v"), note, result("c2")))
    assert projection.sources == ((0,), (1,), (2,), (5,), (3,), (4,))
    assert [(r.rule.value, r.entry) for r in projection.repaired] == [
        ("moved_behind_results", 3),
        ("moved_behind_results", 4),
    ]


def test_marks_that_are_taken_away_are_told_among_other_repairs() -> None:
    entries = (*(_marked(Role.USER, f"u{n}", CacheMark()) for n in range(5)), result("nobody"))
    told = [(repair.rule.value, repair.entry) for repair in project(entries).repaired]
    assert told == [("cache_marks", 0), ("result_without_call", 5)]


def test_a_recorded_history_keeps_its_marks_though_results_had_to_move() -> None:
    entries = (
        *(_marked(Role.USER, f"u{n}", CacheMark()) for n in range(5)),
        calls("c1"),
        user("v"),
        result("c1"),
    )
    assert len(_marks(entries, ProjectionOptions(as_recorded=True))) == 5
    assert len(_marks((*entries, result("nobody")), ProjectionOptions(as_recorded=True))) == 4


def test_the_newest_mark_is_worth_more_than_those_of_the_system_though_nobody_asked_for_it() -> None:
    head = tuple(_marked(Role.SYSTEM, f"s{n}", CacheMark()) for n in range(4))
    marks = _marks((*head, _marked(Role.USER, "u", CacheMark())), ProjectionOptions())
    assert marks == [(1, None), (2, None), (3, None), (4, None)]
