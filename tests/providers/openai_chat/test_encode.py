import json
from dataclasses import replace

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import JsonValue, TypeAdapter

from providers.encoding import safe_id
from providers.errors import IllegalRequest
from providers.model import (
    FileBlock,
    ImageBlock,
    Message,
    ModelProfile,
    OutputSchema,
    ReasoningBlock,
    Request,
    Role,
    ToolCall,
    ToolChoice,
)
from providers.openai_chat import encode
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

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"page": "1"}'}}


def messages_of(asked: Request, profile: ModelProfile = PROFILE) -> list[JsonValue]:
    messages = encode(asked, profile)["messages"]
    assert isinstance(messages, list)
    return messages


def sent(message: Message) -> JsonValue:
    """One message behind a user's, as it goes out."""
    return messages_of(request(user("hi"), message))[1]


def test_a_body_is_what_the_official_types_allow() -> None:
    body = encode(EVERYTHING, PROFILE)
    assert read_whole(TypeAdapter(CompletionCreateParamsStreaming).validate_python(body, strict=True)) == body


def test_a_small_request_is_exactly_this() -> None:
    assert encode(request(system("Be short."), user("hi")), PROFILE) == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "hi"}],
        "max_tokens": 8_000,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_field_and_role_names_come_from_the_profile() -> None:
    profile = replace(
        PROFILE, max_tokens_field="max_completion_tokens", system_role="developer", repeat_penalty=1.1
    )
    body = encode(replace(request(system("a"), user("hi")), max_output_tokens=7), profile)
    assert body["max_completion_tokens"] == 7
    assert "max_tokens" not in body
    assert body["repeat_penalty"] == 1.1
    assert body["messages"] == [{"role": "developer", "content": "a"}, {"role": "user", "content": "hi"}]


def test_leading_system_messages_are_one() -> None:
    assert messages_of(request(system("a"), system("b"), user("hi")))[0] == {
        "role": "system",
        "content": "a\n\nb",
    }


def test_a_system_message_later_on_needs_a_model_that_takes_it() -> None:
    asked = request(user("hi"), system("now be brief"))
    with pytest.raises(IllegalRequest, match="message 1"):
        encode(asked, PROFILE)
    profile = replace(PROFILE, mid_conversation_system=True)
    assert messages_of(asked, profile)[1] == {"role": "system", "content": "now be brief"}


def test_calls_carry_their_arguments_as_text_beside_null_content() -> None:
    assert sent(assistant(calls=(call("c1"),))) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
    }
    assert sent(assistant("", calls=(call("c1"),))) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
    }
    assert sent(assistant("I look.", calls=(call("c1"),))) == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [CALL],
    }


def test_each_result_is_a_message_and_a_failure_is_said_in_words() -> None:
    asked = request(
        user("hi"),
        assistant(calls=(call("c1"), call("c2"))),
        result("c1", "a", "b"),
        result("c2", "gone", is_error=True),
    )
    assert messages_of(asked)[2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "a\nb"},
        {"role": "tool", "tool_call_id": "c2", "content": "Error: gone"},
    ]


def test_images_of_results_follow_behind_the_last_result() -> None:
    image = ImageBlock("image/png", PNG)
    asked = request(
        user("hi"),
        assistant(calls=(call("c1"), call("c2"))),
        result("c1", image),
        result("c2", "x"),
        user("so?"),
    )
    assert messages_of(asked)[2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "tool", "tool_call_id": "c2", "content": "x"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[belongs to the result of c1]"},
                {"type": "image_url", "image_url": {"url": PNG}},
            ],
        },
        {"role": "user", "content": "so?"},
    ]


def test_user_text_is_plain_and_images_make_it_parts() -> None:
    assert sent(user("a", FileBlock("text/plain", text="x", name="n"))) == {
        "role": "user",
        "content": "a\n[file n]\nx",
    }
    assert sent(user("a", ImageBlock("image/png", PNG))) == {
        "role": "user",
        "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": PNG}}],
    }


def test_a_model_without_eyes_reads_that_an_image_was_left_out() -> None:
    asked = request(user(ImageBlock("image/png", PNG)))
    left_out = messages_of(asked, replace(PROFILE, images=False))
    assert left_out == [{"role": "user", "content": "[image/png left out: model-1 cannot read it]"}]


def test_open_reasoning_goes_back_only_with_calls_and_only_to_its_model() -> None:
    own, foreign = ReasoningBlock("own", model=MODEL), ReasoningBlock("foreign", model="model-2")
    signed = ReasoningBlock("signed", signature="s", model=MODEL)
    answer = assistant(own, foreign, signed, "text", calls=(call("c1"),))
    wire = sent(answer)
    assert isinstance(wire, dict)
    assert wire["reasoning_content"] == "own"
    assert sent(assistant(own, "text")) == {"role": "assistant", "content": "text"}


def test_an_id_that_is_too_long_is_shortened_in_call_result_and_picture() -> None:
    long = "call_" + "x" * 60
    asked = request(
        user("hi"), assistant(calls=(call(long),)), result(long, "a", ImageBlock("image/png", PNG))
    )
    sent = json.dumps(messages_of(asked))
    short = safe_id(long, limit=40, takes_any=True)
    assert long not in sent
    assert f'"id": "{short}"' in sent
    assert f'"tool_call_id": "{short}"' in sent
    assert f"result of {short}]" in sent


def test_an_id_that_its_server_reads_goes_back_as_it_came() -> None:
    asked = request(user("hi"), assistant(calls=(call("functions.read:0"),)), result("functions.read:0", "a"))
    assert json.dumps(messages_of(asked)).count('"functions.read:0"') == 2


def test_a_kind_of_image_that_is_refused_is_left_out() -> None:
    drawing = ImageBlock("image/svg+xml", "data:image/svg+xml;base64,aGVsbG8=")
    assert sent(user(drawing)) == {
        "role": "user",
        "content": "[image/svg+xml left out: model-1 cannot read it]",
    }


OPTIONAL: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "is_strict"),
    [
        (SCHEMA.schema, True),
        (OPTIONAL | {"required": ["b", "a"]}, True),
        (OPTIONAL, False),
        ({"type": "object", "properties": {}}, False),
        (SCHEMA.schema | {"$defs": {"Inner": OPTIONAL}}, False),
        (SCHEMA.schema | {"anyOf": [OPTIONAL]}, False),
    ],
)
def test_only_a_schema_without_optional_fields_is_sent_as_strict(
    schema: dict[str, JsonValue], is_strict: bool
) -> None:
    body = encode(request(user("hi"), output=OutputSchema("record", schema)), PROFILE)
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "record", "schema": schema, "strict": is_strict},
    }


def test_a_call_of_no_possible_tool_goes_back_with_a_legal_name() -> None:
    wire = json.dumps(sent(assistant(calls=(ToolCall("c1", "no such tool!", [1]),))))
    assert '"name": "no_such_tool_", "arguments": "{}"' in wire


@pytest.mark.parametrize(
    ("choice", "want"), [(ToolChoice.ANY, "required"), (ToolChoice.NONE, "none"), (ToolChoice.AUTO, None)]
)
def test_tools_go_with_the_choice(choice: ToolChoice, want: JsonValue) -> None:
    body = encode(replace(request(user("hi"), tools=(READ,)), tool_choice=choice), PROFILE)
    function = {"name": "read", "description": "Reads a page.", "parameters": READ.input_schema}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert body.get("tool_choice") == want


def test_no_tools_are_sent_to_a_model_without_them() -> None:
    asked = replace(request(user("hi"), tools=(READ,)), tool_choice=ToolChoice.ANY)
    assert not {"tools", "tool_choice"} & set(encode(asked, replace(PROFILE, tools=False)))


def test_an_answer_by_schema_needs_a_provider_that_holds_it() -> None:
    asked = request(user("hi"), output=SCHEMA)
    assert encode(asked, PROFILE)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "record", "schema": SCHEMA.schema, "strict": True},
    }
    with pytest.raises(IllegalRequest, match="record"):
        encode(asked, replace(PROFILE, structured_output=False))


@pytest.mark.parametrize(
    "message",
    [
        user(""),
        Message(Role.TOOL, "x"),
        Message(Role.ASSISTANT, (ImageBlock("image/png", PNG),)),
        Message(Role.USER, (ReasoningBlock("x"),)),
    ],
)
def test_what_the_format_cannot_say_is_refused(message: Message) -> None:
    with pytest.raises(IllegalRequest, match="message 1"):
        encode(request(user("hi"), message), PROFILE)
