"""The difference of two requests, as lines for a person. Pure."""

from collections.abc import Iterator, Sequence

from actors.projection import Change, ChangeKind, Changes
from actors.sent import SentRequest
from host.cli.context_row import Row
from host.cli.context_view import (
    NOT_AS_SENT,
    Column,
    Style,
    count,
    first_words,
    full_text,
    table,
    when,
    wrapped,
)
from host.cli.output import visible
from providers.tokens import EstimateCounter

_COLUMNS = (
    Column("was", 1, is_right=True),
    Column("now", 0, is_right=True),
    Column("", 2),
    Column("role", 3),
    Column("tokens", 4, is_right=True),
)
_INDENT = " " * 11
_WORDS = {
    ChangeKind.SAME: "same",
    ChangeKind.MARK: "mark",
    ChangeKind.CHANGED: "changed",
    ChangeKind.MOVED: "moved",
    ChangeKind.ADDED: "new",
    ChangeKind.REMOVED: "gone",
}
_OF_COURSE = ("new in the history",)


def diff_lines(
    names: str,
    requests: tuple[SentRequest, SentRequest],
    rows: tuple[Sequence[Row], Sequence[Row]],
    found: Changes,
    counter: EstimateCounter,
    style: Style,
) -> Iterator[str]:
    """All that is shown of a difference: the requests, what stayed, then a line for each change."""
    for line in _around(names, requests, rows, found, counter):
        yield from wrapped(line, "", style) or [""]
    if found.changed:
        yield ""
        yield from _changed(rows, found.changed, style)


def _around(
    names: str,
    requests: tuple[SentRequest, SentRequest],
    rows: tuple[Sequence[Row], Sequence[Row]],
    found: Changes,
    counter: EstimateCounter,
) -> Iterator[str]:
    was, now = requests
    yield f"{names} · requests {was.number} → {now.number} of {now.n_requests}"
    for sent, its_rows in zip(requests, rows, strict=True):
        made = sent.made
        n_messages = count(len(its_rows), "message")
        yield f"request {sent.number}: {when(made.at)} · {visible(made.model)} · {n_messages}"
        if not sent.is_same_as_sent:
            yield from NOT_AS_SENT
    yield ""
    yield from _same(was, now, rows[1], found, counter)


def _same(
    was: SentRequest, now: SentRequest, rows: Sequence[Row], found: Changes, counter: EstimateCounter
) -> Iterator[str]:
    yield from (f"tool {_WORDS[tool.kind]}: {visible(tool.name)}" for tool in found.tools)
    yield from (visible(option) for option in found.options)
    n_tokens = sum(row.n_tokens for row in rows[: found.n_same])
    shared = f"the first {count(found.n_same, 'message')}"
    if now.tools and not found.tools:
        n_tokens += counter.count_tools(now.tools)
        shared = f"{count(len(now.tools), 'tool')}, {shared}"
    yield f"the same: {shared}; {n_tokens:,} tokens by estimate"
    if found.tools or was.options.model != now.options.model:
        yield "which no cache can give back: what stands before them, tools or model, is another"
    if found.first is not None:
        yield f"first difference: {_first(found.first)}"


def _first(change: Change) -> str:
    number = change.after if change.after is not None else change.before
    assert number is not None, "a change is about a message of one of them"
    whose = "message" if change.after is not None else "what was message"
    return f"{whose} {number + 1} ({_WORDS[change.kind]}), {'; '.join(change.reasons)}"


def _changed(
    rows: tuple[Sequence[Row], Sequence[Row]], changed: Sequence[Change], style: Style
) -> Iterator[str]:
    shown = [rows[0][c.before or 0] if c.after is None else rows[1][c.after] for c in changed]
    cells = [
        (
            _number(change.before),
            _number(change.after),
            _WORDS[change.kind],
            row.message.role.value,
            f"{row.n_tokens:,}",
            first_words(row),
        )
        for change, row in zip(changed, shown, strict=True)
    ]
    lines = table(_COLUMNS, "text", cells, style)
    yield next(lines)
    for change, row in zip(changed, shown, strict=True):
        yield next(lines)
        if change.reasons != _OF_COURSE:
            yield from wrapped("; ".join(change.reasons), _INDENT, style)
        if style.is_full and change.kind is not ChangeKind.MARK:
            yield from _texts(rows, change, row)


def _texts(rows: tuple[Sequence[Row], Sequence[Row]], change: Change, row: Row) -> Iterator[str]:
    if change.before is not None and change.after is not None and not change.says_same:
        yield f"{_INDENT}was:"
        yield from full_text(rows[0][change.before].message)
        yield f"{_INDENT}now:"
    yield from full_text(row.message)
    yield ""


def _number(place: int | None) -> str:
    return "–" if place is None else str(place + 1)
