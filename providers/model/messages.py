"""One message of a request, in no provider's format."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from providers.model.blocks import Block, ToolCall

Content: TypeAlias = str | tuple[Block, ...] | None


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class CacheMark:
    """The end of a prefix that a provider should keep; `ttl` None is its default."""

    ttl: Literal["5m", "1h"] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A system, user, assistant or tool message.

    `content` is None only for an assistant that made calls and said nothing.
    `tool_calls` belong to assistants; `tool_call_id`, `tool_name` and
    `is_error` to tool messages, one result each.
    """

    role: Role
    content: Content
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    cache: CacheMark | None = None
