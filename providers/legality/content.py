"""What a message may hold."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields

from providers.legality.finding import Finding, Found, a
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
            yield Finding("call_of_other_role", at, f"{a(message.role)} message makes calls")


def blocks_fit_the_role(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """System: text only. Assistant: text and reasoning. User and tool: no reasoning.

    Anthropic types its blocks per role and refuses documents of assistants
    since version 2026-10-21 [docs]; OpenAI has no image parts for system and
    assistant messages [sdk].
    """
    for at, message in enumerate(request.messages):
        for block in message.content if isinstance(message.content, tuple) else ():
            if message.role in (Role.SYSTEM, Role.ASSISTANT) and isinstance(block, ImageBlock | FileBlock):
                yield Finding("block_of_other_role", at, f"{a(message.role)} message holds an attachment")
            if message.role is not Role.ASSISTANT and isinstance(block, ReasoningBlock):
                yield Finding("block_of_other_role", at, f"{a(message.role)} message holds reasoning")


def attachments_have_a_form(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """An attachment is a data URL with base64 in it, or a file's text.

    Anthropic: `source` of type base64 with a media type and data; OpenAI:
    "Expected a base64-encoded data URL" [sdk: the types of all three]. A model
    without eyes gets a line of text in its place, whatever it was.
    """
    if not profile.images:
        return
    for at, message in enumerate(request.messages):
        for block in message.content if isinstance(message.content, tuple) else ():
            if isinstance(block, FileBlock) and block.text is not None:
                continue
            if isinstance(block, ImageBlock | FileBlock) and not _DATA_URL.fullmatch(block.data_url or ""):
                text = f"an attached {block.media_type} is no data URL: {(block.data_url or '')[:30]!r}"
                yield Finding("attachment_form", at, text)


_DATA_URL = re.compile(r"data:[^/;,\s]+/[^/;,\s]+;base64,[A-Za-z0-9+/]+={0,2}")


def no_empty_text(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "text content blocks must be non-empty". The others take it.

    A result may be empty: its content is optional [sdk].
    """
    if dialect is not Dialect.ANTHROPIC:
        return
    for at, message in enumerate(request.messages):
        if message.content == "" and message.role is not Role.TOOL:
            yield Finding("empty_text", at, f"the text of {a(message.role)} message is empty")
        for block in message.content if isinstance(message.content, tuple) else ():
            if isinstance(block, TextBlock) and not block.text:
                yield Finding("empty_text", at, f"a text block of {a(message.role)} message is empty")


def no_blank_text(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "text content blocks must contain non-whitespace text"."""
    if dialect is not Dialect.ANTHROPIC:
        return
    for at, message in enumerate(request.messages):
        blocks = message.content if isinstance(message.content, tuple) else ()
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        if isinstance(message.content, str) and message.role is not Role.TOOL:
            texts.append(message.content)
        if any(map(str.isspace, texts)):
            yield Finding("blank_text", at, f"a text of {a(message.role)} message holds only blanks")


def something_is_said(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "all messages must have non-empty content". Chat: content or calls are required.

    Reasoning alone is no content: Anthropic wants no thinking as the final
    block of an assistant, Responses no reasoning item without what follows
    it, and Chat Completions does not take reasoning at all. A result may be empty.
    """
    for at, message in enumerate(request.messages):
        if message.role is Role.TOOL:
            continue
        blocks = message.content if isinstance(message.content, tuple) else (message.content,)
        if message.tool_calls or any(not isinstance(block, ReasoningBlock | None) for block in blocks):
            continue
        yield Finding("empty_message", at, f"{a(message.role)} message says nothing")


def unicode(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """A body is UTF-8 (RFC 8259, section 8.1): half of a surrogate pair cannot be sent."""
    for at, message in enumerate(request.messages):
        content = message.content
        texts = [content] if isinstance(content, str) else [t for b in content or () for t in _texts(b)]
        texts += [json.dumps(call.input, ensure_ascii=False, default=str) for call in message.tool_calls]
        if not all(map(_is_utf8, texts)):
            yield Finding("unicode", at, f"a text of {a(message.role)} message has no UTF-8 form")


def _texts(block: Block) -> Iterator[str]:
    """Every text of a block that goes over the wire."""
    for field in fields(block):
        value = getattr(block, field.name)
        if isinstance(value, str) and field.name != "model":
            yield value


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
