"""Measuring side by side: A B C A B C …, medians, and ratios taken round by round.

What disturbs the machine for a while disturbs neighbours alike, so the ratio
of two neighbours says more than the ratio of two medians.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from statistics import median
from types import TracebackType
from typing import Final, Self, TypeAlias

Clock = Callable[[], float]
CPU: Final[Clock] = time.process_time
WALL: Final[Clock] = time.perf_counter


class Stopwatch:
    """`with Stopwatch() as watch: …`; then `watch.seconds`, of CPU time unless another clock is given."""

    def __init__(self, clock: Clock = CPU) -> None:
        self._clock = clock
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._began = self._clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = self._clock() - self._began


@dataclass(frozen=True, slots=True)
class Contender:
    """Something measured: `run` gives the seconds that one operation took.

    The aims are what we want of ourselves: at most so many seconds, at least
    such a part of the floor's speed. Missing one is printed, not an error.
    """

    name: str
    run: Callable[[], float]
    aim_s: float | None = None
    aim_of_floor: float | None = None


class Shown(StrEnum):
    TIME = "time"
    RATE = "rate"


@dataclass(frozen=True, slots=True)
class Contest:
    """Contenders that do the same; the first is the floor to which the others are set in relation."""

    title: str
    contenders: tuple[Contender, ...]
    shown: Shown = Shown.TIME
    n_rounds: int = 5

    def lines(self) -> list[str]:
        runs = [contender.run for contender in self.contenders]
        interleaved(runs, 1)  # to warm up
        rounds = interleaved(runs, self.n_rounds)
        lines = [self.title]
        for at, contender in enumerate(self.contenders):
            seconds = median(costs[at] for costs in rounds)
            row = f"  {contender.name:<44} {self._amount(seconds):>14}"
            if at:
                row += "  " + self._relation(contender, seconds, [costs[at] / costs[0] for costs in rounds])
            lines.append(row)
        return lines

    def _amount(self, seconds: float) -> str:
        return time_text(seconds) if self.shown is Shown.TIME else f"{1 / seconds:,.0f}/s"

    def _relation(self, contender: Contender, seconds: float, ratios: Sequence[float]) -> str:
        middle, low, high = median(ratios), min(ratios), max(ratios)
        if self.shown is Shown.TIME:
            text = f"{middle:8.3g} times the floor ({low:.3g} to {high:.3g})"
        else:
            text = f"{1 / middle:8.3f} of the floor's speed ({1 / high:.3f} to {1 / low:.3f})"
        if contender.aim_s is not None:
            text += f"; aim {time_text(contender.aim_s)}: {_verdict(seconds <= contender.aim_s)}"
        if contender.aim_of_floor is not None:
            is_met = 1 / middle >= contender.aim_of_floor
            text += f"; aim {contender.aim_of_floor:g}: {_verdict(is_met)}"
        return text


@dataclass(frozen=True, slots=True)
class Growth:
    """The same work at growing sizes, each twice the one before; 2.0 a doubling is linear."""

    title: str
    sizes: tuple[int, ...]
    run: Callable[[int], float]
    n_rounds: int = 3

    def lines(self) -> list[str]:
        self.run(self.sizes[0])
        rounds = interleaved([partial(self.run, size) for size in self.sizes], self.n_rounds)
        lines = [self.title]
        for at, size in enumerate(self.sizes):
            row = f"  {size:>10,} {time_text(median(costs[at] for costs in rounds)):>12}"
            if at:
                ratios = [costs[at] / costs[at - 1] for costs in rounds]
                row += f"  {median(ratios):5.2f} times the size before"
            lines.append(row)
        lines.append(f"  {self._each_doubling(rounds):.2f} times at each doubling, over all of them")
        return lines

    def _each_doubling(self, rounds: Sequence[Sequence[float]]) -> float:
        n_doublings = len(self.sizes) - 1
        whole: float = median(costs[-1] / costs[0] for costs in rounds)
        return float(whole ** (1 / n_doublings))


@dataclass(frozen=True, slots=True)
class Memory:
    """What is left allocated by each maker while its result lives; the first is the floor."""

    title: str
    makers: tuple[tuple[str, Callable[[], object]], ...]

    def lines(self) -> list[str]:
        n_bytes = [_allocated(make) for _, make in self.makers]
        lines = [self.title]
        for (name, _), n in zip(self.makers, n_bytes, strict=True):
            lines.append(f"  {name:<50} {n / 1e6:8.2f} MB  {n / n_bytes[0]:5.2f} times the floor")
        return lines


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of bytes that were counted, not timed; the first is the floor."""

    title: str
    sizes: tuple[tuple[str, float], ...]

    def lines(self) -> list[str]:
        floor = self.sizes[0][1]
        return [self.title] + [
            f"  {name:<44} {n_bytes:>8,.0f} bytes  {n_bytes / floor:5.2f} times the floor"
            for name, n_bytes in self.sizes
        ]


def _allocated(make: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    made = make()
    gc.collect()
    n_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del made
    return n_bytes


Measurement: TypeAlias = Contest | Growth | Memory | Sizes


def interleaved(runs: Sequence[Callable[[], float]], n_rounds: int) -> list[list[float]]:
    """The seconds of every run in every round."""
    rounds = []
    for _ in range(n_rounds):
        costs = []
        for run in runs:
            gc.collect()
            costs.append(run())
        rounds.append(costs)
    return rounds


def time_text(seconds: float) -> str:
    """A time in the unit that suits it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "MISSED"
