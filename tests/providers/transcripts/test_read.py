"""What a document is, and whose format it is in."""

import pytest
from pydantic import JsonValue

from providers.model import Dialect
from providers.transcripts import Body, Messages, Single, parts_of
from tests.providers.transcripts.reading import notes, transcript

_HI: JsonValue = {"role": "user", "content": "Hi"}
_A, _C, _R = Dialect.ANTHROPIC, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ([_HI], (_C, False)),
        ({"messages": [_HI]}, (_C, False)),
        ({"messages": [_HI], "model": "some-model", "max_tokens": 4}, (_C, False)),
        ({"messages": [_HI], "model": "claude-opus-5"}, (_A, True)),
        ({"messages": [_HI], "model": "gpt-5"}, (_C, True)),
        ({"messages": [_HI], "system": "S"}, (_A, True)),
        ({"messages": [_HI], "model": "claude-opus-5", "max_completion_tokens": 3}, (_C, True)),
        ({"messages": [_HI], "tools": [{"name": "a", "input_schema": {}}]}, (_A, True)),
        ({"messages": [_HI], "tools": [{"type": "function", "function": {}}]}, (_C, True)),
        ({"input": "Hi"}, (_R, True)),
        ({"input": []}, (_R, True)),
        ([_HI, {"role": "assistant", "content": [{"type": "tool_use"}]}], (_A, True)),
        ([_HI, {"role": "tool", "content": "x"}], (_C, True)),
        ([_HI, {"role": "assistant", "content": None, "tool_calls": []}], (_C, True)),
        ([_HI, {"type": "function_call", "call_id": "c"}], (_R, True)),
        ([{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}], (_R, True)),
        # As many marks of the one as of the other.
        ([{"role": "tool", "content": [{"type": "tool_use"}]}], (_C, False)),
        # A stray message of another tool does not change the format of the file.
        (
            {
                "messages": [{"role": "user", "content": [{"type": "tool_result"}] * 2}, {"role": "tool"}],
                "system": "S",
            },
            (_A, True),
        ),
    ],
)
def test_marks_tell_the_format(value: JsonValue, wanted: tuple[Dialect, bool]) -> None:
    read = transcript(value)
    assert (read.dialect, read.is_certain) == wanted


def test_only_a_body_that_names_its_model_is_a_request() -> None:
    assert transcript({"messages": [_HI], "model": "m"}).is_request
    assert not transcript({"messages": [_HI]}).is_request
    assert not transcript([_HI]).is_request


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ({"messages": []}, [Body]),
        ([], [Messages]),
        ([_HI], [Messages]),
        ([_HI, 3], [Messages]),
        ([{"messages": []}, {"messages": []}], [Body, Body]),
        ([{"messages": []}, _HI], [Messages]),
        ([{"messages": []}, 3], []),
        (_HI, [Single]),
        ({"type": "reasoning"}, [Single]),
        ({"custom_id": "a", "body": {"messages": []}}, [Body]),
        ({"custom_id": "a", "params": {"messages": []}}, [Body]),
        ({}, []),
        ({"type": ["reasoning"]}, []),
        (3, []),
        ([3], []),
        ([[_HI]], []),
        (None, []),
    ],
)
def test_documents_of_every_sort_are_told_apart(value: JsonValue, kinds: list[type]) -> None:
    assert [type(part) for part in parts_of(value, (0,))] == kinds


def test_a_batch_file_names_its_requests() -> None:
    read = transcript({"custom_id": "r-7", "params": {"messages": [_HI], "system": "S"}})
    assert read.name == "r-7"
    assert read.reading.messages[0].path == (0, "params", "system")


@pytest.mark.parametrize("messages", [3, "x", None, {"a": 1}])
def test_messages_that_are_no_list_are_told(messages: JsonValue) -> None:
    assert notes({"messages": messages}) == [("wrong_type", "messages", True)]


def test_a_chat_call_without_any_arguments_text_has_none() -> None:
    call: JsonValue = {"id": "c1", "type": "function", "function": {"name": "Look", "arguments": ""}}
    read = transcript({"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]})
    assert read.reading.messages[0].message.tool_calls[0].input == {}
    assert read.reading.notes == ()
