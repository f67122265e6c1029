import json
from dataclasses import replace

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import JsonValue, TypeAdapter

from providers.anthropic import encode
from providers.encoding import safe_id
from providers.errors import IllegalRequest
from providers.model import (
    CacheMark,
    FileBlock,
    ImageBlock,
    Message,
    ModelProfile,
    ReasoningBlock,
    Request,
    Role,
    ToolCall,
    ToolChoice,
)
from tests.providers.requests import (
    EVERYTHING,
    MODEL,
    PNG,
    PROFILE,
    READ,
    SCHEMA,
    assistant,
    call,
    read_whole,
    request,
    result,
    system,
    user,
)

CALL = {"type": "tool_use", "id": "c1", "name": "read", "input": {"page": "1"}}


def messages_of(asked: Request, profile: ModelProfile = PROFILE) -> JsonValue:
    return encode(asked, profile)["messages"]


def content_of(message: Message) -> JsonValue:
    """The blocks of one message behind a user's."""
    messages = messages_of(request(user("hi"), message))
    assert isinstance(messages, list)
    assert isinstance(messages[-1], dict)
    return messages[-1]["content"]


def text(words: str, **mark: JsonValue) -> dict[str, JsonValue]:
    return {"type": "text", "text": words, **mark}


def test_a_body_is_what_the_official_types_allow() -> None:
    body = encode(EVERYTHING, PROFILE)
    assert read_whole(TypeAdapter(MessageCreateParamsStreaming).validate_python(body, strict=True)) == body


def test_a_small_request_is_exactly_this() -> None:
    assert encode(request(system("Be short."), user("hi")), PROFILE) == {
        "model": MODEL,
        "max_tokens": 8_000,
        "system": [text("Be short.")],
        "messages": [{"role": "user", "content": [text("hi")]}],
        "stream": True,
    }


def test_the_asked_output_limit_goes_before_the_profile() -> None:
    assert encode(replace(request(user("hi")), max_output_tokens=7), PROFILE)["max_tokens"] == 7


def test_the_leading_system_messages_keep_their_marks() -> None:
    body = encode(request(system("a", CacheMark("1h")), system("b", CacheMark()), user("hi")), PROFILE)
    assert body["system"] == [
        text("a", cache_control={"type": "ephemeral", "ttl": "1h"}),
        text("b", cache_control={"type": "ephemeral"}),
    ]


def test_marks_are_not_sent_to_a_model_without_them() -> None:
    assert "cache_control" not in json.dumps(encode(EVERYTHING, replace(PROFILE, cache_marks=False)))


def test_a_mark_never_sits_on_thinking() -> None:
    marked = assistant("text", ReasoningBlock("t", signature="s"), cache=CacheMark())
    assert content_of(marked) == [
        text("text", cache_control={"type": "ephemeral"}),
        {"type": "thinking", "thinking": "t", "signature": "s"},
    ]


def test_a_system_message_later_on_needs_a_model_that_takes_it() -> None:
    asked = request(user("hi"), system("now be brief"), assistant("ok"))
    with pytest.raises(IllegalRequest, match="message 1"):
        encode(asked, PROFILE)
    assert messages_of(asked, replace(PROFILE, mid_conversation_system=True)) == [
        {"role": "user", "content": [text("hi")]},
        {"role": "system", "content": [text("now be brief")]},
        {"role": "assistant", "content": [text("ok")]},
    ]


def test_results_and_user_messages_after_an_answer_are_one_message_results_first() -> None:
    asked = request(
        user("a"),
        user("b"),
        assistant(calls=(call("c1"), call("c2"))),
        user("early"),
        result("c1", "1"),
        result("c2", "2"),
    )
    assert messages_of(asked) == [
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [CALL, CALL | {"id": "c2"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [text("1")]},
                {"type": "tool_result", "tool_use_id": "c2", "content": [text("2")]},
                text("early"),
            ],
        },
    ]


def test_a_failed_result_says_so_and_a_plain_text_stays_plain() -> None:
    failed = Message(Role.TOOL, "no", tool_call_id="c1", is_error=True, cache=CacheMark())
    assert content_of(failed) == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": "no",
            "is_error": True,
            "cache_control": {"type": "ephemeral"},
        },
        text("hi"),
    ]


def test_calls_stand_where_the_model_made_them() -> None:
    answer = assistant("a", "b", calls=(call("c1", after_block=0), call("c2", after_block=1), call("c3")))
    assert content_of(answer) == [CALL, text("a"), CALL | {"id": "c2"}, text("b"), CALL | {"id": "c3"}]


def test_a_call_before_a_plain_text_stays_before_it() -> None:
    answer = Message(Role.ASSISTANT, "a", tool_calls=(call("c1", after_block=0),))
    assert content_of(answer) == [CALL, text("a")]


def test_empty_text_beside_calls_is_left_out() -> None:
    assert content_of(assistant("", calls=(call("c1"),))) == [CALL]
    assert content_of(Message(Role.ASSISTANT, "", tool_calls=(call("c1"),))) == [CALL]


def test_a_call_whose_arguments_did_not_parse_goes_back_with_an_empty_object() -> None:
    broken = ToolCall("c1", "read", {}, invalid_json='{"page"')
    assert content_of(assistant(calls=(broken,))) == [CALL | {"input": {}}]


def test_names_and_ids_of_other_servers_are_made_legal() -> None:
    odd = ToolCall("functions.read:0", "no such tool!", {})
    asked = request(user("hi"), assistant(calls=(odd,)), result("functions.read:0", "x"))
    sent = json.dumps(messages_of(asked))
    wanted = safe_id("functions.read:0", limit=64)
    assert f'"id": "{wanted}"' in sent
    assert f'"tool_use_id": "{wanted}"' in sent
    assert '"name": "no_such_tool_"' in sent


def test_a_long_name_of_a_tool_is_the_same_in_its_calls() -> None:
    assert content_of(assistant(calls=(ToolCall("c1", "x" * 128, {}),))) == [
        CALL | {"name": "x" * 128, "input": {}}
    ]


def test_pictures_of_a_failed_result_follow_behind_all_results() -> None:
    asked = request(
        user("hi"),
        assistant(calls=(call("c1"), call("c2"))),
        result("c1", "no such page", ImageBlock("image/png", PNG), is_error=True),
        result("c2", ImageBlock("image/png", PNG)),
        user("so?"),
    )
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    messages = messages_of(asked)
    assert isinstance(messages, list)
    assert messages[-1] == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [text("no such page")],
                "is_error": True,
            },
            {"type": "tool_result", "tool_use_id": "c2", "content": [picture]},
            text("[belongs to the result of c1]"),
            picture,
            text("so?"),
        ],
    }


def test_a_kind_of_image_that_is_refused_is_left_out() -> None:
    drawing = ImageBlock("image/svg+xml", "data:image/svg+xml;base64,aGVsbG8=")
    assert content_of(user(drawing)) == [
        text("hi"),
        text("[image/svg+xml left out: model-1 cannot read it]"),
    ]


def test_thinking_goes_back_verbatim_to_its_own_model_only() -> None:
    answer = assistant(
        ReasoningBlock("", signature="s1", model=MODEL),
        ReasoningBlock("", data="d", model=MODEL),
        ReasoningBlock("foreign", signature="s2", model="model-2"),
        ReasoningBlock("open, without signature", model=MODEL),
        "done",
    )
    assert content_of(answer) == [
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "redacted_thinking", "data": "d"},
        text("done"),
    ]


def test_images_and_files_go_as_what_they_are() -> None:
    pdf = FileBlock("application/pdf", data_url="data:application/pdf;base64,aGVsbG8=", name="a.pdf")
    assert content_of(
        user(ImageBlock("image/png", PNG), FileBlock("text/plain", text="x", name="n"), pdf)
    ) == [
        text("hi"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "x"},
            "title": "n",
        },
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "aGVsbG8="},
            "title": "a.pdf",
        },
    ]


def test_a_model_without_eyes_reads_that_an_image_was_left_out() -> None:
    sent = json.dumps(
        messages_of(request(user(ImageBlock("image/png", PNG))), replace(PROFILE, images=False))
    )
    assert "image/png left out: model-1 cannot read it" in sent
    assert "base64" not in sent


@pytest.mark.parametrize(
    "url", ["", "https://example.com/a.png", "data:image/png,raw", "data:image/png;base64,ä"]
)
def test_an_image_that_is_no_data_url_is_refused(url: str) -> None:
    with pytest.raises(IllegalRequest, match="data URL"):
        encode(request(user(ImageBlock("image/png", url))), PROFILE)


@pytest.mark.parametrize(
    ("choice", "want"),
    [(ToolChoice.ANY, {"type": "any"}), (ToolChoice.NONE, {"type": "none"}), (ToolChoice.AUTO, None)],
)
def test_tools_go_with_the_choice(choice: ToolChoice, want: JsonValue) -> None:
    body = encode(replace(request(user("hi"), tools=(READ,)), tool_choice=choice), PROFILE)
    assert body["tools"] == [
        {"name": "read", "description": "Reads a page.", "input_schema": READ.input_schema}
    ]
    assert body.get("tool_choice") == want


def test_no_tools_are_sent_to_a_model_without_them() -> None:
    asked = replace(request(user("hi"), tools=(READ,)), tool_choice=ToolChoice.ANY)
    assert not {"tools", "tool_choice"} & set(encode(asked, replace(PROFILE, tools=False)))


def test_an_answer_by_schema_needs_a_provider_that_holds_it() -> None:
    asked = request(user("hi"), output=SCHEMA)
    want = {"format": {"type": "json_schema", "schema": SCHEMA.schema}}
    assert encode(asked, PROFILE)["output_config"] == want
    with pytest.raises(IllegalRequest, match="record"):
        encode(asked, replace(PROFILE, structured_output=False))


@pytest.mark.parametrize(
    "message",
    [
        user(""),
        assistant(),
        assistant(ReasoningBlock("foreign", signature="s", model="model-2")),
        Message(Role.TOOL, "x"),
        Message(Role.ASSISTANT, (ImageBlock("image/png", PNG),)),
        Message(Role.USER, (ReasoningBlock("x"),)),
    ],
)
def test_what_the_format_cannot_say_is_refused(message: Message) -> None:
    with pytest.raises(IllegalRequest, match="message 1"):
        encode(request(user("hi"), message), PROFILE)


def test_a_request_is_not_changed_by_being_encoded() -> None:
    before = repr(EVERYTHING)
    assert encode(EVERYTHING, PROFILE) == encode(EVERYTHING, PROFILE)
    assert repr(EVERYTHING) == before
