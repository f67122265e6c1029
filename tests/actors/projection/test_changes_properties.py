"""Of any two requests: every message is told once, and as what it is."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.errors import EmptyReminderBody
from actors.history import Entry
from actors.projection import (
    Change,
    ChangeKind,
    ProjectionOptions,
    compare,
)
from providers.model import Message
from tests.actors.projection.histories import READER, Steps, history, steps
from tests.actors.projection.requests import Request

_OPTIONS = st.builds(
    ProjectionOptions,
    mid_conversation_system=st.booleans(),
    peers_may_use_system_role=st.booleans(),
    apply_cache_control=st.booleans(),
    model=st.sampled_from([None, READER]),
)


def _request(entries: tuple[Entry, ...], options: ProjectionOptions) -> Request | None:
    try:
        return Request(entries, options, n_prefix=len(entries) % 3)
    except EmptyReminderBody:
        return None


@settings(max_examples=150, deadline=None, derandomize=True)
@given(steps(40), steps(15), st.lists(st.integers(0, 40), max_size=4), _OPTIONS, _OPTIONS)
def test_every_message_of_both_is_told_once_and_the_same_ones_are_those_that_are(
    taken: Steps, more: Steps, dropped: list[int], options: ProjectionOptions, others: ProjectionOptions
) -> None:
    entries = history(taken)
    grown = (*entries, *history(more, "later"))
    shrunk = tuple(entry for at, entry in enumerate(grown) if at not in dropped)
    turned = (*shrunk[len(more) :], *shrunk[: len(more)])
    made = (entries, options), (grown, options), (shrunk, others), (turned, others)
    requests = [_request(*one) for one in made]
    for before, after in ((0, 1), (0, 2), (2, 0), (1, 2), (2, 3), (0, 3)):
        one, other = requests[before], requests[after]
        if one is not None and other is not None:
            _check(one, other)


def _check(one: Request, other: Request) -> None:
    found = compare(one, other)
    was, now = (_unmarked(request.projection.messages) for request in (one, other))
    n_same = next((n for n, pair in enumerate(zip(was, now, strict=False)) if pair[0] != pair[1]), None)
    assert found.n_same == (min(len(was), len(now)) if n_same is None else n_same)
    assert sorted(c.before for c in found.messages if c.before is not None) == list(range(len(was)))
    assert [c.after for c in found.messages if c.after is not None] == list(range(len(now)))
    for change in found.messages:
        _check_kind(change, one, other)
    first = found.first
    assert (first is None) == (was == now)
    if first is not None:
        assert min(at for at in (first.before, first.after) if at is not None) == found.n_same
    rest = [c.before for c in found.messages if c.kind is not ChangeKind.MOVED and c.before is not None]
    assert rest == sorted(rest)


def _check_kind(change: Change, one: Request, other: Request) -> None:
    assert bool(change.reasons) == (change.kind is not ChangeKind.SAME)
    if change.before is None or change.after is None:
        wanted = ChangeKind.ADDED if change.before is None else ChangeKind.REMOVED
        assert change.kind is wanted
        return
    was, now = one.projection.messages[change.before], other.projection.messages[change.after]
    says_same = _unmarked((was,)) == _unmarked((now,))
    assert change.says_same == says_same
    if change.kind is ChangeKind.SAME:
        assert was == now
    elif change.kind is ChangeKind.MARK:
        assert says_same
        assert was.cache != now.cache
    else:
        assert change.kind in (ChangeKind.CHANGED, ChangeKind.MOVED)
        assert change.kind is ChangeKind.MOVED or not says_same


def _unmarked(messages: tuple[Message, ...]) -> list[Message]:
    return [replace(message, cache=None) for message in messages]
