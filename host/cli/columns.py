"""Rows under each other on a terminal. Pure."""

from collections.abc import Container, Sequence

from host.cli.cells import cells, fitted, padded

_GAP = "  "
_LEAST_CELLS = 8


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    elastic: int,
    at_right: Container[int] = (),
) -> list[str]:
    """The lines: a head, then the rows.

    The elastic column gives way so that a line has at most `width` cells. A few
    it keeps where even that is too narrow: the others are what one needs whole.
    """
    widths = [max(cells(row[column]) for row in (head, *rows)) for column in range(len(head))]
    others = sum(widths) - widths[elastic] + len(_GAP) * (len(head) - 1)
    widths[elastic] = min(widths[elastic], max(width - others, _LEAST_CELLS))
    return [
        _GAP.join(
            padded(fitted(cell, widths[column]), widths[column], is_right=column in at_right)
            for column, cell in enumerate(row)
        ).rstrip()
        for row in (head, *rows)
    ]
