"""A request as the body of Anthropic's Messages interface; pure.

User content always goes out as blocks, never as a plain string: a message
looks the same when others join it later, which caches and preserved
thinking depend on.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias, assert_never

from pydantic import JsonValue

from providers.encoding import (
    blocks_of,
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
    ReasoningBlock,
    Request,
    Role,
    TextBlock,
    ToolCall,
    ToolChoice,
)

WireObject: TypeAlias = dict[str, JsonValue]

# No limit of ids is documented; 64 is what the strictest servers of this format take.
_MAX_CALL_ID: Final = 64
_MAX_NAME: Final = 128


def encode(request: Request, profile: ModelProfile) -> WireObject:
    """The body of a streaming request.

    Raises:
        IllegalRequest: something that the format or the model cannot take.
    """
    check_output(request, profile)
    n_leading = leading_system(request.messages)
    system: list[JsonValue] = []
    for message in request.messages[:n_leading]:
        system += _system_blocks(message, profile)
    body: WireObject = {
        "model": request.model,
        "max_tokens": request.max_output_tokens or profile.max_output_tokens,
        "messages": list(_wire_messages(request, profile, n_leading)),
        "stream": True,
    }
    if system:
        body["system"] = system
    if request.tools and profile.tools:
        body |= _tools(request)
    if request.output is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.output.schema}}
    return body


def _tools(request: Request) -> WireObject:
    tools: list[JsonValue] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in request.tools
    ]
    if request.tool_choice is ToolChoice.AUTO:
        return {"tools": tools}
    return {"tools": tools, "tool_choice": {"type": request.tool_choice.value}}


def _wire_messages(request: Request, profile: ModelProfile, n_leading: int) -> Iterator[JsonValue]:
    turn = _UserTurn()
    for index, message in enumerate(request.messages[n_leading:], n_leading):
        match message.role:
            case Role.TOOL:
                turn.add_result(message, profile, index)
            case Role.USER:
                turn.content += _marked(_user_blocks(message, profile, index), message, profile)
            case Role.ASSISTANT:
                yield from turn.flush()
                yield {"role": "assistant", "content": _assistant_blocks(message, request, profile, index)}
            case Role.SYSTEM:
                check_system_place(profile, index)
                yield from turn.flush()
                yield {"role": "system", "content": _system_blocks(message, profile)}
            case _:
                assert_never(message.role)
    yield from turn.flush()


class _UserTurn:
    """Neighbouring tool and user messages, which are one message here: results first, then the rest."""

    def __init__(self) -> None:
        self.results: list[JsonValue] = []
        self.content: list[JsonValue] = []

    def add_result(self, message: Message, profile: ModelProfile, index: int) -> None:
        """The result; pictures of a failed one, which may hold text only, follow behind all results."""
        result, pictures = _result(message, profile, index)
        self.results.append(result)
        if pictures:
            label = f"[belongs to the result of {_id(message.tool_call_id or '')}]"
            self.content += [{"type": "text", "text": label}, *pictures]

    def flush(self) -> Iterator[JsonValue]:
        blocks = self.results + self.content
        self.results, self.content = [], []
        if blocks:
            yield {"role": "user", "content": blocks}


def _system_blocks(message: Message, profile: ModelProfile) -> list[JsonValue]:
    blocks: list[WireObject] = [
        {"type": "text", "text": text} for text in texts_of(message.content, "a system message")
    ]
    return _marked(blocks, message, profile)


def _user_blocks(message: Message, profile: ModelProfile, index: int) -> list[WireObject]:
    blocks = [_block(block, profile, index) for block in blocks_of(message.content)]
    if not blocks:
        raise IllegalRequest(f"message {index} (user) is empty")
    return blocks


def _result(message: Message, profile: ModelProfile, index: int) -> tuple[JsonValue, list[WireObject]]:
    """The result; and what it may not hold: "all content must be type `text` if `is_error` is true"."""
    if message.tool_call_id is None:
        raise IllegalRequest(f"message {index} (tool) names no call")
    result: WireObject = {"type": "tool_result", "tool_use_id": _id(message.tool_call_id)}
    content = [_block(block, profile, index) for block in blocks_of(message.content)]
    pictures = [block for block in content if message.is_error and block["type"] != "text"]
    if pictures:
        content = [block for block in content if block["type"] == "text"]
    if isinstance(message.content, str) and message.content:
        result["content"] = message.content
    elif content:
        result["content"] = list(content)
    if message.is_error:
        result["is_error"] = True
    return _marked([result], message, profile)[0], pictures


def _id(call_id: str) -> str:
    return safe_id(call_id, limit=_MAX_CALL_ID)


def _assistant_blocks(
    message: Message, request: Request, profile: ModelProfile, index: int
) -> list[JsonValue]:
    """Text, thinking and calls in the order in which the model wrote them."""
    content = (TextBlock(message.content),) if isinstance(message.content, str) else message.content or ()
    waiting = list(message.tool_calls)
    blocks: list[WireObject] = []
    for n_before, block in enumerate(content):
        while waiting and waiting[0].after_block is not None and waiting[0].after_block <= n_before:
            blocks.append(_call(waiting.pop(0)))
        blocks += _answer_block(block, request.model, index)
    blocks += [_call(call) for call in waiting]
    if not blocks:
        raise IllegalRequest(f"message {index} (assistant) holds neither text nor calls")
    return _marked(blocks, message, profile)


def _answer_block(block: Block, model: str, index: int) -> list[WireObject]:
    match block:
        case TextBlock(text):
            return [{"type": "text", "text": text}] if text else []
        case ReasoningBlock():
            return _thinking(block, model)
        case ImageBlock() | FileBlock():
            raise IllegalRequest(
                f"message {index} (assistant) holds a {type(block).__name__}, which only others may send"
            )
        case _:
            assert_never(block)


def _thinking(block: ReasoningBlock, model: str) -> list[WireObject]:
    """Thinking goes back verbatim, to the model that wrote it and to no other."""
    if block.model is not None and block.model != model:
        return []
    if block.signature is not None:
        return [{"type": "thinking", "thinking": block.text, "signature": block.signature}]
    if block.data is not None and block.item_id is None:
        return [{"type": "redacted_thinking", "data": block.data}]
    return []


def _call(call: ToolCall) -> WireObject:
    input_object = call.input if isinstance(call.input, dict) else {}
    name = safe_name(call.name, limit=_MAX_NAME)
    return {"type": "tool_use", "id": _id(call.id), "name": name, "input": input_object}


def _block(block: Block, profile: ModelProfile, index: int) -> WireObject:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ImageBlock():
            return _image(block, profile)
        case FileBlock():
            return _document(block, profile)
        case ReasoningBlock():
            raise IllegalRequest(f"message {index} holds reasoning, which only an assistant's may")
        case _:
            assert_never(block)


def _image(block: ImageBlock, profile: ModelProfile) -> WireObject:
    if not can_see(block, profile):
        return {"type": "text", "text": left_out(block, profile)}
    media_type, data = data_of(block)
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def _document(block: FileBlock, profile: ModelProfile) -> WireObject:
    if block.text is not None:
        text = block.text or "(empty file)"
        return _titled(block, {"type": "text", "media_type": "text/plain", "data": text})
    if not profile.images:
        return {"type": "text", "text": left_out(block, profile)}
    media_type, data = data_of(block)
    if media_type != "application/pdf":
        return {"type": "text", "text": left_out(block, profile)}
    return _titled(block, {"type": "base64", "media_type": media_type, "data": data})


def _titled(block: FileBlock, source: WireObject) -> WireObject:
    document: WireObject = {"type": "document", "source": source}
    if block.name:
        document["title"] = block.name
    return document


def _marked(blocks: list[WireObject], message: Message, profile: ModelProfile) -> list[JsonValue]:
    """The blocks, the last one that may carry it with the message's cache mark."""
    if message.cache is not None and profile.cache_marks:
        mark: WireObject = {"type": "ephemeral"}
        if message.cache.ttl is not None:
            mark["ttl"] = message.cache.ttl
        for block in reversed(blocks):
            if block["type"] not in ("thinking", "redacted_thinking"):
                block["cache_control"] = mark
                break
    return list(blocks)
