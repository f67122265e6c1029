"""Records as lines for a person: where in the log, when, what, and the points of it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from actors.records import Record
from host.cli.cells import cells, padded
from host.cli.output import one_line
from host.store.ports import AgentRow

_KIND_CELLS = 16
_TIME_CELLS = 8
_MAX_NAME_CELLS = 20
_LEAST_POINT = 24
_GAP = "  "
_WIDE = 1_000_000_000
_NO_DAY = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A record and what there is to say of it; `record` None: it cannot be read.

    `at` is in seconds since the epoch, None where the record does not say;
    `order` is the time that puts it between those of other agents.
    """

    agent: AgentRow
    seq: int
    record: Record | None
    at: float | None
    order: float
    kind: str
    points: tuple[str, ...]


@dataclass(slots=True)
class Layout:
    """How lines are written: `width` None cuts nothing and parts cells by tabs, for a file or a pipe.

    `name_cells` is the width of the agents' names, 0 where only one is shown.
    The day stands on a line of its own where it changes.
    """

    width: int | None
    name_cells: int = 0
    _day: str = _NO_DAY

    def lines(self, told: Told) -> Iterator[str]:
        day, time = _day_and_time(told.at)
        if self.width is None:
            names = (told.agent.name,) if self.name_cells else ()
            lead = (str(told.seq), f"{day} {time}".strip(), *names, told.kind)
            yield from ("\t".join((*lead, one_line(point, _WIDE))) for point in told.points)
            return
        if day and day != self._day:
            self._day = day
            yield day[: self.width]
        yield from self._cut(told, time, self.width)

    def _cut(self, told: Told, time: str, width: int) -> Iterator[str]:
        names = (
            (padded(one_line(told.agent.name, self.name_cells), self.name_cells),) if self.name_cells else ()
        )
        lead = _GAP.join((f"{told.seq:>5}", padded(time, _TIME_CELLS), *names))
        lead = f"{lead}{_GAP}{padded(told.kind, _KIND_CELLS)}{_GAP}"
        indent = " " * cells(lead)
        if width - len(indent) < _LEAST_POINT:  # too narrow for columns
            yield one_line(lead, width)
            lead = indent = _GAP if width > _LEAST_POINT else ""
        for point in told.points:
            yield lead + one_line(point, width - len(indent))
            lead = indent


def name_cells(names: tuple[str, ...]) -> int:
    """The width of the column of these names."""
    return min(max(map(cells, names), default=0), _MAX_NAME_CELLS)


def _day_and_time(at: float | None) -> tuple[str, str]:
    if at is None:
        return "", ""
    try:
        when = datetime.fromtimestamp(at, UTC).astimezone()
    except (ValueError, OverflowError, OSError):  # no date that a calendar has
        return "", f"{at:.0f}"
    return when.strftime("%Y-%m-%d"), when.strftime("%H:%M:%S")
