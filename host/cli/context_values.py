"""A request, and the difference of two, as JSON values: first the whole, then message by message. Pure."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from actors.history import MessageEntry
from actors.projection import Change, Changes
from actors.projection.words import words_of
from actors.sent import SentRequest
from host.cli.context_row import Row, Unsent, entry_text, kinds_of, text_of_message
from providers.tokens import EstimateCounter


def request_values(
    names: dict[str, JsonValue],
    sent: SentRequest,
    rows: Sequence[Row],
    unsent: Sequence[Unsent],
    counter: EstimateCounter,
) -> Iterator[dict[str, JsonValue]]:
    """The request, its messages, then what was not sent."""
    n_tools = counter.count_tools(sent.tools)
    yield {
        "type": "request",
        **names,
        **_request(sent),
        "messages": len(rows),
        "tokens_estimated": n_tools + sum(row.n_tokens for row in rows),
        "marks": [row.number for row in rows if row.mark is not None],
        "tools": [tool.name for tool in sent.tools],
        "tools_tokens": n_tools,
    }
    for row in rows:
        yield {"type": "message", **_message(row)}
    for one in unsent:
        entry = one.entry
        yield {
            "type": "not_sent",
            "entry": entry.id,
            "role": entry.message.role.value if isinstance(entry, MessageEntry) else None,
            "kinds": list(kinds_of(entry)),
            "why": one.why,
            "text": entry_text(entry),
        }


def _request(sent: SentRequest) -> dict[str, JsonValue]:
    made = sent.made
    return {
        "number": sent.number,
        "requests": sent.n_requests,
        "at": made.at,
        "turn": made.turn_id,
        "model": made.model,
        "as_sent": sent.is_same_as_sent,
        "tokens_expected": made.n_tokens,
        "mid_conversation_system": made.mid_conversation_system,
        "peers_may_use_system_role": made.peers_may_use_system_role,
        "cache_marks": made.cache_marks,
    }


def _message(row: Row) -> dict[str, JsonValue]:
    message = row.message
    return {
        "number": row.number,
        "role": message.role.value,
        "origins": list(row.origins),
        "authority": row.authority,
        "tokens": row.n_tokens,
        "mark": row.mark,
        "entries": [entry.id for entry in row.entries],
        "kinds": list(row.kinds),
        "moved": [{"entry": entry.id, "why": why} for entry, why in row.moved],
        "repaired": [
            {"entry": entry.id, "rule": rule.value, "text": words_of(rule)} for entry, rule in row.repaired
        ],
        "text": text_of_message(message),
        "calls": [{"id": call.id, "name": call.name, "input": call.input} for call in message.tool_calls],
        "call_id": message.tool_call_id,
        "tool": message.tool_name,
        "is_error": message.is_error,
    }


def diff_values(
    names: dict[str, JsonValue],
    requests: tuple[SentRequest, SentRequest],
    rows: tuple[Sequence[Row], Sequence[Row]],
    found: Changes,
    counter: EstimateCounter,
) -> Iterator[dict[str, JsonValue]]:
    """Both requests and what they share, then one for each message that is not as it was."""
    was, now = requests
    first = found.first
    yield {
        "type": "diff",
        **names,
        "before": _request(was),
        "after": _request(now),
        "same_messages": found.n_same,
        "same_messages_tokens": sum(row.n_tokens for row in rows[1][: found.n_same]),
        "tools_tokens": counter.count_tools(now.tools),
        "tools": [{"change": tool.kind.value, "name": tool.name} for tool in found.tools],
        "options": list(found.options),
        "first": None if first is None else _change(first),
    }
    for change in found.changed:
        yield {
            "type": "change",
            **_change(change),
            "before_message": None if change.before is None else _message(rows[0][change.before]),
            "after_message": None if change.after is None else _message(rows[1][change.after]),
        }


def _change(change: Change) -> dict[str, JsonValue]:
    return {
        "kind": change.kind.value,
        "before": None if change.before is None else change.before + 1,
        "after": None if change.after is None else change.after + 1,
        "says_same": change.says_same,
        "reasons": list(change.reasons),
    }
