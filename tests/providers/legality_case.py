"""What a case of the rules is made of: a request that breaks one, and one beside it that does not."""

from dataclasses import dataclass

from providers.model import (
    CacheMark,
    Content,
    Dialect,
    ImageBlock,
    Message,
    ModelProfile,
    ReasoningBlock,
    Request,
    Role,
    ToolCall,
)

ALL = frozenset(Dialect)
ANTHROPIC = frozenset({Dialect.ANTHROPIC})
CHAT = frozenset({Dialect.OPENAI_CHAT})
RESPONSES = frozenset({Dialect.OPENAI_RESPONSES})
OPENAI = CHAT | RESPONSES
PROFILE = ModelProfile("m", 1_000, 100, mid_conversation_system=True, images=True, cache_marks=True)
PICTURE = ImageBlock("image/png", "data:image/png;base64,AA")
SEALED = ReasoningBlock("h", signature="s")
ITEM = ReasoningBlock("", data="opaque", item_id="rs_1")


@dataclass(frozen=True, slots=True)
class Case:
    """`where`: the dialects that have the rule. `also`: what such a request cannot help breaking too."""

    rule: str
    broken: Request
    beside: Request
    where: frozenset[Dialect] = ALL
    also: frozenset[str] = frozenset()
    profile: ModelProfile = PROFILE


def user(content: Content = "u", cache: CacheMark | None = None) -> Message:
    return Message(Role.USER, content, cache=cache)


def answer(content: Content = "a", *call_ids: str, cache: CacheMark | None = None) -> Message:
    return Message(Role.ASSISTANT, content, tuple(ToolCall(c, "Read", {}) for c in call_ids), cache=cache)


def result(call_id: str | None, content: Content = "found") -> Message:
    return Message(Role.TOOL, content, tool_call_id=call_id, tool_name="Read")


def system(text: str = "s", cache: CacheMark | None = None) -> Message:
    return Message(Role.SYSTEM, text, cache=cache)


def asked(*messages: Message) -> Request:
    return Request("m", messages)
