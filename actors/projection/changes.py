"""What changed between two requests: message by message, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

from actors.projection.align import Keyed, Made, align, in_place, keyed, n_leading_same, say_the_same
from actors.projection.model import ProjectionOptions
from actors.projection.reasons import Reasons
from actors.projection.thinking import same_tools
from providers.model import ToolSpec


class ChangeKind(StrEnum):
    """What became of a message; `MARK` says the same and has another cache mark."""

    SAME = "same"
    MARK = "mark"
    CHANGED = "changed"
    MOVED = "moved"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One message of either request.

    `before` and `after` number it in the earlier and the later one, from 0;
    None where it is in one only. `says_same` tells whether what it says is the
    same in both. `reasons` are words for a person, the first one the nearest.
    """

    kind: ChangeKind
    before: int | None
    after: int | None
    says_same: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that only one request has, or that is described otherwise (`CHANGED`)."""

    kind: ChangeKind
    name: str


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference of two requests.

    `n_same` leading messages say the same in both, cache marks aside: what a
    provider's cache can keep, unless tools or model changed, which stand
    before them all. `messages` holds every message of both requests once, in
    the order of the later one, with what is gone where it stood. `options`
    are choices that differ, in words.
    """

    n_same: int
    messages: tuple[Change, ...]
    tools: tuple[ToolChange, ...]
    options: tuple[str, ...]

    @property
    def changed(self) -> tuple[Change, ...]:
        """All but those that are as they were."""
        return tuple(change for change in self.messages if change.kind is not ChangeKind.SAME)

    @property
    def first(self) -> Change | None:
        """The message with which the requests begin to differ; None where only marks did."""
        differing = (c for c in self.messages if c.kind not in (ChangeKind.SAME, ChangeKind.MARK))
        return min(differing, key=_place, default=None)


def _place(change: Change) -> int:
    return min(place for place in (change.before, change.after) if place is not None)


def compare(before: Made, after: Made) -> Changes:
    """What became of the messages of an earlier request in a later one.

    Messages are known by the ids of the entries in them. Takes about linear
    time in the number of messages.
    """
    was, now = keyed(before), keyed(after)
    n_same = n_leading_same(was.messages, now.messages)
    return Changes(
        n_same,
        tuple(_changes(was, now, n_same)),
        tuple(_tool_changes(before.options.tools, after.options.tools)),
        tuple(_option_changes(before.options, after.options)),
    )


def _changes(was: Keyed, now: Keyed, n_same: int) -> Iterator[Change]:
    pairs = align(was, now, n_same)
    was_moved = was.moved
    steady = in_place(pairs, now.moved | {at for at, other in pairs.items() if other in was_moved})
    paired = set(pairs.values())
    reasons = Reasons(was, now)
    n_told = 0

    def gone(until: int) -> Iterator[Change]:
        for at in range(n_told, until):
            if at not in paired:
                yield Change(ChangeKind.REMOVED, at, None, False, reasons.removed(at))

    for at in range(len(now.messages)):
        other = pairs.get(at)
        if other is None:
            yield Change(ChangeKind.ADDED, None, at, False, reasons.added(at))
            continue
        if at in steady:
            yield from gone(other)
            n_told = other + 1
        yield _paired(was, now, other, at, reasons, is_steady=at in steady)
    yield from gone(len(was.messages))


def _paired(was: Keyed, now: Keyed, before: int, after: int, reasons: Reasons, *, is_steady: bool) -> Change:
    one, other = was.messages[before], now.messages[after]
    says_same = say_the_same(one, other)
    why = () if says_same else reasons.changed(before, after)
    if not is_steady:
        return Change(ChangeKind.MOVED, before, after, says_same, (*reasons.moved(before, after), *why))
    if not says_same:
        return Change(ChangeKind.CHANGED, before, after, says_same, why)
    if one.cache != other.cache:
        return Change(ChangeKind.MARK, before, after, says_same, reasons.mark(one.cache, other.cache))
    return Change(ChangeKind.SAME, before, after, says_same)


def _tool_changes(before: tuple[ToolSpec, ...], after: tuple[ToolSpec, ...]) -> Iterator[ToolChange]:
    was = {tool.name: tool for tool in before}
    now = {tool.name: tool for tool in after}
    for tool in before:
        if tool.name not in now:
            yield ToolChange(ChangeKind.REMOVED, tool.name)
    for tool in after:
        if tool.name not in was:
            yield ToolChange(ChangeKind.ADDED, tool.name)
        elif not same_tools((tool,), (was[tool.name],)):
            yield ToolChange(ChangeKind.CHANGED, tool.name)
    kept = [tool.name for tool in before if tool.name in now]
    order = [tool.name for tool in after if tool.name in was]
    for name, other in zip(order, kept, strict=False):
        if name != other:
            yield ToolChange(ChangeKind.MOVED, name)


_CHOICES = (
    ("mid_conversation_system", "system messages mid-conversation"),
    ("peers_may_use_system_role", "the system role for peers"),
    ("apply_cache_control", "cache marks"),
)


def _option_changes(before: ProjectionOptions, after: ProjectionOptions) -> Iterator[str]:
    if before.model != after.model:
        yield f"the model is {after.model or 'not named'}, was {before.model or 'not named'}"
    for field, words in _CHOICES:
        was, now = attrgetter(field)(before), attrgetter(field)(after)
        if was != now:
            yield f"{words}: {'on' if now else 'off'}, {'was on' if was else 'was off'}"
