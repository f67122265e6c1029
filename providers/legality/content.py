"""What a message may hold."""

import json

from providers.legality.finding import Finding, Found
from providers.model import (
    Block,
    Dialect,
    FileBlock,
    ImageBlock,
    ModelProfile,
    ReasoningBlock,
    Request,
    Role,
    TextBlock,
)


def roles_hold_their_own(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Only an assistant makes calls, only a tool message names one [sdk: the message types of all three]."""
    for at, message in enumerate(request.messages):
        if message.tool_calls and message.role is not Role.ASSISTANT:
            yield Finding("call_of_other_role", at, f"a {message.role} message makes calls")


def blocks_fit_the_role(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """System: text only. Assistant: text and reasoning. User and tool: no reasoning.

    Anthropic types its blocks per role and refuses documents of assistants
    since version 2026-10-21 [docs]; OpenAI has no image parts for system and
    assistant messages [sdk].
    """
    for at, message in enumerate(request.messages):
        for block in message.content if isinstance(message.content, tuple) else ():
            if message.role in (Role.SYSTEM, Role.ASSISTANT) and isinstance(block, ImageBlock | FileBlock):
                yield Finding("block_of_other_role", at, f"a {message.role} message holds an attachment")
            if message.role is not Role.ASSISTANT and isinstance(block, ReasoningBlock):
                yield Finding("block_of_other_role", at, f"a {message.role} message holds reasoning")


def no_empty_text(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "text content blocks must be non-empty". The others take it; nobody needs it."""
    for at, message in enumerate(request.messages):
        if message.content == "":
            yield Finding("empty_text", at, f"the text of a {message.role} message is empty")
        for block in message.content if isinstance(message.content, tuple) else ():
            if isinstance(block, TextBlock) and not block.text:
                yield Finding("empty_text", at, f"a text block of a {message.role} message is empty")


def no_blank_text(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "text content blocks must contain non-whitespace text"."""
    if dialect is not Dialect.ANTHROPIC:
        return
    for at, message in enumerate(request.messages):
        blocks = message.content if isinstance(message.content, tuple) else ()
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        if any(text.isspace() for text in [message.content, *texts] if isinstance(text, str)):
            yield Finding("blank_text", at, f"a text of a {message.role} message holds only blanks")


def something_is_said(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "all messages must have non-empty content". Chat: content or calls are required.

    Reasoning alone is no content: Anthropic wants no thinking as the final
    block of an assistant, Responses no reasoning item without what follows
    it, and Chat Completions does not take reasoning at all.
    """
    for at, message in enumerate(request.messages):
        blocks = message.content if isinstance(message.content, tuple) else (message.content,)
        if message.tool_calls or any(not isinstance(block, ReasoningBlock | None) for block in blocks):
            continue
        yield Finding("empty_message", at, f"a {message.role} message says nothing")


def thinking(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: a thinking block goes back with its signature, and is not the final block.

    What has no signature and no data was never sealed (a broken stream, an
    import); the encoder leaves it out, so nothing is found. A block with an
    item id belongs to Responses, whose encrypted content is its seal.
    """
    if dialect is not Dialect.ANTHROPIC:
        return
    for at, message in enumerate(request.messages):
        blocks = message.content if isinstance(message.content, tuple) else ()
        for block in blocks:
            if isinstance(block, ReasoningBlock) and block.signature == "":
                yield Finding("thinking_signature", at, "the signature of a thinking block is empty")
        is_last = all(
            call.after_block is not None and call.after_block < len(blocks) for call in message.tool_calls
        )
        if blocks and is_last and _is_sealed(blocks[-1]):
            yield Finding("thinking_last", at, "a thinking block is the final one of an assistant message")


def _is_sealed(block: Block) -> bool:
    return isinstance(block, ReasoningBlock) and (block.signature is not None or block.data is not None)


def unicode(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """A body is UTF-8 (RFC 8259, section 8.1): half of a surrogate pair cannot be sent."""
    for at, message in enumerate(request.messages):
        texts = [message.content] if isinstance(message.content, str) else []
        if isinstance(message.content, tuple):
            texts += [b.text for b in message.content if isinstance(b, TextBlock | ReasoningBlock)]
        texts += [json.dumps(call.input, ensure_ascii=False, default=str) for call in message.tool_calls]
        if not all(map(_is_utf8, texts)):
            yield Finding("unicode", at, f"a text of a {message.role} message has no UTF-8 form")


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
