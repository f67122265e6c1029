"""The request as a whole, which its caller has to see to."""

import re
from collections import Counter

from providers.legality.finding import Finding, Found, leading_system
from providers.model import Dialect, ModelProfile, Request, Role

MAX_ANTHROPIC_MESSAGES = 100_000
_TOOL_NAMES = {
    Dialect.ANTHROPIC: re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    Dialect.OPENAI_CHAT: re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    Dialect.OPENAI_RESPONSES: re.compile(r"[a-zA-Z0-9_-]{1,128}"),
}


def tool_names(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "Tool names must be unique"; all: 64 or 128 letters, digits, `_`, `-` [docs, sdk]."""
    if not profile.tools:
        return
    for name, n_times in Counter(tool.name for tool in request.tools).items():
        if n_times > 1:
            yield Finding("tool_name_twice", None, f"{n_times} tools are called {name!r}", "request")
        if not _TOOL_NAMES[dialect].fullmatch(name):
            yield Finding("tool_name", None, f"the tool name {name!r} has a form that is refused", "request")


def tool_schemas(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """The input schema of a tool is a JSON schema of type object (`input_schema`, `parameters`) [sdk]."""
    if not profile.tools:
        return
    for tool in request.tools:
        if tool.input_schema.get("type") != "object":
            text = f"the input schema of {tool.name!r} is not of type object"
            yield Finding("tool_schema", None, text, "request")


def number_of_messages(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: at most 100,000 messages in one request [docs]."""
    if dialect is Dialect.ANTHROPIC and len(request.messages) > MAX_ANTHROPIC_MESSAGES:
        text = f"{len(request.messages):,} messages; {MAX_ANTHROPIC_MESSAGES:,} are allowed"
        yield Finding("too_many_messages", None, text, "request")


def request_as_a_whole(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Not empty, a user first, no assistant last.

    All: "messages: at least one message is required". Anthropic: "first
    message must use the user role", and newer models refuse a final
    assistant message (a prefill).
    """
    spoken = request.messages[leading_system(request) :]
    if not spoken:
        yield Finding("empty_request", None, "there is no message but system messages", "request")
        return
    if dialect is Dialect.ANTHROPIC and spoken[0].role is not Role.USER:
        at = leading_system(request)
        yield Finding("first_role", at, f"a {spoken[0].role} message comes first, not a user's", "request")
    last = next((m for m in reversed(spoken) if m.role is not Role.SYSTEM), None)
    if last is not None and last.role is Role.ASSISTANT:
        at = len(request.messages) - 1
        yield Finding("assistant_last", at, "an assistant message comes last", "request")
