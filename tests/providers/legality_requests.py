"""Cases of the rules on a request as a whole: its tools, the answer that it asks for, its ends."""

from dataclasses import replace

from pydantic import JsonValue

from providers.model import OutputSchema, Request, ToolSpec
from tests.providers.legality_case import (
    ANTHROPIC,
    CHAT,
    OPENAI,
    PROFILE,
    RESPONSES,
    Case,
    answer,
    asked,
    system,
    user,
)

OBJECT: dict[str, JsonValue] = {"type": "object"}
CLOSED: dict[str, JsonValue] = {"type": "object", "properties": {}, "additionalProperties": False}


def _with_tools(*tools: ToolSpec) -> Request:
    return replace(asked(user()), tools=tools)


def _named(*names: str) -> Request:
    return _with_tools(*(ToolSpec(name, "", OBJECT) for name in names))


def _shaped(**more: JsonValue) -> Request:
    return _with_tools(ToolSpec("Read", "", OBJECT | more))


def _taking(**properties: JsonValue) -> Request:
    return _shaped(properties=properties)


def _answering(schema: dict[str, JsonValue], name: str = "result") -> Request:
    return replace(asked(user()), output=OutputSchema(name, schema))


def _limited(max_output_tokens: int) -> Request:
    return replace(asked(user()), max_output_tokens=max_output_tokens)


TOOLS = {
    "a name twice": Case("tool_name_twice", _named("Read", "Read"), _named("Read", "read")),
    "a name of two words": Case("tool_name", _named("Read me"), _named("Read_me-2")),
    "no name": Case("tool_name", _named(""), _named("R")),
    "a long name": Case("tool_name", _named("x" * 129), _named("x" * 64)),
    "a name that is long for chat": Case("tool_name", _named("x" * 128), _named("x" * 64), CHAT),
    "too many tools": Case(
        "too_many_tools",
        _named(*(f"t{n}" for n in range(129))),
        _named(*(f"t{n}" for n in range(128))),
        OPENAI,
    ),
    "a long description": Case(
        "tool_description",
        _with_tools(ToolSpec("Read", "x" * 1_025, OBJECT)),
        _with_tools(ToolSpec("Read", "x" * 1_024, OBJECT)),
        CHAT,
    ),
    "arguments that are a text": Case(
        "tool_schema",
        _with_tools(ToolSpec("Read", "", {"type": "string"})),
        _with_tools(ToolSpec("Read", "", OBJECT)),
    ),
    "arguments of two kinds": Case(
        "tool_schema_top", _shaped(anyOf=[OBJECT, OBJECT]), _taking(x={"anyOf": [OBJECT, OBJECT]})
    ),
    "arguments that are not": Case("tool_schema_top", _shaped(**{"not": {}}), _shaped(), OPENAI),
    "a name of an argument": Case(
        "tool_property", _taking(**{"filter[id]": {}}), _taking(filter_id={}), ANTHROPIC
    ),
    "a long name of an argument": Case(
        "tool_property", _taking(**{"x" * 65: {}}), _taking(**{"x" * 64: {}}), ANTHROPIC
    ),
    "an array of nothing": Case(
        "tool_array", _taking(x={"type": "array"}), _taking(x={"type": "array", "items": {}}), OPENAI
    ),
    "an array of nothing, deep down": Case(
        "tool_array",
        _taking(x={"anyOf": [{"type": ["array", "null"]}, {"type": "null"}]}),
        _taking(
            x={"anyOf": [{"type": "string", "default": {"type": "array"}}, {"enum": [{"type": "array"}]}]}
        ),
        OPENAI,
    ),
}

OUTPUT = {
    "an open object": Case(
        "output_open",
        _answering(CLOSED | {"properties": {"x": {"type": "array", "items": OBJECT}}}),
        _answering(CLOSED | {"properties": {"x": {"type": "array", "items": CLOSED}}}),
        ANTHROPIC,
    ),
    "an object open to texts": Case(
        "output_open",
        _answering(CLOSED | {"additionalProperties": {"type": "string"}}),
        _answering(CLOSED),
        ANTHROPIC,
    ),
    "no object": Case("output_root", _answering({"type": "string"}), _answering(CLOSED), OPENAI),
    "one of two objects": Case(
        "output_root",
        _answering(CLOSED | {"anyOf": [CLOSED]}),
        _answering(CLOSED | {"properties": {"x": {"anyOf": [CLOSED]}}}),
        OPENAI,
    ),
    "a schema's name": Case(
        "output_name", _answering(CLOSED, "a record"), _answering(CLOSED, "a_record"), OPENAI
    ),
    "a schema for a provider without": Case(
        "output_unsupported",
        _answering(CLOSED),
        asked(user()),
        profile=replace(PROFILE, structured_output=False),
    ),
    "a long answer": Case("output_limit", _limited(101), _limited(100)),
    "an answer of less than nothing": Case("output_limit", _limited(-1), _limited(0)),
}

WHOLE = {
    "nothing but system": Case(
        "empty_request", asked(system()), asked(system(), user()), ANTHROPIC | RESPONSES
    ),
    "an empty request": Case("empty_request", asked(), asked(user())),
    "an assistant first": Case(
        "first_role", asked(answer(), user()), asked(user(), answer(), user()), ANTHROPIC
    ),
    "an assistant last": Case(
        "assistant_last", asked(user(), answer()), asked(user(), answer(), user()), ANTHROPIC
    ),
    "too many messages": Case(
        "too_many_messages", asked(*(user(),) * 100_001), asked(*(user(),) * 100_000), ANTHROPIC
    ),
}
