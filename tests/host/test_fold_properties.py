"""The fold takes any records in any order, and a rewind is a cut and nothing else."""

import random
from collections.abc import Sequence
from functools import cache
from typing import get_args

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.envelope import EnvelopeId, ReceiptState
from actors.history import Entry
from actors.records import EnvelopesPresented, Record, Rewound, TurnId
from actors.state import REWIND_SOURCE, AgentFold, folded
from host.testing import virtual_asyncio
from tests.host.logs import written
from tests.host.store.anything import any_of

_SEEDS = range(300, 304)
# The first example waits for the programs that write the logs.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def pool() -> tuple[Sequence[Record], ...]:
    """Logs of random programs, those of children too."""
    backend, options = virtual_asyncio()
    found: list[Sequence[Record]] = []
    for seed in _SEEDS:
        program = anyio.run(written, seed, backend=backend, backend_options=options)
        found.extend(log for log in program.logs.values() if len(log) > 3)
    return tuple(found)


def check_invariants(fold: AgentFold) -> None:
    places = [mark.first_entry for mark in fold.turns]
    assert places == sorted(places)
    assert all(0 <= place <= len(fold.history) for place in places)
    newest = {entry.source: n for n, entry in enumerate(fold.history) if entry.source is not None}
    assert fold.newest_of == newest
    assert fold.waiting.keys() <= fold.receipts.keys()
    if fold.turn is not None:
        assert fold.turns[-1].turn_id == fold.turn.turn_id
        assert fold.turns[-1].ended is None


@st.composite
def some_records(draw: st.DrawFn) -> list[Record]:
    """Records of one log or of several: dropped, doubled, in another order."""
    logs = draw(st.lists(st.sampled_from(pool()), min_size=1, max_size=2))
    records = [record for log in logs for record in log]
    places = st.integers(0, len(records) - 1)
    return [records[n] for n in draw(st.lists(places, max_size=80))]


@patient
@given(st.data())
def test_no_order_and_no_choice_of_records_breaks_the_fold(data: st.DataObject) -> None:
    records = data.draw(some_records())
    fold = AgentFold()
    for record in records:
        fold.apply(record)
        check_invariants(fold)
    assert fold.n_records == len(records)
    assert fold == folded(records)


@patient
@given(st.lists(st.one_of([any_of(kind) for kind in get_args(Record)]), max_size=8))
def test_records_with_any_values_do_not_break_it_either(records: list[Record]) -> None:
    fold = AgentFold()
    for record in records:
        fold.apply(record)
        check_invariants(fold)


@patient
@given(st.data())
def test_behind_holes_in_a_log_nothing_waits_that_the_model_has_seen(data: st.DataObject) -> None:
    log = data.draw(st.sampled_from(pool()))
    holes = data.draw(st.sets(st.integers(0, len(log) - 1), max_size=10))
    left = [record for n, record in enumerate(log) if n not in holes]
    fold = folded(left)
    check_invariants(fold)
    shown = {e for record in left if isinstance(record, EnvelopesPresented) for e in record.envelope_ids}
    shown.update(EnvelopeId(e) for e in map(envelope_of, fold.history) if e is not None)
    assert shown.isdisjoint(fold.waiting)
    assert all(fold.receipts[envelope_id] is ReceiptState.ACCEPTED for envelope_id in fold.waiting)


def envelope_of(entry: Entry) -> str | None:
    return entry.envelope_id


@patient
@given(st.integers())
def test_a_rewind_is_a_cut_of_the_history(seed: int) -> None:
    dice = random.Random(seed)
    fold = AgentFold()
    for record in dice.choice(pool()):
        fold.apply(record)
        if fold.turn is None and fold.turns and dice.randrange(6) == 0:
            check_rewind(fold, dice.choice(fold.turns).turn_id)


def check_rewind(fold: AgentFold, before: TurnId) -> None:
    history, turns = list(fold.history), list(fold.turns)
    at = [mark.turn_id for mark in turns].index(before)
    waiting, receipts, spent = dict(fold.waiting), dict(fold.receipts), fold.spent
    rewound = Rewound(before, (), 0.0)
    fold.apply(rewound)
    cut = history[: turns[at].first_entry]
    assert fold.history == cut[: len(fold.history)]
    assert all(entry.source == REWIND_SOURCE for entry in cut[len(fold.history) :])
    assert fold.turns == turns[:at]
    assert (fold.waiting, fold.receipts, fold.spent) == (waiting, receipts, spent)
    check_invariants(fold)
    once = (list(fold.history), list(fold.turns), set(fold.removed_turns), fold.last_turn, fold.state)
    fold.apply(rewound)
    assert (fold.history, fold.turns, fold.removed_turns, fold.last_turn, fold.state) == once


def test_the_logs_of_the_pool_hold_rewinds_and_more() -> None:
    kinds = {type(record).__name__ for log in pool() for record in log}
    wanted = {"Rewound", "EnvelopeDropped", "CallsStarted", "StateChanged", "ModeChanged", "TurnEnded"}
    assert wanted <= kinds
