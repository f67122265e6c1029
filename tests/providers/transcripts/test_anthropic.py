"""Anthropic's messages are read as they stand, with everything that is wrong in them."""

import pytest
from pydantic import JsonValue

from providers.model import (
    CacheMark,
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)
from tests.providers.transcripts.reading import notes, paths, transcript

_USE: JsonValue = {"type": "tool_use", "id": "t1", "name": "look", "input": {"x": 1}}
_RESULT: JsonValue = {"type": "tool_result", "tool_use_id": "t1", "content": "seen"}


def _body(*messages: JsonValue, **fields: JsonValue) -> JsonValue:
    return {"model": "claude-opus-4-5", "max_tokens": 9, "system": "S", "messages": list(messages), **fields}


def _messages(value: JsonValue) -> list[Message]:
    return [read.message for read in transcript(value).reading.messages]


def _user(*blocks: JsonValue) -> JsonValue:
    return {"role": "user", "content": list(blocks)}


def _assistant(*blocks: JsonValue) -> JsonValue:
    return {"role": "assistant", "content": list(blocks)}


def _text(text: str, **more: JsonValue) -> JsonValue:
    return {"type": "text", "text": text, **more}


def test_a_whole_exchange_is_read() -> None:
    value = _body(
        {"role": "user", "content": "Hi"}, _assistant(_text("I look"), _USE), _user(_RESULT, _text("go on"))
    )
    assert _messages(value) == [
        Message(Role.SYSTEM, "S"),
        Message(Role.USER, "Hi"),
        Message(Role.ASSISTANT, (TextBlock("I look"),), (ToolCall("t1", "look", {"x": 1}, after_block=1),)),
        Message(Role.TOOL, "seen", tool_call_id="t1"),
        Message(Role.USER, (TextBlock("go on"),)),
    ]
    assert paths(value) == [
        "system",
        "messages[0]",
        "messages[1]",
        "messages[2].content[0]",
        "messages[2].content[1]",
    ]
    assert notes(value) == []


def test_words_before_a_result_stay_before_it() -> None:
    value = _body(_user(_text("wait"), _RESULT, _text("so?"), _RESULT))
    roles = [message.role for message in _messages(value)[1:]]
    assert roles == [Role.USER, Role.TOOL, Role.USER, Role.TOOL]


def test_a_call_in_a_users_message_stays_a_users() -> None:
    assert _messages(_body(_user(_USE)))[1] == Message(
        Role.USER, None, (ToolCall("t1", "look", {"x": 1}, after_block=0),)
    )


def test_calls_with_one_id_stay_two() -> None:
    (_, message) = _messages(_body(_assistant(_USE, _USE)))
    assert [call.id for call in message.tool_calls] == ["t1", "t1"]


def test_a_result_in_an_answer_is_read_and_refused() -> None:
    value = _body(_assistant(_USE, _RESULT))
    assert [message.role for message in _messages(value)[1:]] == [Role.ASSISTANT, Role.TOOL]
    assert notes(value) == [("wrong_place", "messages[0].content[1]", True)]


@pytest.mark.parametrize("content", [None, "", []])
def test_nothing_stays_nothing(content: JsonValue) -> None:
    (_, message) = _messages(_body({"role": "user", "content": content}))
    assert message.content == (() if content == [] else content)


def test_thoughts_keep_their_seal_or_the_lack_of_it() -> None:
    thoughts: list[JsonValue] = [
        {"type": "thinking", "thinking": "a", "signature": "s"},
        {"type": "thinking", "thinking": "b", "signature": ""},
        {"type": "thinking", "thinking": "c"},
        {"type": "redacted_thinking", "data": "d"},
    ]
    value = _body(_assistant(*thoughts, _text("so")))
    assert _messages(value)[1].content == (
        ReasoningBlock("a", "s"),
        ReasoningBlock("b", ""),
        ReasoningBlock("c"),
        ReasoningBlock("", data="d"),
        TextBlock("so"),
    )
    assert notes(value) == [("missing_field", "messages[0].content[2]", True)]


def test_attachments_are_read_wherever_they_lie() -> None:
    sources: list[JsonValue] = [
        {"type": "base64", "media_type": "image/png", "data": "AAAA"},
        {"type": "url", "url": "https://example.org/a.png"},
        {"type": "file", "file_id": "f1"},
    ]
    images: list[JsonValue] = [{"type": "image", "source": source} for source in sources]
    documents: list[JsonValue] = [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
        {
            "type": "document",
            "title": "T",
            "source": {"type": "content", "content": [_text("a"), _text("b")]},
        },
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA"}},
    ]
    assert _messages(_body(_user(*images, *documents)))[1].content == (
        ImageBlock("image/png", "data:image/png;base64,AAAA"),
        ImageBlock("image/*", "https://example.org/a.png"),
        ImageBlock("image/*", "file_id:f1"),
        FileBlock("text/plain", text="words"),
        FileBlock("text/plain", text="a\nb", name="T"),
        FileBlock("application/pdf", data_url="data:application/pdf;base64,AA"),
    )


def test_cache_marks_cut_a_users_message_and_keep_their_lifetime() -> None:
    hour: JsonValue = {"type": "ephemeral", "ttl": "1h"}
    value = _body(
        _user(_text("a", cache_control=hour), _text("b"), _text("c", cache_control={"type": "ephemeral"})),
        system=[_text("S"), _text("P", cache_control=hour)],
    )
    assert _messages(value) == [
        Message(Role.SYSTEM, "S"),
        Message(Role.SYSTEM, "P", cache=CacheMark("1h")),
        Message(Role.USER, (TextBlock("a"),), cache=CacheMark("1h")),
        Message(Role.USER, (TextBlock("b"), TextBlock("c")), cache=CacheMark()),
    ]
    assert paths(value)[2:] == ["messages[0].content[0]", "messages[0].content[1]"]


def test_marks_that_no_message_of_ours_carries_are_told() -> None:
    tool: JsonValue = {
        "name": "t",
        "input_schema": {"type": "object"},
        "cache_control": {"type": "ephemeral"},
    }
    marked = [_user(_text(str(n), cache_control={"type": "ephemeral"})) for n in range(4)]
    assert notes(_body(*marked, tools=[tool])) == [("cache_mark", "messages[3].content[0]", True)]
    assert notes(_body(*marked[:3], tools=[tool])) == []
    thought: JsonValue = {"type": "redacted_thinking", "data": "d", "cache_control": {"type": "ephemeral"}}
    assert notes(_body(_assistant(thought, _text("x")))) == [("cache_mark", "messages[0].content[0]", True)]
    odd = _user(_text("x", cache_control={"type": "forever"}))
    assert notes(_body(odd)) == [("cache_mark", "messages[0].content[0].cache_control", True)]


def test_tools_are_read_and_those_of_the_provider_told() -> None:
    schema: dict[str, JsonValue] = {"type": "object", "properties": {}}
    value = _body(
        {"role": "user", "content": "Hi"},
        tools=[
            {"name": "own", "description": "D", "input_schema": schema},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
    )
    assert transcript(value).reading.tools == (ToolSpec("own", "D", schema),)
    assert notes(value) == [("unknown_type", "tools[1]", False)]


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("text", ("wrong_type", "messages[0]", True)),
        ({"role": "king", "content": "x"}, ("unknown_role", "messages[0]", True)),
        ({"content": "x"}, ("missing_field", "messages[0]", True)),
        ({"role": "user", "content": 7}, ("wrong_type", "messages[0].content", True)),
        ({"role": "user", "content": ["x"]}, ("wrong_type", "messages[0].content[0]", True)),
        ({"role": "user", "content": "x", "id": "m1"}, ("unknown_key", "messages[0]", True)),
        ({"role": "user", "content": [{"text": "x"}]}, ("missing_field", "messages[0].content[0]", True)),
        (
            {"role": "user", "content": [{"type": "text", "text": 3}]},
            ("wrong_type", "messages[0].content[0].text", True),
        ),
        (
            {"role": "user", "content": [{"type": "server_tool_use", "id": "s"}]},
            ("unknown_type", "messages[0].content[0]", False),
        ),
        (
            {"role": "user", "content": [{"type": "image"}]},
            ("wrong_type", "messages[0].content[0].source", True),
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "n"}]},
            ("missing_field", "messages[0].content[0]", True),
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    message: JsonValue, wanted: tuple[str, str, bool]
) -> None:
    assert notes(_body(message)) == [wanted]


def test_an_unknown_block_stands_as_words_so_that_its_message_is_not_empty() -> None:
    (_, message) = _messages(_body(_assistant({"type": "server_tool_use", "id": "s"})))
    assert message.content == (TextBlock("[server_tool_use was here]"),)
