"""Shows a request, or the difference of two: at a terminal, in a pipe, or as JSON."""

import sys
from collections.abc import Iterable
from shutil import get_terminal_size

from pydantic import JsonValue

from actors.projection import compare
from actors.sent import sent_request
from host.cli.context_diff_view import diff_lines
from host.cli.context_lookup import FoundLog
from host.cli.context_row import rows_of, unsent_of
from host.cli.context_values import diff_values, request_values
from host.cli.context_view import Style, request_lines
from host.cli.output import put, put_json, visible
from providers.tokens import EstimateCounter


def show_request(found: FoundLog, number: int | None, *, is_full: bool, as_json: bool) -> None:
    """The request of this number, None for the last.

    Raises:
        UnknownRequest: there is none of this number.
    """
    counter = EstimateCounter()
    sent = sent_request(found.records, number)
    rows, unsent = rows_of(sent, counter), unsent_of(sent)
    if as_json:
        _put_values(request_values(_values(found), sent, rows, unsent, counter))
    else:
        _put_lines(request_lines(_names(found), sent, rows, unsent, counter, _style(is_full)))


def show_changes(found: FoundLog, before: int, after: int | None, *, is_full: bool, as_json: bool) -> None:
    """What changed from one request to another, None for the last.

    Raises:
        UnknownRequest: there is none of one of the numbers.
    """
    counter = EstimateCounter()
    requests = sent_request(found.records, before), sent_request(found.records, after)
    rows = rows_of(requests[0], counter), rows_of(requests[1], counter)
    changes = compare(*requests)
    if as_json:
        _put_values(diff_values(_values(found), requests, rows, changes, counter))
    else:
        _put_lines(diff_lines(_names(found), requests, rows, changes, counter, _style(is_full)))


def _style(is_full: bool) -> Style:
    return Style(get_terminal_size().columns if sys.stdout.isatty() else None, is_full)


def _names(found: FoundLog) -> str:
    return visible(f"session {found.session.agent_id} · agent {found.agent.name}")


def _values(found: FoundLog) -> dict[str, JsonValue]:
    agent = found.agent
    return {"session": found.session.agent_id, "agent": agent.name, "agent_id": agent.agent_id}


def _put_lines(lines: Iterable[str]) -> None:
    put("".join(f"{line}\n" for line in lines))


def _put_values(values: Iterable[dict[str, JsonValue]]) -> None:
    for value in values:
        put_json(value)
