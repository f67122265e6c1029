import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from providers.errors import ContextOverflow, ProviderError, RateLimited, ServerFailed, StreamBroken
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
from providers.openai_chat import ChatDecoder
from providers.sse import ServerSentEvent
from tests.providers.streams import ASKED, Payload, all_events, answered, decoded, unnamed, wire_bytes

MODEL = "model-1"
DONE = ServerSentEvent("message", "[DONE]")


def decoder() -> ChatDecoder:
    return ChatDecoder(ASKED, MODEL, "req_1")


def chunk(delta: Payload | None = None, finish: str | None = None, **more: JsonValue) -> ServerSentEvent:
    choice: Payload = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return unnamed({"id": "chatcmpl-1", "model": "model-1-dated", "choices": [choice], "usage": None, **more})


def item(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: JsonValue = None
) -> Payload:
    """One entry of a delta's `tool_calls`, with only what is given."""
    function: Payload = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    pairs: list[tuple[str, JsonValue]] = [("index", index), ("id", call_id), ("function", function or None)]
    return {k: v for k, v in pairs if v is not None}


def calls(*items: Payload) -> ServerSentEvent:
    return chunk({"tool_calls": list(items)})


def usage(**counts: JsonValue) -> ServerSentEvent:
    return unnamed({"id": "chatcmpl-1", "choices": [], "usage": counts})


def answer_to(*events: ServerSentEvent, finish: str = "tool_calls") -> Answered:
    return answered(decoder(), [*events, chunk(finish=finish), DONE])


FULL = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "h"}),
    chunk({"reasoning_content": "m"}),
    chunk({"content": "I look\u2028"}),
    chunk({"content": "👩‍🚀"}),
    calls(item(0, "c1", "read", "")),
    calls(item(0, arguments='{"page"')),
    calls(item(0, arguments=': "1"}')),
    calls(item(1, "c2", "read", '{"page": "2"}')),
    chunk(finish="tool_calls"),
    usage(
        prompt_tokens=100,
        completion_tokens=30,
        prompt_tokens_details={"cached_tokens": 60, "cache_write_tokens": 10},
        completion_tokens_details={"reasoning_tokens": 7},
    ),
    DONE,
]
C1, C2 = ToolCall("c1", "read", {"page": "1"}), ToolCall("c2", "read", {"page": "2"})


def test_a_whole_stream_gives_its_events_in_order() -> None:
    assert all_events(decoder(), FULL) == [
        AnswerStarted("chatcmpl-1", "model-1-dated", "req_1"),
        ReasoningDelta("h"),
        ReasoningDelta("m"),
        TextDelta("I look\u2028"),
        TextDelta("👩‍🚀"),
        CallStarted("c1", "read"),
        CallCompleted(C1),
        CallStarted("c2", "read"),
        CallCompleted(C2),
        Answered(
            Message(
                Role.ASSISTANT,
                (ReasoningBlock("hm", model=MODEL), TextBlock("I look\u2028👩‍🚀")),
                tool_calls=(C1, C2),
            ),
            StopReason.TOOL_USE,
            Usage(30, 60, 10, 30, 7),
            "chatcmpl-1",
            "model-1-dated",
            "req_1",
        ),
    ]


@settings(max_examples=40)
@given(st.integers(1, 50), st.sampled_from(["\n", "\r", "\r\n"]))
def test_no_cut_of_the_bytes_changes_the_answer(size: int, line_end: str) -> None:
    raw = b": OPENROUTER PROCESSING\n\n" + wire_bytes(FULL, line_end=line_end)
    events = decoded(raw[i : i + size] for i in range(0, len(raw), size))
    assert answered(decoder(), events) == answered(decoder(), FULL)


@pytest.mark.parametrize("n", range(len(FULL)))
def test_a_stream_without_its_end_marker_is_broken(n: int) -> None:
    with pytest.raises(StreamBroken, match="DONE"):
        all_events(decoder(), FULL[:n])


def test_an_end_marker_without_a_finish_reason_ends_nothing() -> None:
    with pytest.raises(StreamBroken, match="finish_reason"):
        all_events(decoder(), [chunk({"content": "half"}), DONE])


def test_only_text_is_a_plain_string_and_only_calls_are_none() -> None:
    assert answer_to(chunk({"content": "hi"}), finish="stop").message == Message(Role.ASSISTANT, "hi")
    assert answer_to(calls(item(0, "c1", "read", "{}"))).message.content is None
    assert answer_to(finish="stop").message.content == ""


STREAMS_OF_TWO_CALLS = {
    "by the book": [
        calls(item(0, "c1", "read", "")),
        calls(item(0, arguments='{"page": "1"}')),
        calls(item(1, "c2", "read", "")),
        calls(item(1, arguments='{"page": "2"}')),
    ],
    "interleaved": [
        calls(item(0, "c1", "read", '{"page"'), item(1, "c2", "read", "")),
        calls(item(1, arguments='{"page": ')),
        calls(item(0, arguments=': "1"}'), item(1, arguments='"2"}')),
    ],
    "every index 0": [
        calls(item(0, "c1", "read", '{"page"')),
        calls(item(0, arguments=': "1"}')),
        calls(item(0, "c2", "read", '{"page"')),
        calls(item(0, arguments=': "2"}')),
    ],
    "no index": [
        calls(item(None, "c1", "read", '{"page"')),
        calls(item(None, arguments=': "1"}')),
        calls(item(None, "c2", "read", '{"page"')),
        calls(item(None, arguments=': "2"}')),
    ],
    "id and name in every delta": [
        calls(item(0, "c1", "read", '{"page"')),
        calls(item(0, "c1", "read", ': "1"}')),
        calls(item(1, "c2", "read", '{"page"')),
        calls(item(1, "c2", "read", ': "2"}')),
    ],
    "empty id and name in later deltas": [
        calls(item(0, "c1", "read", '{"page"')),
        calls(item(0, "", "", ': "1"}')),
        calls(item(1, "c2", "read", '{"page"')),
        calls(item(1, "", "", ': "2"}')),
    ],
    "an index that counts deltas": [
        calls(item(0, "c1", "read", '{"page"')),
        calls(item(1, arguments=': "1"}')),
        calls(item(2, "c2", "read", '{"page"')),
        calls(item(3, arguments=': "2"}')),
    ],
    "whole at once": [calls(item(0, "c1", "read", '{"page": "1"}'), item(1, "c2", "read", '{"page": "2"}'))],
    "arguments as objects": [
        calls(item(0, "c1", "read", {"page": "1"}), item(1, "c2", "read", {"page": "2"}))
    ],
}


@pytest.mark.parametrize("name", STREAMS_OF_TWO_CALLS)
def test_calls_are_told_apart_however_they_are_numbered(name: str) -> None:
    answer = answer_to(*STREAMS_OF_TWO_CALLS[name])
    assert answer.message.tool_calls == (C1, C2)
    assert answer.cut_calls == ()


@pytest.mark.parametrize("name", STREAMS_OF_TWO_CALLS)
def test_each_call_starts_and_completes_once(name: str) -> None:
    events = all_events(decoder(), [*STREAMS_OF_TWO_CALLS[name], chunk(finish="tool_calls"), DONE])
    assert [event.call_id for event in events if isinstance(event, CallStarted)] == ["c1", "c2"]
    assert [event.call for event in events if isinstance(event, CallCompleted)] == [C1, C2]


@pytest.mark.parametrize(
    "events",
    [
        [calls(item(0, None, "read", '{"page": "1"}')), calls(item(1, None, "read", '{"page": "2"}'))],
        [calls(item(0, None, "read", '{"page": "1"}')), calls(item(0, None, "read", '{"page": "2"}'))],
        [calls(item(None, None, "read", '{"page": "1"}'), item(None, None, "read", '{"page": "2"}'))],
        [calls(item(0, "same", "read", '{"page": "1"}'), item(1, "same", "read", '{"page": "2"}'))],
        [calls(item(0, "", "read", '{"page": "1"}'), item(1, "", "read", '{"page": "2"}'))],
    ],
)
def test_calls_without_ids_of_their_own_get_unique_ones(events: list[ServerSentEvent]) -> None:
    found = answer_to(*events).message.tool_calls
    assert [call.input for call in found] == [{"page": "1"}, {"page": "2"}]
    assert len({call.id for call in found}) == 2
    assert all(call.id for call in found)


def test_an_id_that_comes_late_makes_no_second_call() -> None:
    events = [
        calls(item(0, None, "read", "")),
        calls(item(0, "late", None, '{"page"')),
        calls(item(0, "late", None, ": 1}")),
    ]
    assert [call.input for call in answer_to(*events).message.tool_calls] == [{"page": 1}]


def test_a_call_whose_name_never_comes_breaks_the_stream() -> None:
    with pytest.raises(StreamBroken, match="without a name"):
        answer_to(calls(item(0, "c1", None, "{}")))


def test_arguments_that_go_on_behind_their_end_break_the_stream() -> None:
    events = [
        calls(item(0, "c1", "read", "{}")),
        calls(item(1, "c2", "read", "{}")),
        calls(item(0, arguments=" x")),
    ]
    with pytest.raises(StreamBroken, match="behind the end"):
        answer_to(*events)


@pytest.mark.parametrize("arguments", ['{"page"', "[1]", "7", "nonsense"])
def test_arguments_that_are_no_object_are_kept_as_text(arguments: str) -> None:
    answer = answer_to(calls(item(0, "c1", "read", arguments)))
    assert answer.message.tool_calls == (ToolCall("c1", "read", {}, invalid_json=arguments),)
    assert answer.cut_calls == ()


ARGUMENTS = '{"page": "ä}", "n": [1, {"a": 2}]}'


@pytest.mark.parametrize("n", range(len(ARGUMENTS)))
def test_arguments_cut_anywhere_by_the_limit_are_never_told_as_complete(n: int) -> None:
    stream = [calls(item(0, "c1", "read", ARGUMENTS[:n])), chunk(finish="length"), DONE]
    events = all_events(decoder(), stream)
    assert not any(isinstance(event, CallCompleted) for event in events)
    assert isinstance(events[-1], Answered)
    assert events[-1].cut_calls == ("c1",)


@pytest.mark.parametrize(
    ("finish", "want"),
    [
        ("stop", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("model_context_window_exceeded", StopReason.CONTEXT_EXCEEDED),
        ("tool_calls", StopReason.END_TURN),
        ("something_new", StopReason.END_TURN),
    ],
)
def test_finish_reasons_have_their_word(finish: str, want: StopReason) -> None:
    assert answer_to(chunk({"content": "hi"}), finish=finish).stop is want


def test_an_answer_with_calls_stops_for_them_whatever_the_server_says() -> None:
    assert answer_to(calls(item(0, "c1", "read", "{}")), finish="stop").stop is StopReason.TOOL_USE


def test_a_refusal_is_shown_and_is_the_reason_of_the_stop() -> None:
    answer = answer_to(chunk({"refusal": "I will not."}), finish="stop")
    assert (answer.message.content, answer.stop) == ("I will not.", StopReason.REFUSAL)


@pytest.mark.parametrize("finish", ["insufficient_system_resource", "network_error"])
def test_a_failure_given_as_finish_reason_is_a_failure(finish: str) -> None:
    with pytest.raises(ServerFailed, match=finish):
        answer_to(chunk({"content": "hi"}), finish=finish)


@pytest.mark.parametrize(
    ("event", "want"),
    [
        (usage(prompt_tokens=10, completion_tokens=2), Usage(10, output_tokens=2)),
        (
            usage(prompt_tokens=10, completion_tokens=2, prompt_cache_hit_tokens=4),
            Usage(6, 4, output_tokens=2),
        ),
        (usage(prompt_tokens=10, prompt_tokens_details={"cached_tokens": 99}), Usage(0, 10)),
        (usage(prompt_tokens=10, prompt_tokens_details=None), Usage(10)),
        (
            unnamed(
                {
                    "choices": [],
                    "usage": {"prompt_tokens": 10, "completion_tokens": 2},
                    "timings": {"cache_n": 9},
                }
            ),
            Usage(1, 9, output_tokens=2),
        ),
        (
            unnamed({"choices": [], "timings": {"prompt_n": 1, "cache_n": 9, "predicted_n": 2}}),
            Usage(1, 9, output_tokens=2),
        ),
        (unnamed({"choices": [{"delta": {}, "usage": {"prompt_tokens": 3}}]}), Usage(3)),
        (usage(prompt_tokens="10", completion_tokens=True), Usage()),
        (chunk(), Usage(is_estimated=True)),
    ],
)
def test_usage_is_read_in_each_of_its_shapes(event: ServerSentEvent, want: Usage) -> None:
    assert answer_to(chunk({"content": "hi"}), event, finish="stop").usage == want


def test_reasoning_has_two_names() -> None:
    answer = answer_to(chunk({"reasoning": "hm"}), chunk({"content": "hi"}), finish="stop")
    assert answer.message.content == (ReasoningBlock("hm", model=MODEL), TextBlock("hi"))


def test_only_the_first_choice_counts() -> None:
    both = unnamed({"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]})
    assert answer_to(both, finish="stop").message.content == "a"


@pytest.mark.parametrize(
    ("payload", "want"),
    [
        (
            {"error": {"code": 502, "message": "Upstream"}, "choices": [{"finish_reason": "error"}]},
            ServerFailed,
        ),
        ({"error": {"message": "slow down", "type": "rate_limit_error"}}, RateLimited),
        ({"error": {"message": "too long", "code": "context_length_exceeded"}}, ContextOverflow),
    ],
)
def test_an_error_chunk_is_raised_as_what_it_is(payload: Payload, want: type[ProviderError]) -> None:
    with pytest.raises(want):
        all_events(decoder(), [chunk({"content": "hi"}), unnamed(payload)])


@pytest.mark.parametrize("data", ["", "{", "[]", "7", "null", "<html>", "[DONE"])
def test_data_that_is_no_object_breaks_the_stream(data: str) -> None:
    with pytest.raises(StreamBroken):
        decoder().feed(ServerSentEvent("message", data))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "tool_calls", "function", "index", "id", "name", "arguments", "usage"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "index": st.none() | st.integers(-1, 3),
        "id": st.none() | st.sampled_from(["", "a", "b"]),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["", "read"]),
                "arguments": st.sampled_from(["", "{", "}", "{}", "x"]),
            },
        ),
    },
)


@settings(max_examples=40)
@given(
    st.lists(
        JSON | st.lists(ITEMS, max_size=3).map(lambda items: {"choices": [{"delta": {"tool_calls": items}}]})
    )
)
def test_garbage_raises_nothing_but_our_errors(garbage: list[JsonValue]) -> None:
    fed = decoder()
    try:
        events = [out for value in garbage for out in fed.feed(ServerSentEvent("message", json.dumps(value)))]
        events += [out for event in (chunk(finish="length"), DONE) for out in fed.feed(event)]
    except ProviderError:
        return
    last = events[-1]
    assert isinstance(last, Answered)
    ids = [call.id for call in last.message.tool_calls]
    assert len(ids) == len(set(ids))
    told = [event.call.id for event in events if isinstance(event, CallCompleted)]
    assert sorted(told) == sorted(set(ids) - set(last.cut_calls))
