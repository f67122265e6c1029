"""A projection that grows equals one made at once, whatever is appended, taken away or asked otherwise."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from actors.errors import EmptyReminderBody
from actors.history import Entry, Presentation, ResultStatus
from actors.projection import Projection, ProjectionOptions, Projector, project, same_tools
from actors.projection.thinking import Trace
from providers.model import CacheMark, Message, ReasoningBlock, Role, TextBlock, ToolSpec
from tests.actors.projection.entries import answer, calls, incoming, reminder, result, user
from tests.actors.projection.histories import READER, Steps, history, steps

_OPTIONS = st.builds(
    ProjectionOptions,
    mid_conversation_system=st.booleans(),
    peers_may_use_system_role=st.booleans(),
    apply_cache_control=st.booleans(),
    skip_cache_write=st.booleans(),
    model=st.sampled_from([None, READER]),
    as_recorded=st.booleans(),
)
_PLAIN = ProjectionOptions()


def _projected(entries: tuple[Entry, ...], options: ProjectionOptions) -> Projection | str:
    try:
        return project(entries, options)
    except EmptyReminderBody as error:
        return str(error)


def _step(projector: Projector, entries: tuple[Entry, ...], options: ProjectionOptions) -> Projection | str:
    try:
        projection = projector.project(entries, options)
    except EmptyReminderBody as error:
        return str(error)
    trace = Trace(options.tools)
    trace.take(projection.messages)
    assert projector.fingerprint() == trace.fingerprint()
    return projection


def _check_growth(taken: Steps, strides: list[int], options: ProjectionOptions) -> None:
    entries = history(taken)
    projector = Projector()
    before: Projection | str = ""
    n_entries = 0
    while n_entries < len(entries):
        n_entries += strides[n_entries % len(strides)]
        grown = entries[:n_entries]
        projection = _step(projector, grown, options)
        assert projection == _projected(grown, options)
        if isinstance(projection, Projection) and isinstance(before, Projection):
            assert projector.n_kept <= len(before.messages)
            kept = zip(before.messages, projection.messages[: projector.n_kept], strict=False)
            assert all(was is now or _differ_by_mark(was, now) for was, now in kept)
        before = projection


def _differ_by_mark(was: Message, now: Message) -> bool:
    return replace(was, cache=None) == replace(now, cache=None)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(steps(60), st.lists(st.integers(1, 5), min_size=1, max_size=7), _OPTIONS)
def test_a_history_that_grows_is_projected_as_if_at_once(
    taken: Steps, strides: list[int], options: ProjectionOptions
) -> None:
    _check_growth(taken, strides, options)


@pytest.mark.slow
@pytest.mark.parametrize("_part", range(10))
@settings(
    max_examples=1_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(steps(300), st.lists(st.integers(5, 60), min_size=1, max_size=7), _OPTIONS)
def test_long_histories_that_grow_are_projected_as_if_at_once(
    _part: int, taken: Steps, strides: list[int], options: ProjectionOptions
) -> None:
    _check_growth(taken, strides, options)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    steps(30),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), _OPTIONS), max_size=6),
)
def test_a_history_that_is_cut_or_changed_is_projected_anew(
    taken: Steps, cuts: list[tuple[int, int, int, ProjectionOptions]]
) -> None:
    whole = history(taken)
    projector = Projector()
    for left_from, left_to, n_entries, options in cuts:
        entries = (whole[:left_from] + whole[left_to:])[:n_entries]
        assert _step(projector, entries, options) == _projected(entries, options)


WORK = (user("u"), calls("c1"), result("c1"))


def test_what_stands_before_the_newest_answer_is_kept() -> None:
    projector = Projector()
    first = projector.project(WORK, _PLAIN)
    assert projector.n_kept == 0
    answered = (*WORK, answer("a"))
    second = projector.project(answered, _PLAIN)
    assert projector.n_kept == 1
    projector.project((*answered, user("v")), _PLAIN)
    assert projector.n_kept == 3
    assert all(was is now for was, now in zip(first.messages, second.messages, strict=False))


@pytest.mark.parametrize(
    "late",
    [
        (result("c2"),),
        (result("c1"),),
        (calls("c0"), result("c0")),
        (calls("c1"), result("c1"), result("c1")),
        (calls("c2"), result("c2"), result("c2")),
    ],
)
def test_a_call_and_a_result_on_two_sides_of_an_answer_find_each_other(late: tuple[Entry, ...]) -> None:
    """c0 has a result before its call; c1 is answered, c2 is not; and then something comes late."""
    entries = (result("c0"), user("u"), calls("c1", "c2"), result("c1"), answer("a"), user("v"), answer("b"))
    projector = Projector()
    projector.project(entries, _PLAIN)
    grown = (*entries, *late)
    assert projector.project(grown, _PLAIN) == project(grown, _PLAIN)
    grown = (*grown, answer("c"), user("w"))
    assert projector.project(grown, _PLAIN) == project(grown, _PLAIN)
    grown = (*grown, answer("d"))
    projector.project(grown, _PLAIN)
    assert projector.n_kept > 0


def test_ids_that_a_server_uses_again_and_again_cost_no_full_projection() -> None:
    entries: tuple[Entry, ...] = ()
    projector = Projector()
    for number in range(5):
        entries = (*entries, user(str(number)), calls("call_0"), result("call_0"), answer("a"))
        assert projector.project(entries, _PLAIN) == project(entries, _PLAIN)
        assert projector.n_kept == max(0, 4 * number - 1)


def test_what_the_log_learns_of_a_call_changes_what_was_kept() -> None:
    entries = (user("u"), calls("c1"), answer("a"), user("v"))
    known: dict[str, ResultStatus] = {}
    options = ProjectionOptions(call_status=known, model=READER)
    projector = Projector()
    projector.project(entries, options)
    known["c1"] = ResultStatus.INTERRUPTED
    assert projector.project(entries, options) == project(entries, options)


def test_a_request_that_must_not_write_the_cache_keeps_what_is_known() -> None:
    entries = (user("u"), answer("a"), user("v"))
    options = ProjectionOptions(apply_cache_control=True)
    projector = Projector()
    projector.project(entries, options)
    spared = replace(options, skip_cache_write=True)
    assert projector.project(entries, spared) == project(entries, spared)
    assert projector.n_kept == 1


def test_marks_of_an_import_are_taken_off_once() -> None:
    def marked(text: str) -> Entry:
        entry = user(text)
        return replace(entry, message=replace(entry.message, cache=CacheMark()))

    entries = (*(marked(str(number)) for number in range(6)), answer("a"), user("v"))
    options = ProjectionOptions(apply_cache_control=True)
    projector = Projector()
    first = projector.project(entries, options)
    second = projector.project((*entries, answer("b")), options)
    assert second == project((*entries, answer("b")), options)
    assert all(was is now for was, now in zip(first.messages[:6], second.messages[:6], strict=True))


def test_a_reminder_that_cannot_be_wrapped_leaves_the_projector_usable() -> None:
    projector = Projector()
    projector.project(WORK, _PLAIN)
    broken = (*WORK, answer("a"), reminder("date_change", ""))
    for _ in range(2):
        with pytest.raises(EmptyReminderBody):
            projector.project(broken, _PLAIN)
    good = (*WORK, answer("a"), reminder("date_change", "today"), answer("b"), user("v"))
    assert projector.project(good, _PLAIN) == project(good, _PLAIN)
    assert projector.project(good, _PLAIN).messages[-1].role is Role.USER


def test_an_answer_that_does_not_go_out_settles_nothing() -> None:
    """Behind an empty answer a system message has no place; with a full one it has."""
    options = ProjectionOptions(mid_conversation_system=True)
    entries = (*WORK, reminder("date_change", "today"), answer("  "), user("v"))
    projector = Projector()
    for n_entries in range(1, len(entries) + 1):
        assert projector.project(entries[:n_entries], options) == project(entries[:n_entries], options)
    assert [m.role for m in project(entries, options).messages].count(Role.SYSTEM) == 0


def test_another_beginning_is_seen() -> None:
    projector = Projector()
    tail = (user("v"), answer("b"), user("w"))
    projector.project((user("u"), answer("a"), *tail), _PLAIN)
    other = (user("other"), answer("a"), *tail)
    assert projector.project(other, _PLAIN) == project(other, _PLAIN)
    assert projector.n_kept == 0


def test_another_end_of_the_same_length_is_seen() -> None:
    projector = Projector()
    projector.project((*WORK, answer("a"), user("v")), _PLAIN)
    other = (*WORK, answer("a"), user("other"), answer("b"))
    assert projector.project(other, _PLAIN) == project(other, _PLAIN)


def test_a_shorter_history_is_seen() -> None:
    projector = Projector()
    projector.project((*WORK, answer("a"), user("v")), _PLAIN)
    assert projector.project(WORK[:1], _PLAIN) == project(WORK[:1], _PLAIN)


def test_what_an_answer_settled_is_open_again_without_the_answer() -> None:
    projector = Projector()
    projector.project((*WORK, answer("a"), user("v")), _PLAIN)
    for tail in ((), (user("v"),), (reminder("context_prefix", "floats to the front of its turn"),)):
        entries = (*WORK, *tail)
        assert projector.project(entries, _PLAIN) == project(entries, _PLAIN)
    cut = (user("u"), reminder("context_prefix", "floats to the front"))
    projector.project((cut[0], answer("a")), _PLAIN)
    assert projector.project(cut, _PLAIN) == project(cut, _PLAIN)


def test_a_projector_that_was_asked_nothing_has_said_nothing() -> None:
    projector = Projector()
    assert (projector.n_kept, projector.n_settled) == (0, 0)
    assert projector.fingerprint() == Trace().fingerprint()


def test_the_epoch_rises_only_where_nothing_can_be_kept() -> None:
    grown = (*WORK, user("v"), answer("a"), user("w"))
    again = (*grown, result("c1"), answer("b"))
    other = ProjectionOptions(model=READER)
    projector = Projector()
    projector.project(WORK, _PLAIN)
    seen = [(0, projector.n_kept, projector.n_settled)]
    for entries, options in (
        (grown[:4], _PLAIN),
        (grown[:5], _PLAIN),
        (grown, _PLAIN),
        (grown, other),
        ((*grown, answer("b")), other),
        (again, other),
        ((*again, result("c1")), other),
    ):
        epoch = projector.epoch
        projector.project(entries, options)
        seen.append((projector.epoch - epoch, projector.n_kept, projector.n_settled))
    assert seen == [(0, 0, 1), (0, 1, 1), (0, 1, 4), (0, 4, 4), (1, 0, 4), (0, 4, 6), (1, 0, 6), (1, 0, 0)]


def test_another_end_behind_the_same_answer_is_seen() -> None:
    kept = (*WORK, answer("a"))
    projector = Projector()
    projector.project((*kept, user("v")), _PLAIN)
    other = (*kept, user("other"), answer("b"))
    assert projector.project(other, _PLAIN) == project(other, _PLAIN)


def test_an_empty_history_is_an_empty_request() -> None:
    assert Projector().project((), _PLAIN) == project((), _PLAIN)


def test_a_fingerprint_asked_for_late_is_that_of_the_whole_request() -> None:
    projector = Projector()
    for entries in ((*WORK, answer("a")), (*WORK, answer("a"), user("v"), answer("b"))):
        projection = projector.project(entries, _PLAIN)
    trace = Trace()
    trace.take(projection.messages)
    assert projector.fingerprint() == trace.fingerprint()


def test_the_fingerprint_of_a_request_outlives_one_that_could_not_be_made() -> None:
    projector = Projector()
    projector.project(WORK, _PLAIN)
    said = projector.fingerprint()
    with pytest.raises(EmptyReminderBody):
        projector.project((*WORK, answer("a"), reminder("date_change", "")), _PLAIN)
    assert projector.fingerprint() == said


def test_marks_of_an_import_stay_where_none_is_asked_for() -> None:
    marked = replace(user("u"), message=Message(Role.USER, "u", cache=CacheMark()))
    entries = (marked, answer("a"), user("v"))
    assert Projector().project(entries, _PLAIN).messages[0] is marked.message


def test_a_reasoning_item_that_was_kept_goes_out_once() -> None:
    thoughts = answer((ReasoningBlock("", data="d", item_id="rs_1"), TextBlock("a")))
    entries = (user("u"), thoughts, user("v"), answer("b"), user("w"), thoughts)
    projection = Projector().project(entries, _PLAIN)
    assert projection == project(entries, _PLAIN)
    assert projection.messages[-1].content == (TextBlock("a"),)


def test_what_comes_back_to_its_place_behind_what_was_kept_has_not_moved() -> None:
    options = ProjectionOptions(mid_conversation_system=True)
    entries = (user("u"), answer("a"), user("v"), reminder("date_change", "today"))
    projector = Projector()
    projector.project(entries[:2], options)
    assert projector.project(entries, options).moved == project(entries, options).moved == ()


def _marked(text: str) -> Entry:
    return replace(user(text), message=Message(Role.USER, text, cache=CacheMark()))


@pytest.mark.parametrize(("apply", "marked"), [(False, [7, 8, 10, 11]), (True, [11])])
def test_marks_over_four_are_counted_over_what_was_kept_and_what_is_new(
    apply: bool, marked: list[int]
) -> None:
    options = ProjectionOptions(apply_cache_control=apply)
    entries = (*map(_marked, "abcdef"), answer("1"), *map(_marked, "gh"), answer("2"), *map(_marked, "ij"))
    projector = Projector()
    for n_entries in range(1, len(entries) + 1):
        assert projector.project(entries[:n_entries], options) == project(entries[:n_entries], options)
    messages = project(entries, options).messages
    assert [at for at, message in enumerate(messages) if message.cache is not None] == marked


def test_a_mark_in_a_later_part_of_what_was_kept_goes_from_its_own_message() -> None:
    entries = (user("a"), answer("1"), *map(_marked, "bcd"), answer("2"), *map(_marked, "ef"))
    projector = Projector()
    for n_entries in (1, 2, 6, 8):
        projection = projector.project(entries[:n_entries], _PLAIN)
    assert projection == project(entries, _PLAIN)
    assert [(r.rule.value, r.entry) for r in projection.repaired] == [("cache_marks", 2)]


def test_that_something_was_presented_is_known_when_it_is_new_and_when_it_is_old() -> None:
    peer = incoming(Presentation.SUBAGENT_REPLY, "hi")
    entries = (answer("a"), peer, answer("b"), answer("c"), answer("d"))
    projector = Projector()
    found = [projector.project(entries[:n], _PLAIN).latest_real_user_index for n in range(1, 6)]
    assert found == [None, -1, -1, -1, -1]


def test_tools_that_are_equal_but_not_the_same_on_the_wire_are_seen() -> None:
    def look(schema: dict[str, JsonValue]) -> ProjectionOptions:
        return ProjectionOptions(tools=(ToolSpec("Look", "Looks.", {"type": "object", **schema}),))

    for one, other in (({"a": 1, "b": 1}, {"b": 1, "a": 1}), ({"a": 1}, {"a": True}), ({"a": 1}, {"a": 1.0})):
        projector = Projector()
        entries = (user("u"), answer("a"), user("v"))
        projector.project(entries, look(dict(one)))
        before = projector.fingerprint()
        projector.project(entries, look(dict(one)))
        assert (projector.n_kept, projector.fingerprint()) == (1, before)
        projector.project(entries, look(dict(other)))
        assert projector.n_kept == 0
        assert projector.fingerprint() != before


def test_a_history_that_has_no_answer_yet_begins_no_new_epoch() -> None:
    projector = Projector()
    projector.project((user("u"),), _PLAIN)
    epoch = projector.epoch
    projector.project((user("u"), user("v")), _PLAIN)
    assert projector.epoch == epoch


def test_one_schema_under_another_name_or_with_other_words_is_another_tool() -> None:
    look = ToolSpec("Look", "Looks.", {"type": "object"})
    listen = ToolSpec("Listen", "Listens.", {"type": "object"})
    same = replace(look)
    for others in (
        (replace(look, name="See"), listen),
        (replace(look, description="Sees."), listen),
        (look,),
        (look, listen, listen),
        (listen, look),
        (replace(look, input_schema={"type": "object", "title": "T"}), listen),
    ):
        assert not same_tools((look, listen), others)
    assert same_tools((look, listen), (same, ToolSpec("Listen", "Listens.", {"type": "object"})))
    assert same_tools((), ())
    assert not same_tools((look,), (replace(look, name="See"),))
    assert not same_tools((look,), (replace(look, description="Sees."),))
