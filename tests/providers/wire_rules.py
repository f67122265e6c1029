"""What the wires refuse, told of the JSON that goes out; knows neither encoders nor neutral requests.

Only rules that the types of the SDKs do not express: order, pairing, uniqueness, what may not be empty.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]  # as parsed; what the SDKs' types refuse is looked at elsewhere

_CACHEABLE = frozenset({"text", "image", "document", "tool_use", "tool_result"})


def anthropic_complaints(body: Json, *, takes_system: bool) -> list[str]:
    """What Anthropic's Messages interface would refuse in the body."""
    messages: list[Json] = body["messages"]
    complaints = [*_anthropic_roles(messages, takes_system=takes_system), *_anthropic_pairs(messages)]
    for at, message in enumerate(messages):
        complaints += [f"message {at}: {problem}" for problem in _anthropic_blocks(message)]
    complaints += [f"system: {problem}" for block in body.get("system", []) for problem in _text(block)]
    return [*complaints, *_marks(body)]


def _anthropic_roles(messages: list[Json], *, takes_system: bool) -> Iterator[str]:
    roles = [message["role"] for message in messages]
    if not roles or roles[0] != "user":
        yield "the first message is not a user's"
    if roles and roles[-1] == "assistant":
        yield "an assistant message is the last one"
    for at, role in enumerate(roles):
        before, behind = roles[at - 1] if at else None, roles[at + 1] if at + 1 < len(roles) else None
        if role == "user" and before == "user":
            yield f"message {at}: two user messages, which a server would merge"
        if role == "system":
            if not takes_system:
                yield f"message {at}: a system message for a model that takes none here"
            if before != "user" or behind not in (None, "assistant"):
                yield f"message {at}: a system message between {before} and {behind}"


def _anthropic_pairs(messages: list[Json]) -> Iterator[str]:
    open_ids: list[str] = []
    seen: set[str] = set()
    for at, message in enumerate(messages):
        blocks: list[Json] = message["content"]
        results = [block for block in blocks if block["type"] == "tool_result"]
        answered = [block["tool_use_id"] for block in results]
        if sorted(answered) != sorted(open_ids) or (answered and message["role"] != "user"):
            yield f"message {at}: results of {answered} behind calls {open_ids}"
        if blocks[: len(results)] != results:
            yield f"message {at}: results do not come first"
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if open_ids and message["role"] != "assistant":
            yield f"message {at}: a {message['role']} message calls"
        for call_id in open_ids:
            if call_id in seen or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call_id):
                yield f"message {at}: the call id {call_id!r}"
            seen.add(call_id)
    if open_ids:
        yield f"no results of {open_ids}"


def _anthropic_blocks(message: Json) -> Iterator[str]:
    blocks: list[Json] = message["content"]
    if not blocks:
        yield "no content"
    for block in blocks:
        yield from _text(block)
        if block["type"] == "tool_use" and not re.fullmatch(r"[a-zA-Z0-9_-]{1,200}", block["name"]):
            yield f"the name {block['name']!r}"
        if block["type"] == "tool_result":
            yield from _result(block)
    if message["role"] == "assistant" and blocks and "thinking" in blocks[-1]["type"]:
        yield "thinking at the end"


def _result(block: Json) -> Iterator[str]:
    content = block.get("content")
    if isinstance(content, str):
        yield from _text({"type": "text", "text": content})
        return
    for part in content or []:
        yield from _text(part)
        if block.get("is_error") and part["type"] != "text":
            yield f"a failed result holds a {part['type']}"


def _text(block: Json) -> Iterator[str]:
    if block["type"] == "text" and not block["text"].strip():
        yield f"an empty text {block['text']!r}"


def _marks(body: Json) -> Iterator[str]:
    inner = [block for message in body["messages"] for block in message["content"]]
    blocks = [*body.get("tools", []), *body.get("system", []), *inner]
    marked = [block for block in blocks if "cache_control" in block]
    if json.dumps(body).count('"cache_control":') != len(marked):
        yield "a mark inside of a block"
    if len(marked) > 4:
        yield f"{len(marked)} cache marks"
    if any(block.get("type", "text") not in _CACHEABLE for block in marked):
        yield "a mark on thinking"
    lifetimes = [block["cache_control"].get("ttl", "5m") for block in marked]
    if lifetimes != sorted(lifetimes):  # "1h" sorts before "5m"
        yield f"lifetimes in the order {lifetimes}"


def chat_complaints(body: Json, *, takes_system: bool) -> list[str]:
    """What OpenAI's Chat Completions would refuse in the body."""
    messages: list[Json] = body["messages"]
    complaints = [*_chat_pairs(messages)]
    for at, message in enumerate(messages):
        complaints += [f"message {at}: {problem}" for problem in _chat_content(message)]
        if at and message["role"] in ("system", "developer") and not takes_system:
            complaints.append(f"message {at}: a system message for a model that takes none here")
    return complaints


def _chat_pairs(messages: list[Json]) -> Iterator[str]:
    waiting: set[str] = set()
    seen: set[str] = set()
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"message {at}: a result of {message['tool_call_id']!r} behind calls {waiting}"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            yield f"message {at}: a {message['role']} message before the results of {waiting}"
        ids = [call["id"] for call in message.get("tool_calls", [])]
        if any(call_id in seen or not 0 < len(call_id) <= 40 for call_id in ids) or len(set(ids)) < len(ids):
            yield f"message {at}: the call ids {ids}"
        waiting = set(ids)
        seen |= waiting
    if waiting:
        yield f"no results of {waiting}"


def _chat_content(message: Json) -> Iterator[str]:
    content = message.get("content")
    calls: list[Json] = message.get("tool_calls", [])
    if content is None and not calls:
        yield "neither content nor calls"
    if content == "" and message["role"] != "tool":
        yield f"an empty {message['role']} message"
    if isinstance(content, list) and (message["role"] != "user" or not content):
        yield f"parts in a {message['role']} message"
    if isinstance(content, list) and any(part.get("text") == "" for part in content):
        yield "an empty text"
    for call in calls:
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]):
            yield f"the name {call['function']['name']!r}"
        if not isinstance(json.loads(call["function"]["arguments"]), dict):
            yield f"arguments {call['function']['arguments']!r}"
    if message["role"] == "assistant" and "tool_calls" in message and not calls:
        yield "an empty list of calls"
