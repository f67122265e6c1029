import json
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue

from providers.estimate import (
    PICTURE_TOKENS,
    ecma_json,
    ecma_number,
    estimate_message,
    estimate_text,
    estimate_tools,
    estimate_unweighted,
    utf16_units,
)
from providers.model import (
    Block,
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)


class _Call(BaseModel):
    id: str
    name: str
    input: JsonValue


class _Block(BaseModel):
    type: Literal["text", "reasoning"]
    text: str

    def block(self) -> Block:
        return TextBlock(self.text) if self.type == "text" else ReasoningBlock(self.text)


class _Message(BaseModel):
    role: Role
    content: str | list[_Block] | None = None
    tool_calls: list[_Call] = []

    def message(self) -> Message:
        content = self.content
        blocks = tuple(b.block() for b in content) if isinstance(content, list) else content
        calls = tuple(ToolCall(call.id, call.name, call.input) for call in self.tool_calls)
        return Message(self.role, blocks, calls)


class _Input(BaseModel):
    text: str | None = None
    messages: list[_Message] = []


class _Vector(BaseModel):
    name: str
    kind: Literal["text", "messages"]
    input: _Input
    expected: dict[str, int]

    def estimate(self) -> int:
        if self.kind == "text":
            return estimate_text(self.input.text or "")
        return estimate_unweighted(message.message() for message in self.input.messages)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("aaa", 1),
        ("aaaa", 2),
        ("中中中", 2),
        ("一", 1),
        ("鿿鿿", 2),
        ("䷿ꀀ", 1),
        ("ひらがな", 2),
        ("😀", 1),
        ("😀😀", 2),
        ("𠀀𠀀𠀀", 2),
        ("\ud800\ud800\ud800\ud800", 2),
    ],
)
def test_a_text_is_a_third_of_its_units_with_cjk_counted_twice(text: str, tokens: int) -> None:
    assert estimate_text(text) == tokens


@given(st.text())
def test_units_are_what_an_encoder_to_utf_16_makes(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le")) // 2


@given(st.text(), st.text())
def test_a_longer_text_never_has_fewer_tokens(text: str, more: str) -> None:
    assert estimate_text(text + more) >= estimate_text(text)


def test_every_recorded_estimate_is_reproduced() -> None:
    path = Path(__file__).parents[1] / "vectors" / "estimate.jsonl"
    recorded = [_Vector.model_validate_json(line) for line in path.read_text("utf-8").split("\n") if line]
    assert len(recorded) > 90
    wrong = [vector.name for vector in recorded if vector.estimate() != vector.expected["tokens"]]
    assert wrong == []


def test_the_size_of_a_conversation_counts_no_character_twice() -> None:
    assert estimate_unweighted([Message(Role.USER, "中文字")]) == 1
    assert estimate_message(Message(Role.USER, "中文字")) == 2


def test_each_message_of_a_conversation_is_rounded_up() -> None:
    assert estimate_unweighted([Message(Role.USER, "a"), Message(Role.ASSISTANT, "b")]) == 2


def test_blocks_are_joined_by_an_empty_line_and_empty_ones_left_out() -> None:
    blocks = (ReasoningBlock("hhhh"), TextBlock(""), TextBlock("a"))
    assert estimate_unweighted([Message(Role.ASSISTANT, blocks)]) == 3


def test_no_arguments_count_like_an_empty_object() -> None:
    def calling(value: JsonValue) -> Message:
        return Message(Role.ASSISTANT, None, (ToolCall("c1", "tool_x", value),))

    assert estimate_unweighted([calling(None)]) == estimate_unweighted([calling({})]) == 3


def test_call_ids_do_not_count() -> None:
    short = Message(Role.ASSISTANT, "a", (ToolCall("c", "t", {}),))
    long = Message(Role.ASSISTANT, "a", (ToolCall("c" * 500, "t", {}),))
    assert estimate_message(short) == estimate_message(long)


def test_a_picture_costs_the_same_however_long_its_data_are() -> None:
    small = Message(Role.USER, (ImageBlock("image/png", "data:image/png;base64,AA"),))
    large = Message(Role.USER, (ImageBlock("image/png", "data:image/png;base64," + "A" * 1_000_000),))
    assert estimate_message(small) == estimate_message(large) == PICTURE_TOKENS


def test_a_document_costs_more_the_larger_it_is_but_not_its_characters() -> None:
    large = Message(Role.USER, (FileBlock("application/pdf", data_url="A" * 4_000_000),))
    assert PICTURE_TOKENS < estimate_message(large) < 4_000_000 // 10


def test_a_text_file_counts_as_its_text() -> None:
    assert estimate_message(Message(Role.USER, (FileBlock("text/plain", text="aaaa"),))) == 2


def test_tools_count_name_description_and_schema() -> None:
    bare = ToolSpec("t", "", {})
    full = ToolSpec("t", "x" * 30, {"type": "object"})
    assert estimate_tools((full,)) > estimate_tools((bare,)) + 10
    assert estimate_tools(()) == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (1e-6, "0.000001"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (100000.0, "100000"),
        (-0.5, "-0.5"),
        (-0.0, "0"),
        (123.456, "123.456"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (12345678901234567890, "12345678901234567000"),
        (10**400, "null"),
        (float("nan"), "null"),
        (float("inf"), "null"),
    ],
)
def test_numbers_are_printed_as_ecmascript_does(number: float, text: str) -> None:
    assert ecma_number(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_reads_back_as_itself(number: float) -> None:
    assert float(ecma_number(number)) == number


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_values)
def test_json_reads_back_as_the_value(value: JsonValue) -> None:
    assert json.loads(ecma_json(value)) == value


def test_json_is_compact_and_leaves_letters_as_they_are() -> None:
    assert ecma_json({"q": ["中文", True, None, 'a"\n\x01\u2028']}) == (
        '{"q":["中文",true,null,"a\\"\\n\\u0001\u2028"]}'
    )


def test_half_a_surrogate_pair_is_escaped() -> None:
    assert ecma_json("\ud800") == '"\\ud800"'


def test_arguments_may_be_nested_deeper_than_python_recurses() -> None:
    deep: JsonValue = 1
    for _ in range(20_000):
        deep = [deep]
    assert len(ecma_json(deep)) == 40_001
