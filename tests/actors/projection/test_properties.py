"""What must hold on every history, however damaged."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.history import Entry
from actors.projection import Projection, ProjectionOptions, project
from providers.model import Message
from tests.actors.projection.checks import lost_texts, refusals, wrongly_dropped
from tests.actors.projection.histories import (
    READER,
    Steps,
    answer,
    as_stored,
    history,
    new_steps,
    steps,
)

_OPTIONS = st.builds(
    ProjectionOptions,
    mid_conversation_system=st.booleans(),
    peers_may_use_system_role=st.booleans(),
    apply_cache_control=st.booleans(),
    skip_cache_write=st.booleans(),
    model=st.sampled_from([None, READER]),
)
_QUICK = settings(max_examples=150, deadline=None, derandomize=True)
_LONG = settings(
    max_examples=1_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def _check_one(entries: tuple[Entry, ...], options: ProjectionOptions) -> None:
    projection = project(entries, options)
    mid = options.mid_conversation_system
    assert refusals(projection.messages, mid_conversation_system=mid) == []
    assert lost_texts(entries, projection) == []
    assert wrongly_dropped(entries, projection) == []
    assert project(entries, options) == projection
    again = project(as_stored(projection.messages), options)
    assert again.messages == projection.messages
    assert again.repaired == ()
    assert again.moved == ()
    _check_report(entries, projection, options)


def _check_report(entries: tuple[Entry, ...], projection: Projection, options: ProjectionOptions) -> None:
    n_entries = len(entries)
    assert len(projection.sources) == len(projection.messages)
    from_entries = [index for sources in projection.sources for index in sources]
    assert len(set(from_entries)) == len(from_entries)
    assert all(0 <= index < n_entries for index in from_entries)
    reported = {repair.entry for repair in projection.repaired}
    assert set(range(n_entries)) - set(from_entries) <= reported
    assert set(projection.moved) <= set(from_entries)
    unmoved = [index for index in from_entries if index not in set(projection.moved)]
    assert unmoved == sorted(unmoved)
    if options.apply_cache_control and projection.cache_control_index is not None:
        assert projection.messages[projection.cache_control_index].cache is not None


def _without_marks(messages: tuple[Message, ...]) -> list[Message]:
    return [replace(message, cache=None) for message in messages]


def _check_prefix(before: Steps, after: Steps, options: ProjectionOptions) -> None:
    earlier = history(before)
    later = earlier + history([(answer, 0), *after], prefix="later")
    sent_before = _without_marks(project(earlier, options).messages)
    sent_after = _without_marks(project(later, options).messages)
    assert sent_after[: len(sent_before)] == sent_before


@_QUICK
@given(steps(60), _OPTIONS)
def test_any_history_becomes_legal_and_loses_no_text(taken: Steps, options: ProjectionOptions) -> None:
    _check_one(history(taken), options)


@_QUICK
@given(steps(40), new_steps(20), _OPTIONS)
def test_what_was_sent_before_an_answer_is_sent_again_behind_it(
    before: Steps, after: Steps, options: ProjectionOptions
) -> None:
    _check_prefix(before, after, options)


@pytest.mark.slow
@pytest.mark.parametrize("_part", range(10))
@_LONG
@given(steps(300), _OPTIONS)
def test_long_histories_become_legal_and_lose_no_text(
    _part: int, taken: Steps, options: ProjectionOptions
) -> None:
    _check_one(history(taken), options)


@pytest.mark.slow
@pytest.mark.parametrize("_part", range(10))
@_LONG
@given(steps(200), new_steps(100), _OPTIONS)
def test_long_histories_keep_what_was_sent(
    _part: int, before: Steps, after: Steps, options: ProjectionOptions
) -> None:
    _check_prefix(before, after, options)
