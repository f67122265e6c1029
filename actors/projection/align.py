"""Which message of one request is which of a later one."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.history import Entry
from actors.projection.model import Projection, ProjectionOptions
from actors.projection.thinking import Trace
from providers.model import Message, Role


class Made(Protocol):
    """A request with what it was made of: the first `n_prefix` entries were built for it."""

    @property
    def entries(self) -> tuple[Entry, ...]: ...

    @property
    def n_prefix(self) -> int: ...

    @property
    def options(self) -> ProjectionOptions: ...

    @property
    def projection(self) -> Projection: ...


@dataclass(frozen=True, slots=True)
class Keyed:
    """A request whose entries can be found in another one.

    `keys` are the ids of its entries, each with how often it came before: ids
    of one log are unique, those of others need not be. `place_of` tells the
    entry of a key, `message_of` the message that an entry stands in.
    """

    made: Made
    keys: tuple[Hashable, ...]
    place_of: Mapping[Hashable, int]
    message_of: Mapping[int, int]

    @property
    def moved(self) -> frozenset[int]:
        """The messages of entries that stand elsewhere than in the history."""
        return frozenset(self.message_of[index] for index in self.made.projection.moved)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.made.projection.messages

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        return self.made.projection.sources


def keyed(made: Made) -> Keyed:
    n_seen: Counter[str] = Counter()
    keys: list[Hashable] = []
    for entry in made.entries:
        keys.append((entry.id, n_seen[entry.id]))
        n_seen[entry.id] += 1
    message_of = {index: at for at, sources in enumerate(made.projection.sources) for index in sources}
    return Keyed(made, tuple(keys), {key: at for at, key in enumerate(keys)}, message_of)


def say_the_same(one: Message, other: Message) -> bool:
    """Does the same go over the wire? Cache marks are no part of what a message says."""
    return one is other or _fingerprint(one) == _fingerprint(other)


def _fingerprint(message: Message) -> str:
    trace = Trace()
    trace.take((message,))
    return trace.fingerprint()


def n_leading_same(before: Sequence[Message], after: Sequence[Message]) -> int:
    """How many messages from the first one on say the same in both."""
    n_shared = min(len(before), len(after))
    return next((at for at in range(n_shared) if not say_the_same(before[at], after[at])), n_shared)


def align(before: Keyed, after: Keyed, n_same: int) -> dict[int, int]:
    """For messages of `after` the one of `before` that it is, each at most once.

    The `n_same` leading ones are themselves. Of the others, two messages are
    one when they hold the same entry; a result that was made up is the one
    that came for its call.
    """
    pairs = {at: at for at in range(n_same)}
    taken = set(range(n_same))

    def pair(at: int, candidates: Iterable[int]) -> None:
        found = next((other for other in candidates if other not in taken), None)
        if found is not None:
            pairs[at] = found
            taken.add(found)

    for at in range(n_same, len(after.messages)):
        places = (before.place_of.get(after.keys[index]) for index in after.sources[at])
        pair(at, [before.message_of[p] for p in places if p is not None and p in before.message_of])
    results = {m.tool_call_id: at for at, m in enumerate(before.messages) if m.role is Role.TOOL}
    for at in range(n_same, len(after.messages)):
        message = after.messages[at]
        if at in pairs or message.role is not Role.TOOL or message.tool_call_id not in results:
            continue
        other = results[message.tool_call_id]
        if not after.sources[at] or not before.sources[other]:
            pair(at, (other,))
    return pairs


def in_place(pairs: Mapping[int, int], movers: Container[int]) -> set[int]:
    """Of the paired messages of the later request, as many as can be that kept their order.

    Where it could be this one or that one which moved, it is one of `movers`.
    """
    anchors = _longest_rising([at for at in sorted(pairs) if at not in movers], pairs)
    kept = set(anchors)
    low = -1
    waiting: list[int] = []
    for at in sorted(pairs):
        if at in kept:
            kept |= _longest_rising([w for w in waiting if low < pairs[w] < pairs[at]], pairs)
            low = pairs[at]
            waiting = []
        elif at in movers:
            waiting.append(at)
    return kept | _longest_rising([w for w in waiting if low < pairs[w]], pairs)


def _longest_rising(places: Sequence[int], value_of: Mapping[int, int]) -> set[int]:
    """As many of the places as can be whose values rise."""
    # `ends[n]` is the least value with which a run of n + 1 can end, `ends_at` where that is.
    ends: list[int] = []
    ends_at: list[int] = []
    behind: dict[int, int | None] = {}
    for at in places:
        length = bisect_left(ends, value_of[at])
        behind[at] = ends_at[length - 1] if length else None
        ends[length : length + 1] = [value_of[at]]
        ends_at[length : length + 1] = [at]
    kept: set[int] = set()
    place = ends_at[-1] if ends_at else None
    while place is not None:
        kept.add(place)
        place = behind[place]
    return kept
