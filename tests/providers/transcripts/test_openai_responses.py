"""Items of Responses become messages: what one answer said in several items is one message again."""

import pytest
from pydantic import JsonValue

from providers.model import FileBlock, ImageBlock, Message, ReasoningBlock, Role, TextBlock, ToolCall
from tests.providers.transcripts.reading import notes, paths, transcript


def _body(*items: JsonValue, **fields: JsonValue) -> JsonValue:
    return {"model": "gpt-5", "input": list(items), **fields}


def _messages(value: JsonValue) -> list[Message]:
    return [read.message for read in transcript(value).reading.messages]


def _call(call_id: str, arguments: str = "{}") -> JsonValue:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": arguments}


def _output(call_id: str, output: JsonValue = "seen") -> JsonValue:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


_REASONING: JsonValue = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "sealed",
}


def test_the_items_of_an_answer_are_one_message() -> None:
    said: JsonValue = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "I look", "annotations": []}],
    }
    value = _body(
        {"role": "user", "content": "Hi"},
        _REASONING,
        said,
        _call("c1"),
        _call("c2"),
        _output("c1"),
        _output("c2"),
        instructions="S",
    )
    thought = ReasoningBlock("hm", data="sealed", item_id="rs_1")
    calls = (ToolCall("c1", "look", {}, after_block=2), ToolCall("c2", "look", {}, after_block=2))
    assert _messages(value) == [
        Message(Role.SYSTEM, "S"),
        Message(Role.USER, "Hi"),
        Message(Role.ASSISTANT, (thought, TextBlock("I look")), calls),
        Message(Role.TOOL, "seen", tool_call_id="c1"),
        Message(Role.TOOL, "seen", tool_call_id="c2"),
    ]
    assert paths(value) == ["instructions", "input[0]", "input[1]", "input[5]", "input[6]"]
    assert transcript(value).reading.messages[2].call_paths == ((0, "input", 3), (0, "input", 4))
    assert notes(value) == []


def test_a_user_between_calls_parts_them() -> None:
    value = _body(_call("c1"), {"role": "user", "content": "x"}, _call("c2"))
    assert [message.role for message in _messages(value)] == [Role.ASSISTANT, Role.USER, Role.ASSISTANT]


def test_an_input_may_be_a_text() -> None:
    value: JsonValue = {"model": "gpt-5", "input": "Hi"}
    assert _messages(value) == [Message(Role.USER, "Hi")]
    assert paths(value) == ["input"]


def test_arguments_that_are_no_json_stay_the_text_that_they_are() -> None:
    (message,) = _messages(_body(_call("c1", "{")))
    assert message.tool_calls[0].input == "{"
    assert notes(_body(_call("c1", "{"))) == [("arguments_text", "input[0].arguments", False)]


def test_parts_of_every_known_kind_are_read() -> None:
    parts: JsonValue = [
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": "https://example.org/x"},
        {"type": "input_image", "file_id": "f1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"},
        {"type": "refusal", "refusal": "no"},
    ]
    expected = (
        TextBlock("a"),
        ImageBlock("image/*", "https://example.org/x"),
        ImageBlock("image/*", "file_id:f1"),
        FileBlock("application/pdf", data_url="data:application/pdf;base64,AA", name="a.pdf"),
        TextBlock("no"),
    )
    assert _messages(_body({"role": "user", "content": parts}))[0].content == expected
    assert _messages(_body(_output("c1", parts)))[0].content == expected


def test_calls_of_custom_tools_have_their_text_as_argument() -> None:
    value = _body(
        {"type": "custom_tool_call", "call_id": "c1", "name": "run", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "a"},
    )
    assert _messages(value)[0].tool_calls[0].input == {"input": "ls"}
    assert _messages(value)[1] == Message(Role.TOOL, "a", tool_call_id="c1")


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ({"type": "web_search_call", "id": "ws_1"}, [("unknown_type", "input[0]", False)]),
        ({"type": "item_reference", "id": "x"}, [("kept_elsewhere", "input[0]", False)]),
        ({"type": "message", "role": "tool", "content": "x"}, [("unknown_role", "input[0]", True)]),
        ({"role": "user", "content": 3}, [("wrong_type", "input[0].content", True)]),
        ({"id": "x"}, [("missing_field", "input[0]", True)]),
        (3, [("wrong_type", "input[0]", True)]),
        ({"type": 7}, [("wrong_type", "input[0].type", True)]),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    item: JsonValue, wanted: list[tuple[str, str, bool]]
) -> None:
    assert notes(_body(item)) == wanted


def test_what_the_provider_keeps_is_told() -> None:
    value = _body(_output("c0"), previous_response_id="resp_1")
    assert notes(value) == [("kept_elsewhere", "previous_response_id", False)]


def test_items_that_are_not_known_stand_in_the_answer_until_their_output_ends_it() -> None:
    value = _body(
        _REASONING,
        {"type": "computer_call", "call_id": "c1"},
        {"type": "computer_call_output", "call_id": "c1"},
        {"type": "mcp_approval_request", "id": "m1"},
        {"type": "mcp_approval_response", "approval_request_id": "m1"},
    )
    thought = ReasoningBlock("hm", data="sealed", item_id="rs_1")
    assert _messages(value) == [
        Message(Role.ASSISTANT, (thought, TextBlock("[computer_call was here]"))),
        Message(Role.USER, (TextBlock("[computer_call_output was here]"),)),
        Message(Role.ASSISTANT, (TextBlock("[mcp_approval_request was here]"),)),
        Message(Role.USER, (TextBlock("[mcp_approval_response was here]"),)),
    ]
    assert paths(value) == ["input[0]", "input[2]", "input[3]", "input[4]"]


def test_what_goes_on_from_two_places_is_refused() -> None:
    value = _body({"role": "user", "content": "Hi"}, previous_response_id="resp_1", conversation="conv_1")
    told = transcript(value).reading.notes
    assert [(n.rule.value, n.is_refused, n.is_whole) for n in told] == [
        ("kept_elsewhere", False, False),
        ("kept_elsewhere", False, False),
        ("conflict", True, True),
    ]
    alone = _body({"role": "user", "content": "Hi"}, conversation="conv_1")
    assert notes(alone) == [("kept_elsewhere", "conversation", False)]


@pytest.mark.parametrize(
    ("role", "kind", "is_taken"),
    [
        ("user", "input_text", True),
        ("developer", "input_text", True),
        ("assistant", "output_text", True),
        ("assistant", "refusal", True),
        ("assistant", "input_text", False),
        ("user", "output_text", False),
        ("system", "refusal", False),
    ],
)
def test_parts_of_questions_and_answers_are_of_different_types(role: str, kind: str, is_taken: bool) -> None:
    part: JsonValue = {"type": kind, "refusal" if kind == "refusal" else "text": "x"}
    wanted = [] if is_taken else [("wrong_place", "input[0].content[0]", True)]
    assert notes(_body({"role": role, "content": [part]})) == wanted
