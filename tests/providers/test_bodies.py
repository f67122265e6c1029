"""Whatever history there is: projected and encoded, it is a body that the official types and the wires take.

There is no adapter for Responses yet, so its bodies are not here.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from actors.projection import ProjectionOptions, project
from providers import anthropic, openai_chat
from providers.http import body_bytes
from providers.model import Message, ModelProfile, OutputSchema, Request, Role, ToolChoice, ToolSpec
from tests.actors.projection.histories import READER, Steps, history, steps
from tests.providers.requests import EVERYTHING, PROFILE, SCHEMA, read_whole
from tests.providers.wire_rules import Json, anthropic_complaints, chat_complaints

_ANTHROPIC: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)
_CHAT: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsStreaming)

_TOOL = ToolSpec("tool_x", "Does x.", {"type": "object", "properties": {"k": {"type": "string"}}})
_USER = Message(Role.USER, "And now?")
_PROFILES = st.builds(
    ModelProfile,
    st.just(READER),
    st.just(200_000),
    st.just(8_000),
    mid_conversation_system=st.booleans(),
    tools=st.booleans(),
    images=st.booleans(),
    cache_marks=st.booleans(),
    max_tokens_field=st.sampled_from(["max_tokens", "max_completion_tokens"]),
    system_role=st.sampled_from(["system", "developer"]),
)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the host would add: how it projects, and what the request holds beside the messages."""

    fails_all_calls: bool
    apply_cache_control: bool
    skip_cache_write: bool
    model: str | None
    tools: tuple[ToolSpec, ...]
    tool_choice: ToolChoice
    output: OutputSchema | None


_TURNS = st.builds(
    _Turn,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, READER]),
    st.sampled_from([(), (_TOOL,), (_TOOL, replace(_TOOL, name="y" * 64))]),
    st.sampled_from(ToolChoice),
    st.sampled_from([None, SCHEMA]),
)
# Ids of 71 characters that differ at the end only, and ids with characters that some servers refuse.
_PREFIXES = st.sampled_from(["", "functions.read:", "x" * 70, "|ü\ud83d"])
_QUICK = settings(max_examples=150, deadline=None, derandomize=True)
_LONG = settings(
    max_examples=5_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def _many(max_size: int) -> st.SearchStrategy[Steps]:
    """Six lists of steps as one: a single list of up to 60 has seven on the average, which tries little."""
    parts = st.lists(steps(max_size // 6), min_size=6, max_size=6)
    return parts.map(lambda lists: [step for taken in lists for step in taken])


def _request(taken: Steps, prefix: str, profile: ModelProfile, turn: _Turn) -> Request:
    options = ProjectionOptions(
        mid_conversation_system=profile.mid_conversation_system,
        apply_cache_control=turn.apply_cache_control,
        skip_cache_write=turn.skip_cache_write,
        model=turn.model,
    )
    messages = _complete(project(history(taken, prefix), options).messages)
    if turn.fails_all_calls:
        messages = tuple(replace(m, is_error=True) if m.role is Role.TOOL else m for m in messages)
    return Request(READER, messages, turn.tools, tool_choice=turn.tool_choice, output=turn.output)


def _complete(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """With a user's message first and no assistant's last, which is the caller's business."""
    start = next((at for at, m in enumerate(messages) if m.role is not Role.SYSTEM), len(messages))
    if start == len(messages) or messages[start].role is not Role.USER:
        messages = (*messages[:start], _USER, *messages[start:])
    return (*messages, _USER) if messages[-1].role is Role.ASSISTANT else messages


def _on_the_wire(body: Json, allowed: TypeAdapter[Any]) -> Json:
    """The body as a server parses it, once the official types took all of it and nothing more stood there."""
    sent: Json = json.loads(body_bytes("test", body))
    assert read_whole(allowed.validate_python(sent, strict=True)) == sent
    return sent


def _check(taken: Steps, prefix: str, profile: ModelProfile, turn: _Turn) -> None:
    request = _request(taken, prefix, profile, turn)
    takes_system = profile.mid_conversation_system
    bodies = [
        (anthropic.encode(request, profile), _ANTHROPIC, anthropic_complaints),
        (openai_chat.encode(request, profile), _CHAT, chat_complaints),
    ]
    for body, allowed, complaints in bodies:
        sent = _on_the_wire(body, allowed)
        assert complaints(sent, takes_system=takes_system) == []
        text = json.dumps(sent)
        assert profile.images or not any(kind in text for kind in ('"image"', '"image_url"', ";base64"))
        assert profile.cache_marks or "cache_control" not in text
        assert ("tools" in sent) == bool(profile.tools and turn.tools)


@_QUICK
@given(_many(60), _PREFIXES, _PROFILES, _TURNS)
def test_any_history_becomes_bodies_that_are_taken(
    taken: Steps, prefix: str, profile: ModelProfile, turn: _Turn
) -> None:
    _check(taken, prefix, profile, turn)


@pytest.mark.slow
@_LONG
@given(_many(240), _PREFIXES, _PROFILES, _TURNS)
def test_long_histories_become_bodies_that_are_taken(
    taken: Steps, prefix: str, profile: ModelProfile, turn: _Turn
) -> None:
    _check(taken, prefix, profile, turn)


def _anthropic_body() -> Json:
    return dict(anthropic.encode(EVERYTHING, PROFILE))


def _chat_body() -> Json:
    return dict(openai_chat.encode(EVERYTHING, PROFILE))


def test_an_unknown_key_is_no_valid_body() -> None:
    body = _anthropic_body()
    body["messages"][0]["content"][0]["mood"] = "good"
    with pytest.raises(AssertionError):
        _on_the_wire(body, _ANTHROPIC)
    with pytest.raises(AssertionError):
        _on_the_wire(_chat_body() | {"mood": "good"}, _CHAT)


def _call(body: Json) -> Json:
    blocks: list[Json] = body["messages"][1]["content"]
    return next(block for block in blocks if block["type"] == "tool_use")


_MARK = {"cache_control": {"type": "ephemeral"}}
_BROKEN_ANTHROPIC: dict[str, Callable[[Json], object]] = {
    "no messages": lambda body: body["messages"].clear(),
    "an assistant first": lambda body: body["messages"].pop(0),
    "an assistant last": lambda body: body["messages"].pop(),
    "two users": lambda body: body["messages"].insert(0, body["messages"][0]),
    "a system message": lambda body: body["messages"].insert(1, {"role": "system", "content": []}),
    "no results": lambda body: body["messages"].pop(2),
    "one result": lambda body: body["messages"][2]["content"].pop(0),
    "results behind text": lambda body: body["messages"][2]["content"].reverse(),
    "a strange id": lambda body: _call(body).update(id="a.b"),
    "a strange name": lambda body: _call(body).update(name="a b"),
    "an id twice": lambda body: body["messages"].extend(body["messages"][1:3]),
    "no content": lambda body: body["messages"][0].update(content=[]),
    "blanks": lambda body: body["messages"][0]["content"][0].update(text=" "),
    "a blank system message": lambda body: body["system"][0].update(text=""),
    "an empty result": lambda body: body["messages"][2]["content"][0].update(content=""),
    "a failed picture": lambda body: body["messages"][2]["content"][1]["content"].append({"type": "image"}),
    "thinking last": lambda body: body["messages"][1]["content"].append({"type": "thinking"}),
    "five marks": lambda body: [block.update(_MARK) for block in body["messages"][0]["content"]],
    "a marked thought": lambda body: body["messages"][1]["content"][0].update(_MARK),
    "an hour at last": lambda body: body["system"].reverse(),
}
_BROKEN_CHAT: dict[str, Callable[[Json], object]] = {
    "no results": lambda body: [body["messages"].pop(3), body["messages"].pop(3)],
    "one result": lambda body: body["messages"].pop(4),
    "a user between": lambda body: body["messages"].insert(4, {"role": "user", "content": "x"}),
    "an orphan": lambda body: body["messages"].append({"role": "tool", "tool_call_id": "c", "content": ""}),
    "a long id": lambda body: body["messages"][2]["tool_calls"][0].update(id="x" * 41),
    "an id twice": lambda body: body["messages"].extend(body["messages"][2:5]),
    "nothing": lambda body: body["messages"].append({"role": "assistant", "content": None}),
    "an empty text": lambda body: body["messages"].append({"role": "user", "content": ""}),
    "an empty part": lambda body: body["messages"][1]["content"][0].update(text=""),
    "parts of a tool": lambda body: body["messages"][3].update(content=[{"type": "text", "text": "x"}]),
    "a strange name": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(name="a b"),
    "a list of arguments": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(
        arguments="[]"
    ),
    "no calls": lambda body: body["messages"][-1].update(role="assistant", tool_calls=[]),
    "a system message": lambda body: body["messages"].append({"role": "system", "content": "x"}),
}


@pytest.mark.parametrize("change", _BROKEN_ANTHROPIC.values(), ids=_BROKEN_ANTHROPIC.keys())
def test_a_body_that_anthropic_refuses_is_found(change: Callable[[Json], object]) -> None:
    body = _anthropic_body()
    assert anthropic_complaints(body, takes_system=False) == []
    change(body)
    assert anthropic_complaints(body, takes_system=False) != []


@pytest.mark.parametrize("change", _BROKEN_CHAT.values(), ids=_BROKEN_CHAT.keys())
def test_a_body_that_chat_completions_refuses_is_found(change: Callable[[Json], object]) -> None:
    body = _chat_body()
    assert chat_complaints(body, takes_system=False) == []
    change(body)
    assert chat_complaints(body, takes_system=False) != []
