"""Which entries stand elsewhere in the request than in the history."""

from collections.abc import Iterable


def moved_entries(
    order: Iterable[tuple[int, ...]], passed: set[int], first: int, n_entries: int
) -> list[int]:
    """Those of `passed` that did not come back to their place.

    `order` are the sources of the messages as they go out, out of `n_entries`
    entries from number `first` on. The other entries
    kept their order among themselves; an entry is in its place when it stands
    between the same two of them as before, and in order with those beside it.
    """
    if not passed:
        return []
    flat = [index for sources in order for index in sources]
    alive = bytearray(n_entries)
    for index in flat:
        alive[index - first] = 1
    before = _unmoved_before(alive, passed, first)
    moved = []
    n_unmoved = 0
    highest = -1
    for index in flat:
        if index not in passed:
            n_unmoved += 1
        elif before[index] != n_unmoved or index < highest:
            moved.append(index)
        else:
            highest = index
    return sorted(moved)


def _unmoved_before(alive: bytearray, passed: set[int], first: int) -> dict[int, int]:
    """For every passed entry, how many that stayed and went out came before it in the history."""
    before = {}
    n_unmoved = 0
    for index, is_alive in enumerate(alive, first):
        if index in passed:
            before[index] = n_unmoved
        elif is_alive:
            n_unmoved += 1
    return before
