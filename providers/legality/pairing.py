"""Calls and results: each call has one, each result belongs to one."""

import math

from pydantic import JsonValue

from providers.legality.finding import Finding, Found
from providers.model import Dialect, ModelProfile, Request, Role


def calls_have_results(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Every call has its result before anything else is said.

    Anthropic: each `tool_use` needs its `tool_result` in the very next user
    message, results first ("ids were found without `tool_result` blocks
    immediately after"). Chat Completions: "must be followed by tool messages
    responding to each 'tool_call_id'". Responses: "No tool output found for
    function call".
    """
    waiting: dict[str, int] = {}
    for at, message in enumerate(request.messages):
        if message.role is Role.TOOL:
            waiting.pop(message.tool_call_id or "", None)
            continue
        if not _goes_on(request, at, dialect):
            yield from _unanswered(waiting)
            waiting = {}
        waiting |= {call.id: at for call in message.tool_calls} if message.role is Role.ASSISTANT else {}
    yield from _unanswered(waiting)


def _goes_on(request: Request, at: int, dialect: Dialect) -> bool:
    """Anthropic makes one message of neighbouring ones of the same role [docs]."""
    if dialect is not Dialect.ANTHROPIC or at == 0:
        return False
    return request.messages[at - 1].role is request.messages[at].role is Role.ASSISTANT


def _unanswered(waiting: dict[str, int]) -> Found:
    for call_id, at in waiting.items():
        yield Finding("call_without_result", at, f"no result right behind the call {call_id!r}")


def results_have_calls(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """A result stands in the run behind the assistant that made the call, once.

    Anthropic: "unexpected `tool_use_id` found in `tool_result` blocks" and
    "each tool_use must have a single result". Chat Completions: "messages with
    role 'tool' must be a response to a preceding message with 'tool_calls'".
    Responses: "No tool call found for function call output".
    """
    open_ids: set[str] = set()
    answered: set[str] = set()
    for at, message in enumerate(request.messages):
        if message.role is not Role.TOOL:
            if not _goes_on(request, at, dialect):
                open_ids, answered = set(), set()
            open_ids |= {call.id for call in message.tool_calls} if message.role is Role.ASSISTANT else set()
        elif message.tool_call_id is None:
            yield Finding("result_without_id", at, "a result names no call")
        elif message.tool_call_id in answered:
            yield Finding("result_twice", at, f"a second result of the call {message.tool_call_id!r}")
        elif message.tool_call_id in open_ids:
            answered.add(message.tool_call_id)
        else:
            yield Finding("result_without_call", at, f"no call {message.tool_call_id!r} right before")


def call_ids_are_unique(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "`tool_use` ids must be unique"; OpenAI and compatible servers: "duplicate tool_call_id"."""
    seen: set[str] = set()
    for at, message in enumerate(request.messages):
        for call in message.tool_calls:
            if not call.id:
                yield Finding("call_id_empty", at, f"the call of {call.name!r} has no id")
            elif call.id in seen:
                yield Finding("call_id_twice", at, f"the call id {call.id!r} is used a second time")
            seen.add(call.id)


def arguments(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: `input` "should be a valid dictionary"; OpenAI: `arguments` is the text of a JSON object."""
    for at, message in enumerate(request.messages):
        for call in message.tool_calls:
            if not isinstance(call.input, dict):
                kind = type(call.input).__name__
                yield Finding("arguments", at, f"the arguments of {call.id!r} are {kind}, not an object")
            elif not _is_json(call.input):
                yield Finding("arguments", at, f"the arguments of {call.id!r} have no JSON form")


def _is_json(value: JsonValue) -> bool:
    match value:
        case dict():
            return all(map(_is_json, value.values()))
        case list():
            return all(map(_is_json, value))
        case float():
            return math.isfinite(value)
        case _:
            return True
