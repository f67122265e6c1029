"""Messages of Chat Completions are read as they stand, with everything that is wrong in them."""

import pytest
from pydantic import JsonValue

from providers.model import (
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)
from providers.transcripts import shown_path
from tests.providers.transcripts.reading import notes, paths, transcript


def _call(arguments: JsonValue, **more: JsonValue) -> JsonValue:
    return {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}, **more}


def _body(*messages: JsonValue, **fields: JsonValue) -> JsonValue:
    return {"model": "gpt-5", "max_completion_tokens": 9, "messages": list(messages), **fields}


def _messages(*messages: JsonValue) -> list[Message]:
    return [read.message for read in transcript(_body(*messages)).reading.messages]


def _assistant(*calls: JsonValue, **fields: JsonValue) -> JsonValue:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def test_a_whole_exchange_is_read() -> None:
    exchange: list[JsonValue] = [
        {"role": "developer", "content": "S"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "ann"},
        _assistant(_call('{"x": 1}'), content="I look"),
        {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    ]
    assert _messages(*exchange) == [
        Message(Role.SYSTEM, "S"),
        Message(Role.USER, (TextBlock("Hi"),)),
        Message(Role.ASSISTANT, "I look", (ToolCall("c1", "look", {"x": 1}),)),
        Message(Role.TOOL, "seen", tool_call_id="c1"),
    ]
    assert notes(_body(*exchange)) == []
    assert paths(_body(*exchange)) == [f"messages[{at}]" for at in range(4)]


@pytest.mark.parametrize("arguments", ["{", "not json", '{"a": NaN}', "[" * 200 + "]" * 200])
def test_arguments_that_are_no_json_stay_the_text_that_they_are(arguments: str) -> None:
    (message,) = _messages(_assistant(_call(arguments)))
    assert message.tool_calls[0].input == arguments
    place = "messages[0].tool_calls[0].function.arguments"
    assert notes(_body(_assistant(_call(arguments)))) == [("arguments_text", place, False)]


@pytest.mark.parametrize(("arguments", "read"), [("[1]", [1]), ('"x"', "x"), ("null", None), ("{}", {})])
def test_arguments_that_are_json_are_read_whatever_they_are(arguments: str, read: JsonValue) -> None:
    (message,) = _messages(_assistant(_call(arguments)))
    assert message.tool_calls[0].input == read


def test_nothing_beside_calls_is_the_same_as_an_empty_text() -> None:
    assert _messages(_assistant(_call("{}"), content="")) == _messages(_assistant(_call("{}")))
    assert _messages({"role": "assistant", "content": ""})[0].content == ""
    assert _messages(_assistant(_call("{}"), content=[]))[0].content == ()


def test_calls_of_a_user_stay_a_users() -> None:
    (message,) = _messages({"role": "user", "content": "", "tool_calls": [_call("{}")]})
    assert message == Message(Role.USER, "", (ToolCall("c1", "look", {}),))


def test_a_result_without_an_id_has_none() -> None:
    (message,) = _messages({"role": "tool", "content": "x"})
    assert message.tool_call_id is None
    assert notes(_body({"role": "tool", "content": "x"})) == []  # the rule about results finds it


def test_open_reasoning_and_refusals_are_parts_of_an_answer() -> None:
    answer: JsonValue = {"role": "assistant", "content": None, "refusal": "No.", "reasoning_content": "hm"}
    assert _messages(answer)[0].content == (ReasoningBlock("hm"), TextBlock("No."))
    parts: list[JsonValue] = [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]
    assert _messages({"role": "assistant", "content": parts})[0].content == (TextBlock("a"), TextBlock("b"))
    text: JsonValue = {"role": "assistant", "content": "t", "reasoning_content": "hm"}
    assert _messages(text)[0].content == (ReasoningBlock("hm"), TextBlock("t"))


def test_attachments_are_read_wherever_they_lie() -> None:
    parts: list[JsonValue] = [
        {"type": "image_url", "image_url": {"url": "data:image/gif;base64,AA"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/x"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"}},
        {"type": "file", "file": {"file_id": "f1"}},
    ]
    assert _messages({"role": "user", "content": parts})[0].content == (
        ImageBlock("image/gif", "data:image/gif;base64,AA"),
        ImageBlock("image/*", "https://example.org/x"),
        FileBlock("application/pdf", data_url="data:application/pdf;base64,AA", name="a.pdf"),
        FileBlock("application/octet-stream", data_url="file_id:f1"),
    )


def test_tools_are_read_and_one_without_parameters_takes_none() -> None:
    tools: JsonValue = [
        {"type": "function", "function": {"name": "a", "description": "D", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "b"}},
        {"type": "custom", "custom": {"name": "c"}},
    ]
    value = _body({"role": "user", "content": "Hi"}, tools=tools)
    assert transcript(value).reading.tools == (
        ToolSpec("a", "D", {"type": "object"}),
        ToolSpec("b", "", {"type": "object", "properties": {}}),
    )
    assert notes(value) == [("unknown_type", "tools[2]", False)]


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"role": "king", "content": "x"}, [("unknown_role", "messages[0]", True)]),
        ({"role": "user", "content": "x", "at": 3}, [("unknown_key", "messages[0]", False)]),
        ({"role": "user", "content": {"a": 1}}, [("wrong_type", "messages[0].content", True)]),
        (
            {"role": "user", "content": [{"type": "input_audio"}]},
            [("unknown_type", "messages[0].content[0]", False)],
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": "https://x"}]},
            [("wrong_type", "messages[0].content[0].image_url", True)],
        ),
        (_assistant(content="x"), [("wrong_type", "messages[0].tool_calls", True)]),
        (
            _assistant(_call({"x": 1})),
            [("wrong_type", "messages[0].tool_calls[0].function.arguments", True)],
        ),
        (_assistant(_call("{}", id=7)), [("wrong_type", "messages[0].tool_calls[0].id", True)]),
        (
            _assistant(_call("{}", function=None)),
            [("wrong_type", "messages[0].tool_calls[0].function", True)],
        ),
        (_assistant(_call("{}", type="dance")), [("unknown_type", "messages[0].tool_calls[0]", False)]),
        (
            {"role": "function", "name": "f", "content": "x"},
            [("unknown_key", "messages[0]", False)],
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    message: JsonValue, wanted: list[tuple[str, str, bool]]
) -> None:
    assert notes(_body(message)) == wanted


@pytest.mark.parametrize("content", [None, "", "a"])
@pytest.mark.parametrize("key", ["audio", "function_call"])
def test_what_an_assistant_says_in_forms_that_are_not_known_has_a_stand_in(
    key: str, content: str | None
) -> None:
    value: JsonValue = {"role": "assistant", "content": content, key: {"id": "x", "name": "f"}}
    (read,) = transcript([value]).reading.messages
    said = (TextBlock("a"),) if content else ()
    assert read.message.content == (*said, TextBlock(f"[{key} was here]"))
    assert shown_path(read.block_paths[-1]) == f"[0].{key}"
    assert [is_refused for _, _, is_refused in notes([value])] == [False]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://example.org/x"}},
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "input_audio", "input_audio": {}},
    ],
)
def test_results_hold_only_texts(part: JsonValue) -> None:
    result: JsonValue = {
        "role": "tool",
        "tool_call_id": "c1",
        "content": [{"type": "text", "text": "x"}, part],
    }
    assert ("wrong_place", "messages[0].content[1]", True) in notes(_body(result))
    assert [refused for *_, refused in notes(_body({"role": "user", "content": [part]})) if refused] == []


@pytest.mark.parametrize(
    "kind", ["input_text", "output_text", "input_image", "image", "document", "tool_result"]
)
def test_parts_of_other_formats_are_refused_and_new_ones_are_not(kind: str) -> None:
    body = _body({"role": "user", "content": [{"type": kind}]}, n=1, logit_bias={})
    assert notes(body) == [("unknown_type", "messages[0].content[0]", True)]
    new = _body({"role": "user", "content": [{"type": "hologram"}]})
    assert notes(new) == [("unknown_type", "messages[0].content[0]", False)]
