"""Projections in full and step by step, against a loop over the same entries that does nothing."""

from collections.abc import Iterator
from functools import partial

from actors.history import Entry, MessageEntry
from actors.projection import Projection, ProjectionOptions, Projector, project
from benchmarks.harness import Contender, Contest, Growth, Measurement, Memory, Stopwatch
from benchmarks.histories import mixed, reminded

_N_ENTRIES = 8_000
_N_STEPS = 20
_N_LOOPS = 20
_AIM_S = 0.050
_STEP_AIM_S = 0.001
_SIZES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
_PLAIN = ProjectionOptions(apply_cache_control=True)
_SYSTEM = ProjectionOptions(apply_cache_control=True, mid_conversation_system=True)


def measurements() -> Iterator[Measurement]:
    many = mixed(_N_ENTRIES)
    one = reminded(_N_ENTRIES)
    yield _contest("mixed entries", many, _PLAIN)
    yield _contest("mixed entries, system role in the middle", many, _SYSTEM)
    yield _contest("reminders of one user message", one, _SYSTEM)
    histories = {size: mixed(size) for size in _SIZES}
    yield Growth(
        "a full projection by the number of mixed entries",
        _SIZES,
        lambda size: _projected(histories[size], _SYSTEM),
        n_rounds=5,
    )
    yield _steps("mixed entries", many)
    yield _steps("reminders of one user message", one)
    yield Growth(
        "a step by the number of mixed entries before it",
        _SIZES,
        lambda size: _stepped(histories[size]),
        n_rounds=5,
    )
    yield Memory(
        f"memory for {_N_ENTRIES:,} mixed entries",
        (
            ("the history", partial(mixed, _N_ENTRIES)),
            ("a projection of it", partial(project, many, _SYSTEM)),
            ("a projector that holds it, and its last projection", partial(_held, many)),
        ),
    )


def _contest(what: str, entries: tuple[Entry, ...], options: ProjectionOptions) -> Contest:
    return Contest(
        f"full projection of {_N_ENTRIES:,} {what}",
        (
            Contender("bare loop", partial(_looped, entries)),
            Contender("project", partial(_projected, entries, options), aim_s=_AIM_S),
        ),
        n_rounds=9,
    )


def _steps(what: str, entries: tuple[Entry, ...]) -> Contest:
    return Contest(
        f"a step on top of {_N_ENTRIES:,} {what}",
        (
            Contender("bare loop", partial(_looped, entries)),
            Contender("Projector.project", partial(_stepped, entries), aim_s=_STEP_AIM_S),
        ),
        n_rounds=9,
    )


def _looped(entries: tuple[Entry, ...]) -> float:
    n_messages = 0
    with Stopwatch() as watch:
        for _ in range(_N_LOOPS):
            for entry in entries:
                if isinstance(entry, MessageEntry):
                    n_messages += 1
    return watch.seconds / _N_LOOPS


def _projected(entries: tuple[Entry, ...], options: ProjectionOptions) -> float:
    with Stopwatch() as watch:
        project(entries, options)
    return watch.seconds


def _stepped(entries: tuple[Entry, ...]) -> float:
    """Steps of an answer with a call and its result, each projected and told by its fingerprint."""
    projector = Projector()
    projector.project(entries, _SYSTEM)
    steps = [entry for entry in mixed(2 * 4 * _N_STEPS) if _is_of_a_step(entry)][: 2 * _N_STEPS]
    grown = [(*entries, *steps[: 2 * n]) for n in range(1, _N_STEPS + 1)]
    projector.project(grown[0], _SYSTEM)
    projector.fingerprint()
    with Stopwatch() as watch:
        for history in grown[1:]:
            projector.project(history, _SYSTEM)
            projector.fingerprint()
    return watch.seconds / (_N_STEPS - 1)


def _is_of_a_step(entry: Entry) -> bool:
    if not isinstance(entry, MessageEntry):
        return False
    return bool(entry.message.tool_calls) or entry.message.tool_call_id is not None


def _held(entries: tuple[Entry, ...]) -> tuple[Projector, Projection]:
    projector = Projector()
    return projector, projector.project(entries, _SYSTEM)
