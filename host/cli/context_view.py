"""A request as lines for a person: what stands around it, then one line a message. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from textwrap import wrap

from actors.history import Entry, MessageEntry
from actors.sent import SentRequest
from host.cli.context_row import Row, Unsent, entry_text, kinds_of, short, text_of_message
from host.cli.output import one_line, visible
from providers.model import Message, Role, ToolCall
from providers.tokens import EstimateCounter

NOT_AS_SENT = (
    "NOT as it was sent: this version makes another request of the same history,",
    "and that is what stands here.",
)
_GAP = "  "
_INDENT = " " * 6
_LEAST_TEXT = 12
_CELL = 14
_WIDE = 1_000_000_000
_HEADS = ("#", "role", "origin", "authority", "tokens", "mark", "text")
_RIGHT = frozenset({"#", "tokens"})


@dataclass(frozen=True, slots=True)
class Style:
    """How lines are written: `width` None cuts nothing and parts cells by tabs, for a file or a pipe."""

    width: int | None
    is_full: bool = False


def request_lines(
    names: str,
    sent: SentRequest,
    rows: Sequence[Row],
    unsent: Sequence[Unsent],
    counter: EstimateCounter,
    style: Style,
) -> Iterator[str]:
    """All that is shown of one request."""
    n_tools = counter.count_tools(sent.tools)
    for line in _heading(names, sent, rows, n_tools):
        yield from wrapped(line, "", style)
    yield ""
    cells = [_tools_cells(sent, n_tools), *map(_cells, rows)]
    lines = table(_HEADS, _RIGHT, cells, style)
    yield from (next(lines), next(lines))
    for row in rows:
        yield next(lines)
        yield from _below(row, style)
    if unsent:
        yield from ("", "in the history, and not sent:")
        yield from (cut(f"{_INDENT}{_unsent(one)}", style) for one in unsent)


def _heading(names: str, sent: SentRequest, rows: Sequence[Row], n_tools: int) -> Iterator[str]:
    made = sent.made
    n_tokens = n_tools + sum(row.n_tokens for row in rows)
    n_marks = sum(row.mark is not None for row in rows)
    yield f"{names} · request {sent.number} of {sent.n_requests}"
    yield f"{when(made.at)} · {made.model} · {made.n_tokens:,} tokens expected"
    yield f"{count(len(rows), 'message')} · {count(n_marks, 'cache mark')} · {n_tokens:,} tokens by estimate"
    if sent.options.mid_conversation_system:
        yield "the model takes system messages mid-conversation"
    yield from ("as it was sent",) if sent.is_same_as_sent else NOT_AS_SENT


def when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _tools_cells(sent: SentRequest, n_tokens: int) -> tuple[str, ...]:
    names = ", ".join(tool.name for tool in sent.tools)
    text = f"{len(sent.tools)}: {names}" if names else "none"
    return ("", "tools", "", "", f"{n_tokens:,}", "", text)


def _cells(row: Row) -> tuple[str, ...]:
    mark = {None: "", "default": "*"}.get(row.mark, row.mark or "")
    origin = "+".join(row.origins)
    return (
        str(row.number),
        row.message.role.value,
        origin,
        row.authority,
        f"{row.n_tokens:,}",
        mark,
        first_words(row),
    )


def first_words(row: Row) -> str:
    """What a line says of a message: what is special about it, then its text."""
    message = row.message
    lead = "".join(f"[{kind}] " for kind in row.kinds)
    if message.role is Role.TOOL:
        state = " failed" if message.is_error else ""
        lead += f"{message.tool_name or 'tool'} {short(message.tool_call_id or '')}{state}: "
    text = row.first_words
    if not text and message.tool_calls:
        text = f"({count(len(message.tool_calls), 'call')})"
    return lead + text


def _below(row: Row, style: Style) -> Iterator[str]:
    """The lines under that of a message: its calls, what was done to it; in full its ids and text."""
    if style.is_full:
        yield from _in_full(row)
        return
    for call in row.message.tool_calls:
        yield cut(f"{_INDENT}→ {_call(call)}", style)
    for note in row.notes:
        yield from wrapped(note, _INDENT, style)


def _in_full(row: Row) -> Iterator[str]:
    ids = ", ".join(entry.id for entry in row.entries)
    if ids:
        yield f"{_INDENT}{'entry' if len(row.entries) == 1 else 'entries'} {visible(ids)}"
    yield from (f"{_INDENT}{visible(note)}" for note in row.notes)
    yield from full_text(row.message)
    yield ""


def full_text(message: Message) -> Iterator[str]:
    """Everything that a message says, line by line, then its calls."""
    for line in visible(text_of_message(message)).splitlines():
        yield f"{_INDENT}| {line}"
    for call in message.tool_calls:
        yield f"{_INDENT}→ {one_line(f'{call.name} {call.id} {_input(call)}', _WIDE)}"


def _call(call: ToolCall) -> str:
    return f"{call.name} {short(call.id)} {_input(call)}"


def _input(call: ToolCall) -> str:
    return json.dumps(call.input, ensure_ascii=False)


def _unsent(unsent: Unsent) -> str:
    entry = unsent.entry
    text = entry_text(entry)
    return f"{_role(entry)} {short(entry.id)}: {unsent.why}" + (f" · {text}" if text else "")


def _role(entry: Entry) -> str:
    kinds = "".join(f" [{kind}]" for kind in kinds_of(entry))
    return (entry.message.role.value if isinstance(entry, MessageEntry) else "reminder") + kinds


def cut(line: str, style: Style) -> str:
    """On one line that fits, with the blanks in front of it."""
    indent = len(line) - len(line.lstrip(" "))
    limit = _WIDE if style.width is None else max(style.width - indent, _LEAST_TEXT)
    return line[:indent] + one_line(line, limit)


def wrapped(text: str, indent: str, style: Style) -> list[str]:
    """Words that must not be cut, on as many lines as they take."""
    width = _WIDE if style.width is None else max(style.width, len(indent) + _LEAST_TEXT)
    return wrap(visible(text), width, initial_indent=indent, subsequent_indent=indent + "  ")


def table(
    heads: Sequence[str], right: frozenset[str], rows: Sequence[Sequence[str]], style: Style
) -> Iterator[str]:
    """A line for the heads and one for each row; the last cell takes what the others leave."""
    last = len(heads) - 1
    limit = _WIDE if style.width is None else _CELL
    clean = [[*(one_line(cell, limit) for cell in row[:last]), one_line(row[last], _WIDE)] for row in rows]
    if style.width is None:
        yield from ("\t".join(row) for row in chain([heads], clean))
        return
    widths = [max(len(row[n]) for row in chain([heads], clean)) for n in range(last)]
    left = max(style.width - sum(widths) - len(_GAP) * last, _LEAST_TEXT)
    for row in chain([heads], clean):
        cells = [
            cell.rjust(width) if head in right else cell.ljust(width)
            for cell, width, head in zip(row, widths, heads, strict=False)
        ]
        yield _GAP.join([*cells, one_line(row[last], left)]).rstrip()
