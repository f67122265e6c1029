"""Requests and profiles for the tests of wire formats."""

from collections.abc import Iterable, Mapping

from providers.model import (
    CacheMark,
    FileBlock,
    ImageBlock,
    Message,
    ModelProfile,
    OutputSchema,
    ReasoningBlock,
    Request,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)

MODEL = "model-1"
PROFILE = ModelProfile(MODEL, 200_000, 8_000, images=True, cache_marks=True)
PNG = "data:image/png;base64,aGVsbG8="
READ = ToolSpec("read", "Reads a page.", {"type": "object", "properties": {"page": {"type": "string"}}})
SCHEMA = OutputSchema("record", {"type": "object", "properties": {}, "additionalProperties": False})


def read_whole(value: object) -> object:
    """A validated value with its lazy iterables read to the end, which is when they are validated."""
    if isinstance(value, Mapping):
        return {key: read_whole(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [read_whole(item) for item in value]
    return value


def system(text: str, cache: CacheMark | None = None) -> Message:
    return Message(Role.SYSTEM, text, cache=cache)


def user(*blocks: TextBlock | ImageBlock | FileBlock | str, cache: CacheMark | None = None) -> Message:
    content = tuple(TextBlock(block) if isinstance(block, str) else block for block in blocks)
    return Message(Role.USER, content, cache=cache)


def assistant(
    *blocks: TextBlock | ReasoningBlock | str,
    calls: tuple[ToolCall, ...] = (),
    cache: CacheMark | None = None,
) -> Message:
    content = tuple(TextBlock(block) if isinstance(block, str) else block for block in blocks)
    return Message(Role.ASSISTANT, content or None, tool_calls=calls, cache=cache)


def result(call_id: str, *blocks: TextBlock | ImageBlock | str, is_error: bool | None = None) -> Message:
    content = tuple(TextBlock(block) if isinstance(block, str) else block for block in blocks)
    return Message(Role.TOOL, content, tool_call_id=call_id, tool_name="read", is_error=is_error)


def call(call_id: str, page: str = "1", after_block: int | None = None) -> ToolCall:
    return ToolCall(call_id, "read", {"page": page}, after_block=after_block)


def request(
    *messages: Message, tools: tuple[ToolSpec, ...] = (), output: OutputSchema | None = None
) -> Request:
    return Request(MODEL, messages, tools=tools, output=output)


EVERYTHING = request(
    system("You are a guide.", CacheMark("1h")),
    system("Today is Monday.", CacheMark()),
    user(
        "Look at this.", ImageBlock("image/png", PNG), FileBlock("text/plain", text="notes", name="notes.txt")
    ),
    assistant(
        ReasoningBlock("hm", signature="sig", model=MODEL),
        "I look.",
        ReasoningBlock("", data="opaque", model=MODEL),
        calls=(call("c1", after_block=2), call("c2")),
    ),
    result("c1", "page one"),
    result("c2", "no such page", ImageBlock("image/png", PNG), is_error=True),
    user("And now?", cache=CacheMark()),
    assistant("Done."),
    user("Thanks.", FileBlock("application/pdf", data_url="data:application/pdf;base64,aGVsbG8=")),
    tools=(READ,),
    output=SCHEMA,
)
