import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from providers.anthropic import AnthropicDecoder
from providers.errors import ContextOverflow, ProviderError, ServerFailed, StreamBroken
from providers.model import (
    Answered,
    AnswerStarted,
    CallCompleted,
    CallStarted,
    Message,
    ReasoningBlock,
    ReasoningDelta,
    Role,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    Usage,
)
from providers.sse import ServerSentEvent
from tests.providers.streams import ASKED, Payload, all_events, answered, decoded, named, wire_bytes

MODEL = "model-1"


def decoder() -> AnthropicDecoder:
    return AnthropicDecoder(ASKED, MODEL, "req_1")


def start(**usage: JsonValue) -> ServerSentEvent:
    return named(
        {"type": "message_start", "message": {"id": "msg_1", "model": "model-1-dated", "usage": usage}}
    )


def block(index: int, content: Payload, *deltas: Payload) -> list[ServerSentEvent]:
    return [
        named({"type": "content_block_start", "index": index, "content_block": content}),
        *(named({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas),
        named({"type": "content_block_stop", "index": index}),
    ]


def text(index: int, *pieces: str) -> list[ServerSentEvent]:
    deltas: list[Payload] = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def tool(index: int, call_id: str, *pieces: str) -> list[ServerSentEvent]:
    content: Payload = {"type": "tool_use", "id": call_id, "name": "read", "input": {}}
    deltas: list[Payload] = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, content, *deltas)


def end(reason: str | None = "end_turn", **usage: JsonValue) -> list[ServerSentEvent]:
    delta = named({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})
    return [delta, named({"type": "message_stop"})]


FULL = [
    start(input_tokens=3, cache_read_input_tokens=20, cache_creation_input_tokens=100, output_tokens=1),
    named({"type": "ping"}),
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "h"},
        {"type": "thinking_delta", "thinking": "m"},
        {"type": "signature_delta", "signature": "sig"},
    ),
    *block(1, {"type": "redacted_thinking", "data": "opaque"}),
    *text(2, "I ", "look\u2028👩‍🚀."),
    *tool(3, "c1", '{"pa', 'ge": "1"}'),
    *text(4, "Then"),
    *tool(5, "c2"),
    *end("tool_use", output_tokens=40, output_tokens_details={"thinking_tokens": 7}),
]
C1 = ToolCall("c1", "read", {"page": "1"}, after_block=3)
C2 = ToolCall("c2", "read", {})


def test_a_whole_stream_gives_its_events_in_order() -> None:
    assert all_events(decoder(), FULL) == [
        AnswerStarted("msg_1", "model-1-dated", "req_1"),
        ReasoningDelta("h"),
        ReasoningDelta("m"),
        TextDelta("I "),
        TextDelta("look\u2028👩‍🚀."),
        CallStarted("c1", "read"),
        CallCompleted(ToolCall("c1", "read", {"page": "1"})),
        TextDelta("Then"),
        CallStarted("c2", "read"),
        CallCompleted(C2),
        Answered(
            Message(
                Role.ASSISTANT,
                (
                    ReasoningBlock("hm", signature="sig", model=MODEL),
                    ReasoningBlock("", data="opaque", model=MODEL),
                    TextBlock("I look\u2028👩‍🚀."),
                    TextBlock("Then"),
                ),
                tool_calls=(C1, C2),
            ),
            StopReason.TOOL_USE,
            Usage(3, 20, 100, 40, 7),
            "msg_1",
            "model-1-dated",
            "req_1",
        ),
    ]


@settings(max_examples=40)
@given(st.integers(1, 50), st.sampled_from(["\n", "\r", "\r\n"]))
def test_no_cut_of_the_bytes_changes_the_answer(size: int, line_end: str) -> None:
    raw = wire_bytes(FULL, line_end=line_end)
    events = decoded(raw[i : i + size] for i in range(0, len(raw), size))
    assert answered(decoder(), events) == answered(decoder(), FULL)


@pytest.mark.parametrize("n", range(len(FULL)))
def test_a_stream_without_its_last_event_is_broken(n: int) -> None:
    with pytest.raises(StreamBroken, match="message_stop"):
        all_events(decoder(), FULL[:n])


def test_only_text_is_a_plain_string_and_only_calls_are_none() -> None:
    assert answered(decoder(), [start(), *text(0, "hi"), *end()]).message.content == "hi"
    only_calls = answered(decoder(), [start(), *text(0), *tool(1, "c1", "{}"), *end("tool_use")]).message
    assert only_calls == Message(Role.ASSISTANT, None, tool_calls=(ToolCall("c1", "read", {}),))
    assert answered(decoder(), [start(), *end()]).message.content == ""


def test_a_call_before_the_only_text_keeps_its_place() -> None:
    message = answered(decoder(), [start(), *tool(0, "c1", "{}"), *text(1, "hi"), *end("tool_use")]).message
    assert message.content == "hi"
    assert message.tool_calls[0].after_block == 0


@pytest.mark.parametrize(
    "arguments", ['{"page"', "[1]", "7", "null", "nonsense", '{"a": NaN}', '{"a":' * 5000]
)
def test_arguments_that_are_no_object_are_kept_as_text(arguments: str) -> None:
    answer = answered(decoder(), [start(), *tool(0, "c1", arguments), *end("tool_use")])
    assert answer.message.tool_calls == (ToolCall("c1", "read", {}, invalid_json=arguments),)
    assert answer.cut_calls == ()


ARGUMENTS = '{"page": "ä}", "n": [1, {"a": 2}]}'


@pytest.mark.parametrize("n", range(len(ARGUMENTS)))
@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_arguments_cut_anywhere_by_a_limit_are_never_told_as_complete(n: int, reason: str) -> None:
    events = all_events(decoder(), [start(), *tool(0, "c1", ARGUMENTS[:n]), *end(reason)])
    assert not any(isinstance(event, CallCompleted) for event in events)
    assert isinstance(events[-1], Answered)
    assert events[-1].cut_calls == ("c1",)


def test_a_call_that_was_whole_before_the_limit_is_not_cut() -> None:
    stream = [
        start(),
        *tool(0, "c1"),
        *tool(1, "c2", ARGUMENTS),
        *tool(2, "c3", ARGUMENTS[:5]),
        *end("max_tokens"),
    ]
    answer = answered(decoder(), stream)
    assert answer.cut_calls == ("c3",)
    assert answer.stop is StopReason.MAX_TOKENS


def test_arguments_that_come_whole_with_the_block_are_taken() -> None:
    content: Payload = {"type": "tool_use", "id": "c1", "name": "read", "input": {"page": "1"}}
    answer = answered(decoder(), [start(), *block(0, content), *end("tool_use")])
    assert answer.message.tool_calls == (ToolCall("c1", "read", {"page": "1"}),)


@pytest.mark.parametrize(
    ("reason", "want"),
    [
        ("end_turn", StopReason.END_TURN),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("pause_turn", StopReason.PAUSE),
        ("refusal", StopReason.REFUSAL),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("model_context_window_exceeded", StopReason.CONTEXT_EXCEEDED),
        ("tool_use", StopReason.END_TURN),
        ("something_new", StopReason.END_TURN),
        (None, StopReason.END_TURN),
    ],
)
def test_stop_reasons_have_their_word(reason: str | None, want: StopReason) -> None:
    assert answered(decoder(), [start(), *text(0, "hi"), *end(reason)]).stop is want


def test_an_answer_with_calls_stops_for_them_whatever_the_server_says() -> None:
    assert answered(decoder(), [start(), *tool(0, "c1", "{}"), *end("end_turn")]).stop is StopReason.TOOL_USE


def test_usage_is_cumulative_and_zeros_do_not_take_it_back() -> None:
    answer = answered(
        decoder(), [start(input_tokens=9, output_tokens=1), *end(input_tokens=0, output_tokens=5)]
    )
    assert answer.usage == Usage(9, output_tokens=5)


def test_an_answer_without_usage_says_that_it_has_none() -> None:
    assert answered(decoder(), [start(), *text(0, "hi"), *end()]).usage == Usage(is_estimated=True)


def test_unknown_events_blocks_and_deltas_are_ignored() -> None:
    stream = [
        start(),
        named({"type": "brand_new", "x": 1}),
        *block(0, {"type": "server_thing", "x": []}, {"type": "server_delta"}),
        *block(
            1, {"type": "text", "text": "a"}, {"type": "citations_delta"}, {"type": "text_delta", "text": "b"}
        ),
        *end(),
    ]
    assert answered(decoder(), stream).message.content == "ab"


def test_events_behind_the_end_are_ignored() -> None:
    end_of_all = decoder()
    all_events(end_of_all, FULL)
    assert end_of_all.feed(named({"type": "error", "error": {"type": "api_error"}})) == ()


@pytest.mark.parametrize(
    ("kind", "message", "want"),
    [
        ("overloaded_error", "Overloaded", ServerFailed),
        ("invalid_request_error", "prompt is too long: 5 tokens > 4 maximum", ContextOverflow),
    ],
)
def test_an_error_event_is_raised_as_what_it_is(kind: str, message: str, want: type[ProviderError]) -> None:
    with pytest.raises(want, match=message) as caught:
        all_events(
            decoder(), [start(), named({"type": "error", "error": {"type": kind, "message": message}})]
        )
    assert caught.value.request_id == "req_1"


@pytest.mark.parametrize("data", ["", "{", "[]", "7", "null", '"text"', "<html>"])
def test_data_that_is_no_object_breaks_the_stream(data: str) -> None:
    with pytest.raises(StreamBroken):
        decoder().feed(ServerSentEvent("content_block_delta", data))


def test_half_characters_of_a_server_become_whole_ones() -> None:
    events = all_events(decoder(), [start(), *text(0, "a\ud83d", "\ude00b", "\udc00", "c\ud83d"), *end()])
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert shown == "a😀b\ufffdc"
    assert isinstance(events[-1], Answered)
    assert events[-1].message.content == "a😀b\ufffdc\ufffd"


def test_half_characters_in_arguments_can_be_stored_and_sent() -> None:
    answer = answered(
        decoder(), [start(), *tool(0, "c1", '{"page": "\\ud83d\\ude00 \\ud83d"}'), *end("tool_use")]
    )
    assert answer.message.tool_calls[0].input == {"page": "😀 \ufffd"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "index", "delta", "content_block", "message", "usage", "error", "text", "input"]
            ),
            inner
            | st.sampled_from(
                ["tool_use", "text", "thinking", "text_delta", "input_json_delta", "max_tokens"]
            ),
            max_size=4,
        )
    ),
    max_leaves=12,
)
TYPES = st.sampled_from([event.event for event in FULL] + ["error", "x"])


@settings(max_examples=40)
@given(st.lists(st.tuples(TYPES, st.dictionaries(st.text(max_size=3), JSON, max_size=3) | JSON), max_size=12))
def test_garbage_raises_nothing_but_our_errors(garbage: list[tuple[str, JsonValue]]) -> None:
    fed = decoder()
    for kind, value in garbage:
        payload = {**value, "type": kind} if isinstance(value, dict) else value
        try:
            fed.feed(ServerSentEvent(kind, json.dumps(payload)))
        except ProviderError:
            return
