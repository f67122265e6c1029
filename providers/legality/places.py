"""Where system messages and cache marks may stand."""

from providers.legality.finding import Finding, Found, a, leading_system
from providers.model import Dialect, ModelProfile, ReasoningBlock, Request, Role, TextBlock

MAX_CACHE_MARKS = 4


def system_places(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """System messages behind the leading run: only if the model takes them, and only where it does.

    Anthropic: "role 'system' is not supported on this model" on older models;
    else "immediately after a user turn", which tool results are, not first,
    and with an assistant or nothing behind it. OpenAI takes them anywhere;
    templates of compatible servers only in front, which the profile says.
    """
    messages = request.messages
    for at in range(leading_system(request), len(messages)):
        if messages[at].role is not Role.SYSTEM:
            continue
        if not profile.mid_conversation_system:
            text = f"{profile.name} takes system messages only in front"
            yield Finding("system_mid_conversation", at, text)
        elif dialect is Dialect.ANTHROPIC:
            if messages[at - 1].role not in (Role.USER, Role.TOOL):
                yield Finding("system_place", at, f"{a(messages[at - 1].role)} message stands before it")
            if at + 1 < len(messages) and messages[at + 1].role is not Role.ASSISTANT:
                yield Finding("system_place", at, f"{a(messages[at + 1].role)} message stands behind it")


def cache_marks(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "A maximum of 4 blocks with cache_control may be provided", over tools, system, messages.

    And longer lifetimes first: "a ttl='1h' block must not come after a
    ttl='5m' block". Tools carry no mark here. The other dialects have no such
    marks, and a model whose profile has none is sent none.
    """
    if dialect is not Dialect.ANTHROPIC or not profile.cache_marks:
        return
    marked = [(at, m.cache) for at, m in enumerate(request.messages) if m.cache is not None]
    if len(marked) > MAX_CACHE_MARKS:
        text = f"{len(marked)} cache marks; {MAX_CACHE_MARKS} are allowed"
        yield Finding("cache_marks", marked[MAX_CACHE_MARKS][0], text)
    short_at: int | None = None
    for at, cache in marked:
        if cache.ttl != "1h":
            short_at = at
        elif short_at is not None:
            yield Finding("cache_ttl", at, f"a mark of an hour behind the shorter one of message {short_at}")


def cache_mark_targets(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "cache_control cannot be set for empty text blocks", nor on thinking."""
    if dialect is not Dialect.ANTHROPIC or not profile.cache_marks:
        return
    for at, message in enumerate(request.messages):
        if message.cache is None or message.tool_calls or message.role is Role.TOOL:
            continue
        blocks = message.content if isinstance(message.content, tuple) else (message.content or "",)
        if not any(_carries_a_mark(block) for block in blocks):
            yield Finding("cache_mark_target", at, "the cache mark has no block that may carry it")


def _carries_a_mark(block: object) -> bool:
    match block:
        case str(text) | TextBlock(text):
            return bool(text)
        case ReasoningBlock():
            return False
        case _:
            return True
