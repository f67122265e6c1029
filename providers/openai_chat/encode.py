"""A request as the body of Chat Completions; pure."""

import json
from collections.abc import Iterator
from typing import Final, TypeAlias, assert_never

from pydantic import JsonValue

from providers.encoding import (
    blocks_of,
    can_be_strict,
    can_see,
    check_output,
    check_system_place,
    data_of,
    leading_system,
    left_out,
    safe_id,
    safe_name,
    texts_of,
)
from providers.errors import IllegalRequest
from providers.model import (
    Block,
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
    ToolChoice,
    text_of,
)

WireObject: TypeAlias = dict[str, JsonValue]

# "string too long. Expected a string with maximum length 40" for ids, 64 for names.
_MAX_CALL_ID: Final = 40
_MAX_NAME: Final = 64
_CHOICES = {ToolChoice.ANY: "required", ToolChoice.NONE: "none"}


def encode(request: Request, profile: ModelProfile) -> WireObject:
    """The body of a streaming request.

    Raises:
        IllegalRequest: something that the format or the model cannot take.
    """
    check_output(request, profile)
    body: WireObject = {
        "model": request.model,
        "messages": [*_leading(request, profile), *_wire_messages(request, profile)],
        profile.max_tokens_field: request.max_output_tokens or profile.max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools and profile.tools:
        body |= _tools(request)
    if request.output is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": _output(request.output)}
    if profile.repeat_penalty is not None:
        body["repeat_penalty"] = profile.repeat_penalty
    return body


def _tools(request: Request) -> WireObject:
    tools: list[JsonValue] = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in request.tools
    ]
    if request.tool_choice is ToolChoice.AUTO:
        return {"tools": tools}
    return {"tools": tools, "tool_choice": _CHOICES[request.tool_choice]}


def _output(output: OutputSchema) -> WireObject:
    """Strict where the schema allows it; one with optional fields or open objects would be refused so."""
    return {"name": output.name, "schema": output.schema, "strict": can_be_strict(output.schema)}


def _leading(request: Request, profile: ModelProfile) -> list[JsonValue]:
    """The leading system messages as one: the templates of some servers take only one."""
    n_leading = leading_system(request.messages)
    texts = [text for message in request.messages[:n_leading] for text in _system_texts(message)]
    return [{"role": profile.system_role, "content": "\n\n".join(texts)}] if texts else []


def _system_texts(message: Message) -> list[str]:
    return texts_of(message.content, "a system message")


def _wire_messages(request: Request, profile: ModelProfile) -> Iterator[JsonValue]:
    n_leading = leading_system(request.messages)
    pictures = _Pictures()
    for index, message in enumerate(request.messages[n_leading:], n_leading):
        if message.role is not Role.TOOL:
            yield from pictures.flush()
        match message.role:
            case Role.SYSTEM:
                check_system_place(profile, index)
                yield {"role": profile.system_role, "content": "\n\n".join(_system_texts(message))}
            case Role.USER:
                yield {"role": "user", "content": _user_content(message, profile, index)}
            case Role.ASSISTANT:
                yield _assistant(message, request.model, index)
            case Role.TOOL:
                yield _result(message, profile, index, pictures)
            case _:
                assert_never(message.role)
    yield from pictures.flush()


class _Pictures:
    """Images and files of tool results: a tool message holds text only, so they follow as a user message."""

    def __init__(self) -> None:
        self._parts: list[JsonValue] = []

    def add(self, call_id: str, part: WireObject) -> None:
        self._parts += [{"type": "text", "text": f"[belongs to the result of {call_id}]"}, part]

    def flush(self) -> Iterator[JsonValue]:
        parts, self._parts = self._parts, []
        if parts:
            yield {"role": "user", "content": parts}


def _user_content(message: Message, profile: ModelProfile, index: int) -> JsonValue:
    """A plain string where there is only text: not every server takes parts."""
    parts = [_part(block, profile, index) for block in blocks_of(message.content)]
    if not parts:
        raise IllegalRequest(f"message {index} (user) is empty")
    if all(part["type"] == "text" for part in parts):
        return "\n".join(str(part["text"]) for part in parts)
    return list(parts)


def _assistant(message: Message, model: str, index: int) -> WireObject:
    for block in blocks_of(message.content):
        if isinstance(block, ImageBlock | FileBlock):
            raise IllegalRequest(
                f"message {index} (assistant) holds a {type(block).__name__}, which only others may send"
            )
    text = text_of(message.content)
    wire: WireObject = {"role": "assistant", "content": text or (None if message.tool_calls else "")}
    if message.tool_calls:
        wire["tool_calls"] = [_call(call) for call in message.tool_calls]
        reasoning = _reasoning(message, model)
        if reasoning:
            wire["reasoning_content"] = reasoning
    return wire


def _reasoning(message: Message, model: str) -> str:
    """Open reasoning of the same model: DeepSeek wants it back with every turn that made calls."""
    return "".join(
        block.text
        for block in blocks_of(message.content)
        if isinstance(block, ReasoningBlock)
        and block.model == model
        and block.signature is None
        and block.data is None
    )


def _call(call: ToolCall) -> JsonValue:
    arguments = json.dumps(call.input if isinstance(call.input, dict) else {}, ensure_ascii=False)
    return {
        "id": _id(call.id),
        "type": "function",
        "function": {"name": safe_name(call.name, limit=_MAX_NAME), "arguments": arguments},
    }


def _id(call_id: str) -> str:
    """Some servers of this format read their own ids (`functions.read:0`), so all visible characters stay."""
    return safe_id(call_id, limit=_MAX_CALL_ID, takes_any=True)


def _result(message: Message, profile: ModelProfile, index: int, pictures: _Pictures) -> WireObject:
    if message.tool_call_id is None:
        raise IllegalRequest(f"message {index} (tool) names no call")
    texts: list[str] = []
    for block in blocks_of(message.content):
        part = _part(block, profile, index)
        if part["type"] == "text":
            texts.append(str(part["text"]))
        else:
            pictures.add(_id(message.tool_call_id), part)
    text = "\n".join(texts)
    if message.is_error and not text.lower().startswith("error"):
        text = f"Error: {text}"  # the format has no flag for it
    return {"role": "tool", "tool_call_id": _id(message.tool_call_id), "content": text}


def _part(block: Block, profile: ModelProfile, index: int) -> WireObject:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ImageBlock():
            return _image(block, profile)
        case FileBlock():
            return _file(block, profile)
        case ReasoningBlock():
            raise IllegalRequest(f"message {index} holds reasoning, which only an assistant's may")
        case _:
            assert_never(block)


def _image(block: ImageBlock, profile: ModelProfile) -> WireObject:
    if not can_see(block, profile):
        return {"type": "text", "text": left_out(block, profile)}
    media_type, data = data_of(block)
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


def _file(block: FileBlock, profile: ModelProfile) -> WireObject:
    if block.text is not None:
        head = f"[file {block.name}]\n" if block.name else ""
        return {"type": "text", "text": f"{head}{block.text}" or "(empty file)"}
    if not profile.images:
        return {"type": "text", "text": left_out(block, profile)}
    media_type, data = data_of(block)
    file: WireObject = {"filename": block.name or "file", "file_data": f"data:{media_type};base64,{data}"}
    return {"type": "file", "file": file}
