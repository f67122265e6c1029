"""Which provider's format a list of messages is in.

Each format has marks that no other has; the one with most of them is taken.
A list without any (plain texts of users and assistants) is the same in all
formats, so it is read as one of them and not called certain.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from providers.model import Dialect
from providers.reading import JsonObject
from providers.transcripts.model import Item
from providers.transcripts.openai_responses import ITEM_TYPES

_A, _C, _R = Dialect.ANTHROPIC, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES

_BODY_KEYS = {
    **dict.fromkeys(
        ("system", "anthropic_version", "stop_sequences", "thinking", "top_k", "mcp_servers"), _A
    ),
    **dict.fromkeys(("max_completion_tokens", "response_format", "stream_options", "logit_bias", "n"), _C),
    **dict.fromkeys(("frequency_penalty", "presence_penalty", "functions", "function_call"), _C),
    **dict.fromkeys(("input", "instructions", "previous_response_id", "max_output_tokens", "include"), _R),
}
_MESSAGE_KEYS = dict.fromkeys(
    ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal"), _C
)
_ROLES = {"tool": _C, "function": _C}
BLOCK_TYPES = {
    **dict.fromkeys(("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "image"), _A),
    **dict.fromkeys(("server_tool_use", "web_search_tool_result", "search_result"), _A),
    **dict.fromkeys(("image_url", "input_audio", "file"), _C),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), _R),
}
_MODELS = {"claude": _A, "gpt-": _C, "o1": _C, "o3": _C, "o4": _C}


def format_of(items: Sequence[Item], body: JsonObject) -> tuple[Dialect, bool]:
    """The format of these messages in this body (empty where there is none), and whether it is certain."""
    if "input" in body and "messages" not in body:
        return _R, True
    votes = Counter(_marks(items, body))
    if "messages" in body:
        votes.pop(_R, None)
    ranking = votes.most_common(2)
    if ranking and (len(ranking) == 1 or ranking[0][1] > ranking[1][1]):
        return ranking[0][0], True
    return (ranking[0][0], False) if ranking else _by_model(body.get("model"))


def _by_model(model: JsonValue) -> tuple[Dialect, bool]:
    """Without any mark the name of the model tells, if it is one of a known family."""
    name = model if isinstance(model, str) else ""
    for beginning, dialect in _MODELS.items():
        if name.startswith(beginning):
            return dialect, True
    return _C, False


def _marks(items: Sequence[Item], body: JsonObject) -> Iterator[Dialect]:
    yield from (_BODY_KEYS[key] for key in body if key in _BODY_KEYS)
    if (tool := _tool_form(body.get("tools"))) is not None:
        yield tool
    for _, value in items:
        if isinstance(value, dict):
            yield from _marks_of_message(value)


def _tool_form(tools: JsonValue) -> Dialect | None:
    first = tools[0] if isinstance(tools, list) and tools else None
    if not isinstance(first, dict):
        return None
    if "input_schema" in first:
        return _A
    return _C if "function" in first else _R if "parameters" in first else None


def _marks_of_message(message: JsonObject) -> Iterator[Dialect]:
    yield from (_MESSAGE_KEYS[key] for key in message if key in _MESSAGE_KEYS and message[key] is not None)
    role, kind = message.get("role"), message.get("type")
    if isinstance(role, str) and role in _ROLES:
        yield _ROLES[role]
    if isinstance(kind, str) and (kind in ITEM_TYPES or (kind == "message" and role is not None)):
        yield _R
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        block_type = block.get("type") if isinstance(block, dict) else None
        if isinstance(block_type, str) and block_type in BLOCK_TYPES:
            yield BLOCK_TYPES[block_type]
