"""From the pieces of an answer to the message that is stored and sent back."""

import json

from pydantic import JsonValue

from providers.model import Block, Content, StopReason, TextBlock, ToolCall
from providers.reading import joined_surrogates, parse_json

CUTTING_STOPS = frozenset({StopReason.MAX_TOKENS, StopReason.CONTEXT_EXCEEDED, StopReason.REFUSAL})


def call_of(call_id: str, name: str, arguments: str, *, after_block: int | None = None) -> ToolCall:
    """A call from its argument text; no text at all means no arguments."""
    if not arguments.strip():
        return ToolCall(call_id, name, {}, after_block=after_block)
    try:
        value = parse_json(arguments)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return ToolCall(call_id, name, _clean(value), after_block=after_block)
    return ToolCall(call_id, name, {}, invalid_json=joined_surrogates(arguments), after_block=after_block)


def is_whole(arguments: str) -> bool:
    """Whether an argument text is a complete object, so that nothing can follow it."""
    return arguments.rstrip().endswith("}") and call_of("", "", arguments).invalid_json is None


def is_cut(call: ToolCall, arguments: str, stop: StopReason, *, is_last: bool) -> bool:
    """Whether the end of the answer cut this call off.

    A call without any argument text is whole only if something came after
    it: its arguments may have been about to begin.
    """
    if stop not in CUTTING_STOPS:
        return False
    return call.invalid_json is not None or (is_last and not arguments.strip())


def content_of(blocks: list[Block], *, has_calls: bool) -> Content:
    """Plain text where there is nothing else, None where there are only calls."""
    if not blocks:
        return None if has_calls else ""
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock):
        return blocks[0].text
    return tuple(blocks)


def settled_stop(stop: StopReason, *, has_calls: bool) -> StopReason:
    """Tool use is what has calls, whatever a server calls it."""
    if stop in (StopReason.END_TURN, StopReason.TOOL_USE):
        return StopReason.TOOL_USE if has_calls else StopReason.END_TURN
    return stop


def argument_text(value: JsonValue) -> str:
    """Arguments as text; some servers send the object itself."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _clean(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {joined_surrogates(key): _clean_value(item) for key, item in value.items()}


def _clean_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return joined_surrogates(value)
    if isinstance(value, dict):
        return _clean(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    return value
