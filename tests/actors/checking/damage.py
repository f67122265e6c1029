"""Bodies in every format, and what becomes of them when things in them are lost, doubled or replaced."""

import copy
import json
from collections.abc import Iterator

from hypothesis import strategies as st
from pydantic import JsonValue

_WORDS = st.sampled_from(
    [
        *("role", "content", "type", "text", "messages", "input", "entries", "name", "tool_calls", "id"),
        *("user", "assistant", "tool", "system", "king", "tool_use", "tool_result", "thinking", "image"),
        *("function_call", "function_call_output", "reasoning", "message", "kind", "reminder", "source"),
        *("call_id", "tool_use_id", "tool_call_id", "arguments", "cache_control", "body", "\ud800", ""),
    ]
)
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | _WORDS
    | st.sampled_from([10**400, "{", "[" * 300, "\x00\x1b[2J", " "])
)
VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=5),
    max_leaves=25,
)

_ANTHROPIC: JsonValue = {
    "model": "claude-opus-5",
    "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "h", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "t", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "x"}],
                },
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
            ],
        },
        {"role": "system", "content": "late"},
    ],
}
_CHAT: JsonValue = {
    "model": "gpt-5",
    "tools": [{"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}],
    "messages": [
        {"role": "developer", "content": "S"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", "filename": "f"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "h",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "t", "arguments": '{"a": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
        {"role": "assistant", "content": "so", "refusal": None},
    ],
}
_RESPONSES: JsonValue = {
    "model": "gpt-5",
    "instructions": "S",
    "tools": [{"type": "function", "name": "t", "parameters": {"type": "object"}}],
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "h"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
    ],
}
_CASE: JsonValue = {
    "name": "n",
    "input": {
        "entries": [
            {"kind": "message", "role": "user", "content": "u", "cache_control": {"type": "ephemeral"}},
            {"kind": "reminder", "source": "date_change", "content": "x"},
            {
                "kind": "message",
                "role": "assistant",
                "content": [{"type": "reasoning", "text": "h"}, {"type": "text", "text": "a"}],
                "tool_calls": [{"id": "c", "name": "t", "input": {"a": [1]}}],
            },
            {"kind": "message", "role": "tool", "tool_call_id": "c", "content": "r"},
            {"kind": "message", "role": "user", "content": "p", "presentation": "subagent_reply"},
        ],
        "mid_conversation_system": True,
    },
}
BODIES = (_ANTHROPIC, _CHAT, _RESPONSES, _CASE)


def _containers(value: JsonValue) -> Iterator[dict[str, JsonValue] | list[JsonValue]]:
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _containers(inner)


def _mutated(value: JsonValue, numbers: Iterator[int], new: JsonValue) -> JsonValue:
    """One thing in the value is taken away, put twice, or becomes something else."""
    value = copy.deepcopy(value)
    places = [container for container in _containers(value) if container]
    container = places[next(numbers) % len(places)] if places else []
    keys: list[str] | list[int] = (
        list(container) if isinstance(container, dict) else list(range(len(container)))
    )
    if not keys:
        return new
    key = keys[next(numbers) % len(keys)]
    match container, key, next(numbers) % 3:
        case dict(), str(), 0:
            del container[key]
        case dict(), str(), 1:
            container[f"{key}_"] = container[key]
        case dict(), str(), _:
            container[key] = copy.deepcopy(new)
        case list(), int(), 0:
            del container[key]
        case list(), int(), 1:
            container.insert(key, copy.deepcopy(container[key]))
        case list(), int(), _:
            container[key] = copy.deepcopy(new)
    return value


_CHANGES = st.lists(st.tuples(st.tuples(*[st.integers(0, 10_000)] * 3), VALUES), min_size=1, max_size=4)


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    body = draw(st.sampled_from(BODIES))
    for numbers, new in draw(_CHANGES):
        body = _mutated(body, iter(numbers), new)
    return json.dumps(body, indent=draw(st.sampled_from([None, 1])))


DAMAGED = _damaged()
