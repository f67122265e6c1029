"""A request as lines for a person: what stands around it, then one line a message. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from actors.history import Entry, MessageEntry
from actors.sent import SentRequest
from host.cli.cells import cells, padded
from host.cli.cells import wrapped as wrap
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


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; of those that do not fit, the ones with the highest rank are left out."""

    head: str
    rank: int
    is_right: bool = False


_COLUMNS = (
    Column("#", 0, is_right=True),
    Column("role", 1),
    Column("origin", 4),
    Column("authority", 5),
    Column("tokens", 2, is_right=True),
    Column("mark", 3),
)


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
    lines = table(_COLUMNS, "text", [_tools_cells(sent, n_tools), *map(_cells, rows)], style)
    yield from (next(lines), next(lines))
    for row in rows:
        yield next(lines)
        yield from _below(row, style)
    if unsent:
        yield from ("", *wrapped("in the history, and not sent:", "", style))
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
    n_blanks = len(line) - len(line.lstrip(" "))
    if style.width is None:
        return line[:n_blanks] + one_line(line, _WIDE)
    indent = _indent(line[:n_blanks], style.width)
    return indent + one_line(line, style.width - len(indent))


def _indent(blanks: str, width: int) -> str:
    """As much of it as leaves room for words."""
    return blanks[: max(width - _LEAST_TEXT, 0)]


def wrapped(text: str, indent: str, style: Style) -> list[str]:
    """Words that must not be cut, on as many lines as they take."""
    width = _WIDE if style.width is None else style.width
    return wrap(visible(text), width, _indent(indent, width), _indent(indent + "  ", width))


def table(columns: Sequence[Column], last: str, rows: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    """A line for the heads and one for each row; the last cell takes what the others leave.

    Where that would be next to nothing, the columns go, the least important first.
    """
    limit = _WIDE if style.width is None else _CELL
    heads = [*(column.head for column in columns), last]
    clean = [[*(one_line(cell, limit) for cell in row[:-1]), one_line(row[-1], _WIDE)] for row in rows]
    lines = [heads, *clean]
    if style.width is None:
        yield from ("\t".join(line) for line in lines)
        return
    widths = [max(cells(line[n]) for line in lines) for n in range(len(columns))]
    shown = _fitting(columns, widths, style.width)
    left = style.width - sum(widths[n] + len(_GAP) for n in shown)
    for line in lines:
        told = [padded(line[n], widths[n], is_right=columns[n].is_right) for n in shown]
        yield _GAP.join([*told, one_line(line[-1], left)]).rstrip()


def _fitting(columns: Sequence[Column], widths: Sequence[int], width: int) -> list[int]:
    """The numbers of the columns that leave room for a text beside them."""
    shown = list(range(len(columns)))
    for number in sorted(shown, key=lambda n: columns[n].rank, reverse=True):
        if sum(widths[n] + len(_GAP) for n in shown) + _LEAST_TEXT <= width:
            break
        shown.remove(number)
    return shown
