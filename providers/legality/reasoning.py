"""What a model thought goes back sealed, once, and never as the last word."""

from collections.abc import Callable

from providers.legality.finding import Finding, Found
from providers.model import Block, Dialect, Message, ModelProfile, ReasoningBlock, Request, TextBlock


def thinking(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: a thinking block goes back with its signature, and is not the final block.

    What has no signature and no data was never sealed (a broken stream, an
    import); the encoder leaves it out, so nothing is found. A block with an
    item id belongs to Responses, whose encrypted content is its seal.
    """
    if dialect is not Dialect.ANTHROPIC:
        return
    for at, message in enumerate(request.messages):
        if any(block.signature == "" for block in _reasoning(message)):
            yield Finding("thinking_signature", at, "the signature of a thinking block is empty")
        if _ends_with(message, lambda block: _is_thinking(block, request.model)):
            yield Finding("thinking_last", at, "a thinking block is the final one of an assistant message")


def _is_thinking(block: ReasoningBlock, model: str) -> bool:
    is_sealed = block.signature is not None or (block.data is not None and block.item_id is None)
    return is_sealed and block.model in (None, model)


def reasoning_items(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Responses: "Item 'rs_…' of type 'reasoning' was provided without its required following item".

    And each item once: "Duplicate item found with id rs_…". OpenAI keeps no
    items for stateless requests, so one without encrypted content cannot go
    back at all; that one is left out and nothing is found.
    """
    if dialect is not Dialect.OPENAI_RESPONSES:
        return
    seen: set[str] = set()
    for at, message in enumerate(request.messages):
        for block in _reasoning(message):
            if not _is_item(block, request.model) or block.item_id is None:
                continue
            if block.item_id in seen:
                yield Finding("reasoning_twice", at, f"the reasoning item {block.item_id!r} comes again")
            seen.add(block.item_id)
        if _ends_with(message, lambda block: _is_item(block, request.model)):
            yield Finding("reasoning_last", at, "nothing follows the reasoning item of an assistant message")


def _is_item(block: ReasoningBlock, model: str) -> bool:
    return block.item_id is not None and block.data is not None and block.model in (None, model)


def _reasoning(message: Message) -> list[ReasoningBlock]:
    blocks = message.content if isinstance(message.content, tuple) else ()
    return [block for block in blocks if isinstance(block, ReasoningBlock)]


def _ends_with(message: Message, is_sent: Callable[[ReasoningBlock], bool]) -> bool:
    """Whether the last part that goes out is reasoning: no text and no call behind it."""
    blocks = message.content if isinstance(message.content, tuple) else ()
    for n_before in range(len(blocks), 0, -1):
        if any(_place(call.after_block, len(blocks)) >= n_before for call in message.tool_calls):
            return False
        block = blocks[n_before - 1]
        if isinstance(block, ReasoningBlock):
            if is_sent(block):
                return True
        elif not _is_nothing(block):
            return False
    return False


def _place(after_block: int | None, n_blocks: int) -> int:
    return n_blocks if after_block is None else after_block


def _is_nothing(block: Block) -> bool:
    return isinstance(block, TextBlock) and not block.text
