"""Full projections, which every request makes, against a loop over the same entries that does nothing."""

from collections.abc import Iterator
from functools import partial

from actors.history import Entry, MessageEntry
from actors.projection import ProjectionOptions, project
from benchmarks.harness import Contender, Contest, Growth, Measurement, Stopwatch
from benchmarks.histories import mixed, reminded

_N_ENTRIES = 8_000
_N_LOOPS = 20
_AIM_S = 0.075
_PLAIN = ProjectionOptions(apply_cache_control=True)
_SYSTEM = ProjectionOptions(apply_cache_control=True, mid_conversation_system=True)


def measurements() -> Iterator[Measurement]:
    many = mixed(_N_ENTRIES)
    yield _contest("mixed entries", many, _PLAIN)
    yield _contest("mixed entries, system role in the middle", many, _SYSTEM)
    yield _contest("one user message with reminders", reminded(_N_ENTRIES), _SYSTEM)
    histories = {size: mixed(size) for size in (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)}
    yield Growth(
        "a projection by the number of mixed entries",
        tuple(histories),
        lambda size: _projected(histories[size], _SYSTEM),
        n_rounds=5,
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
