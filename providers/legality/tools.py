"""The tools that a request offers, which its caller has to see to."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from providers.legality.finding import Finding, Found
from providers.model import Dialect, ModelProfile, Request

MAX_OPENAI_TOOLS = 128
MAX_CHAT_DESCRIPTION = 1_024
_NAMES = {
    Dialect.ANTHROPIC: re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    Dialect.OPENAI_CHAT: re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    Dialect.OPENAI_RESPONSES: re.compile(r"[a-zA-Z0-9_-]{1,128}"),
}
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_NOT_ON_TOP = {
    Dialect.ANTHROPIC: ("oneOf", "anyOf", "allOf"),
    Dialect.OPENAI_CHAT: ("oneOf", "anyOf", "allOf", "enum", "not"),
    Dialect.OPENAI_RESPONSES: ("oneOf", "anyOf", "allOf", "enum", "not"),
}


def tool_names(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "Tool names must be unique"; all: 64 or 128 letters, digits, `_`, `-` [docs, sdk].

    A name in a call of the history is another matter: models call what no
    tool can be named, and the encoders write that so that it may be sent.
    """
    if not profile.tools:
        return
    for name, n_times in Counter(tool.name for tool in request.tools).items():
        if n_times > 1:
            yield Finding("tool_name_twice", None, f"{n_times} tools are called {name!r}", "request")
        if not _NAMES[dialect].fullmatch(name):
            yield Finding("tool_name", None, f"the tool name {name!r} has a form that is refused", "request")


def number_of_tools(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """OpenAI: "Invalid 'tools': array too long. Expected an array with maximum length 128"."""
    if profile.tools and dialect is not Dialect.ANTHROPIC and len(request.tools) > MAX_OPENAI_TOOLS:
        text = f"{len(request.tools)} tools; {MAX_OPENAI_TOOLS} are allowed"
        yield Finding("too_many_tools", None, text, "request")


def tool_descriptions(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """OpenAI Chat: "function.description: string too long", beyond 1,024 characters."""
    if not profile.tools or dialect is not Dialect.OPENAI_CHAT:
        return
    for tool in request.tools:
        if len(tool.description) > MAX_CHAT_DESCRIPTION:
            text = f"the description of {tool.name!r} has {len(tool.description):,} characters"
            yield Finding(
                "tool_description", None, f"{text}; {MAX_CHAT_DESCRIPTION:,} are allowed", "request"
            )


def tool_schemas(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """The input schema of a tool is a JSON schema of type object, without alternatives on top [sdk].

    Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top
    level". OpenAI: "schema must have type 'object' and not have 'oneOf'/
    'anyOf'/'allOf'/'enum'/'not' at the top level".
    """
    if not profile.tools:
        return
    for tool in request.tools:
        if tool.input_schema.get("type") != "object":
            text = f"the input schema of {tool.name!r} is not of type object"
            yield Finding("tool_schema", None, text, "request")
        for key in _NOT_ON_TOP[dialect]:
            if key in tool.input_schema:
                text = f"the input schema of {tool.name!r} has {key} at its top"
                yield Finding("tool_schema_top", None, text, "request")


def tool_properties(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", at the top level."""
    if not profile.tools or dialect is not Dialect.ANTHROPIC:
        return
    for tool in request.tools:
        properties = tool.input_schema.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            if not _PROPERTY.fullmatch(name):
                text = f"the argument name {name!r} of {tool.name!r} has a form that is refused"
                yield Finding("tool_property", None, text, "request")


def tool_arrays(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """OpenAI: "Invalid schema for function …: array schema missing items"."""
    if not profile.tools or dialect is Dialect.ANTHROPIC:
        return
    for tool in request.tools:
        if any(_is_bare_array(schema) for schema in subschemas(tool.input_schema)):
            text = f"the input schema of {tool.name!r} has an array without items"
            yield Finding("tool_array", None, text, "request")


def _is_bare_array(schema: Mapping[str, JsonValue]) -> bool:
    kind = schema.get("type")
    is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
    return is_array and "items" not in schema and "prefixItems" not in schema


_MAPS = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset({"items", "additionalProperties", "not", "if", "then", "else"})


def subschemas(schema: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """The schema and all schemas in it; what only looks like one (a default, an enum) is none."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        if key in _SINGLE:
            yield from subschemas(value)
        elif key in _MAPS and isinstance(value, dict):
            for part in value.values():
                yield from subschemas(part)
        elif key in _LISTS and isinstance(value, list):
            for part in value:
                yield from subschemas(part)
