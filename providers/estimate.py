"""Tokens without a tokenizer: characters divided by three, as UTF-16 units.

Two measures that must not be mixed. `estimate_text` and `estimate_message`
count a CJK character as two, because a tokenizer makes more of it than of a
letter; budgets use these. `estimate_unweighted` is the plain measure by which
the size of a whole conversation is told.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from pydantic import JsonValue

from providers.model import (
    Block,
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolSpec,
)

_CJK = re.compile("[\u4e00-\u9fff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# Providers count a picture by its size in pixels, which a data URL does not tell
# without decoding; this is what the largest one that they do not shrink costs.
PICTURE_TOKENS = 1_600
# A scanned or typeset page is some 50 to 100 kB and costs 1,500 to 3,000 tokens.
_DOCUMENT_BYTES_PER_TOKEN = 40


def utf16_units(text: str) -> int:
    """The length of a text as ECMAScript tells it: a character beyond U+FFFF counts as two."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _thirds(units: int) -> int:
    return -(-units // 3)


def _weighted_units(text: str) -> int:
    if text.isascii():
        return len(text)
    return utf16_units(text) + len(_CJK.findall(text))


def estimate_text(text: str) -> int:
    """Tokens of a text, rounded up; a CJK character (U+4E00 to U+9FFF) counts as two."""
    return _thirds(_weighted_units(text))


def estimate_message(message: Message) -> int:
    """Tokens of one message: its texts, calls, pictures and documents."""
    units = sum(_weighted_units(text) for text in message_texts(message))
    return _thirds(units) + attachment_tokens(message)


def estimate_tools(tools: tuple[ToolSpec, ...]) -> int:
    """Tokens of tool definitions: name, description and schema of each."""
    return sum(_thirds(_weighted_units(tool_text(tool))) for tool in tools)


def estimate_unweighted(messages: Iterable[Message]) -> int:
    """Sum over messages of a third of the characters, each rounded up, nothing counted twice.

    The texts of a message are joined by an empty line; ids do not count.
    """
    return sum(_thirds(_plain_units(message)) for message in messages)


def _plain_units(message: Message) -> int:
    said = "\n\n".join(text for text in content_texts(message) if text)
    return utf16_units(said) + sum(utf16_units(call_text(call)) for call in message.tool_calls)


def content_texts(message: Message) -> list[str]:
    """The texts of a message's content, in order, reasoning and text files included."""
    if message.content is None:
        return []
    if isinstance(message.content, str):
        return [message.content]
    return [_block_text(block) for block in message.content]


def _block_text(block: Block) -> str:
    match block:
        case TextBlock(text):
            return text
        case ReasoningBlock(text, data=data):
            return text or data or ""
        case FileBlock(text=text):
            return text or ""
        case ImageBlock():
            return ""
        case _:
            assert_never(block)


def message_texts(message: Message) -> list[str]:
    """Everything of a message that becomes tokens as text: content, call names, arguments."""
    return [*content_texts(message), *(call_text(call) for call in message.tool_calls)]


def call_text(call: ToolCall) -> str:
    """A call's name and its arguments as compact JSON; no arguments are an empty object."""
    return call.name + ecma_json({} if call.input is None else call.input)


def tool_text(tool: ToolSpec) -> str:
    """A tool definition as one text."""
    return f"{tool.name}\n{tool.description}\n{ecma_json(tool.input_schema)}"


def attachment_tokens(message: Message) -> int:
    """Tokens of what is not text: pictures and documents, by a rule of thumb."""
    if message.content is None or isinstance(message.content, str):
        return 0
    return sum(_block_attachment_tokens(block) for block in message.content)


def _block_attachment_tokens(block: Block) -> int:
    match block:
        case ImageBlock():
            return PICTURE_TOKENS
        case FileBlock(text=None, data_url=str(data_url)):
            n_bytes = len(data_url) * 3 // 4
            return max(PICTURE_TOKENS, n_bytes // _DOCUMENT_BYTES_PER_TOKEN)
        case TextBlock() | ReasoningBlock() | FileBlock():
            return 0
        case _:
            assert_never(block)


def ecma_json(value: JsonValue) -> str:
    """Compact JSON exactly as ECMAScript's `JSON.stringify` writes it, but for the order of numeric keys.

    Works off a stack of its own: a model may nest arguments deeper than Python recurses.
    """
    parts: list[str] = []
    todo: list[JsonValue | _Verbatim] = [value]
    while todo:
        item = todo.pop()
        match item:
            case _Verbatim(text):
                parts.append(text)
            case list():
                todo.extend(reversed(_between("[", [[child] for child in item], "]")))
            case dict():
                members = [[_Verbatim(_ecma_string(key) + ":"), child] for key, child in item.items()]
                todo.extend(reversed(_between("{", members, "}")))
            case _:
                parts.append(_ecma_scalar(item))
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Verbatim:
    text: str


def _between(
    left: str, members: Sequence[Sequence[JsonValue | _Verbatim]], right: str
) -> list[JsonValue | _Verbatim]:
    row: list[JsonValue | _Verbatim] = [_Verbatim(left)]
    for index, member in enumerate(members):
        row.extend([_Verbatim(","), *member] if index else member)
    return [*row, _Verbatim(right)]


def _ecma_scalar(value: str | bool | int | float | None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return ecma_number(value)
        case str():
            return _ecma_string(value)
        case _:
            assert_never(value)


def _ecma_string(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


def ecma_number(value: float) -> str:
    """A number as ECMAScript prints it: always as a double, `1e-7`, `100000`, `1e+21`."""
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    if double == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(double)).normalize().as_tuple()
    return ("-" if sign else "") + _ecma_digits("".join(map(str, digits)), int(exponent))


def _ecma_digits(digits: str, exponent: int) -> str:
    """`digits` times ten to the `exponent`, by the rules of Number::toString."""
    point = len(digits) + exponent
    if len(digits) <= point <= 21:
        return digits + "0" * exponent
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
