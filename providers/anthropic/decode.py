"""One answer of Anthropic's Messages interface from the events of its stream; pure."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from providers.assembly import argument_text, call_of, content_of, is_cut, is_whole, settled_stop
from providers.errors import StreamBroken
from providers.failures import Asked, stream_failure
from providers.model import (
    Answered,
    AnswerStarted,
    Block,
    CallCompleted,
    CallStarted,
    Message,
    ModelEvent,
    ReasoningBlock,
    ReasoningDelta,
    Role,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    Usage,
)
from providers.reading import JsonObject, TextPieces, count_at, index_at, object_at, parse_json, text_at
from providers.sse import ServerSentEvent

Events: TypeAlias = tuple[ModelEvent, ...]

_STOPS = {
    "end_turn": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "pause_turn": StopReason.PAUSE,
    "refusal": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}
_USAGE_FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


@dataclass(slots=True)
class _Part:
    """One content block while it is written; `pieces` are its text, thinking or arguments."""

    kind: Literal["text", "thinking", "redacted_thinking", "tool_use"]
    pieces: TextPieces = field(default_factory=TextPieces)
    signature: str = ""
    data: str = ""
    call_id: str = ""
    name: str = ""
    first_input: str = ""
    is_announced: bool = False

    @property
    def arguments(self) -> str:
        return self.pieces.text or self.first_input


class AnthropicDecoder:
    """Fed with one stream's events; `model` is the name that was asked for."""

    def __init__(self, asked: Asked, model: str, request_id: str | None = None) -> None:
        self._asked = asked
        self._model = model
        self._request_id = request_id
        self._response_id = ""
        self._answering_model = model
        self._parts: dict[int, _Part] = {}
        self._counts: dict[str, int] = {}
        self._stop = ""
        self._is_over = False

    def feed(self, event: ServerSentEvent) -> Events:
        """The model events that this event brings; unknown ones bring none.

        Raises:
            ProviderError: an error event, or data that is no JSON object.
        """
        if self._is_over:
            return ()
        payload = self._payload(event)
        match text_at(payload, "type") or event.event:
            case "content_block_delta":
                return self._delta(payload)
            case "content_block_start":
                return self._begin(payload)
            case "content_block_stop":
                return self._end_part(payload)
            case "message_start":
                return self._start(object_at(payload, "message"))
            case "message_delta":
                self._stop = text_at(object_at(payload, "delta"), "stop_reason") or self._stop
                self._count(object_at(payload, "usage"))
            case "message_stop":
                return self._finish()
            case "error":
                raise stream_failure(self._asked, payload, self._request_id)
        return ()

    def close(self) -> None:
        """The stream has ended.

        Raises:
            StreamBroken: without `message_stop`.
        """
        if not self._is_over:
            raise self._broken("the stream ended before the answer did (no message_stop)")

    def _payload(self, event: ServerSentEvent) -> JsonObject:
        try:
            payload = parse_json(event.data)
        except ValueError as exc:
            raise self._broken(f"a {event.event} event whose data is no JSON") from exc
        if not isinstance(payload, dict):
            raise self._broken(f"a {event.event} event whose data is no object")
        return payload

    def _start(self, message: JsonObject) -> Events:
        self._response_id = text_at(message, "id")
        self._answering_model = text_at(message, "model") or self._model
        self._count(object_at(message, "usage"))
        return (AnswerStarted(self._response_id, self._answering_model, self._request_id),)

    def _begin(self, payload: JsonObject) -> Events:
        block = object_at(payload, "content_block")
        match text_at(block, "type"):
            case "text":
                return self._grow(self._open(payload, _Part("text")), text_at(block, "text"))
            case "thinking":
                part = _Part("thinking", signature=text_at(block, "signature"))
                return self._grow(self._open(payload, part), text_at(block, "thinking"))
            case "redacted_thinking":
                self._open(payload, _Part("redacted_thinking", data=text_at(block, "data")))
            case "tool_use":
                first_input = argument_text(block.get("input")) if block.get("input") else ""
                call_id = text_at(block, "id") or f"call_{len(self._parts)}"
                part = _Part(
                    "tool_use", call_id=call_id, name=text_at(block, "name"), first_input=first_input
                )
                self._open(payload, part)
                return (CallStarted(part.call_id, part.name),)
        return ()

    def _open(self, payload: JsonObject, part: _Part) -> _Part:
        index = index_at(payload, "index")
        self._parts[len(self._parts) if index is None else index] = part
        return part

    def _delta(self, payload: JsonObject) -> Events:
        part = self._parts.get(index_at(payload, "index") or 0)
        if part is None:
            return ()  # a block of a kind that is not kept
        delta = object_at(payload, "delta")
        match text_at(delta, "type"):
            case "text_delta":
                return self._grow(part, text_at(delta, "text"))
            case "thinking_delta":
                return self._grow(part, text_at(delta, "thinking"))
            case "signature_delta":
                part.signature += text_at(delta, "signature")
            case "input_json_delta":
                part.pieces.push(text_at(delta, "partial_json"))
        return ()

    def _grow(self, part: _Part, piece: str) -> Events:
        shown = part.pieces.push(piece)
        if not shown:
            return ()
        return (ReasoningDelta(shown),) if part.kind == "thinking" else (TextDelta(shown),)

    def _end_part(self, payload: JsonObject) -> Events:
        """A call is announced early only when its arguments are whole: the output limit may have cut them."""
        part = self._parts.get(index_at(payload, "index") or 0)
        if part is None or part.kind != "tool_use" or not is_whole(part.arguments):
            return ()
        part.is_announced = True
        return (CallCompleted(call_of(part.call_id, part.name, part.arguments)),)

    def _count(self, usage: JsonObject) -> None:
        """Counts are cumulative; a later event may leave some out or at zero."""
        for name in _USAGE_FIELDS:
            if name in usage:
                self._counts[name] = max(self._counts.get(name, 0), count_at(usage, name))
        thinking = count_at(object_at(usage, "output_tokens_details"), "thinking_tokens")
        self._counts["thinking"] = max(self._counts.get("thinking", 0), thinking)

    def _finish(self) -> Events:
        self._is_over = True
        parts = list(self._parts.values())
        blocks: list[Block] = []
        calls: list[tuple[_Part, ToolCall]] = []
        for part in parts:
            if part.kind == "tool_use":
                calls.append(
                    (part, call_of(part.call_id, part.name, part.arguments, after_block=len(blocks)))
                )
            else:
                blocks += self._block(part)
        stop = settled_stop(_STOPS.get(self._stop, StopReason.END_TURN), has_calls=bool(calls))
        cut = [
            call.id for part, call in calls if is_cut(call, part.arguments, stop, is_last=part is parts[-1])
        ]
        done = [_placed(call, len(blocks)) for _, call in calls]
        late = [
            call
            for (part, _), call in zip(calls, done, strict=True)
            if not part.is_announced and call.id not in cut
        ]
        message = Message(Role.ASSISTANT, content_of(blocks, has_calls=bool(calls)), tool_calls=tuple(done))
        return (
            *(CallCompleted(call) for call in late),
            Answered(
                message,
                stop,
                self._usage(),
                self._response_id,
                self._answering_model,
                self._request_id,
                tuple(cut),
            ),
        )

    def _block(self, part: _Part) -> list[Block]:
        if part.kind == "text":
            return [TextBlock(part.pieces.text)] if part.pieces.text else []
        if part.kind == "redacted_thinking":
            return [ReasoningBlock("", data=part.data, model=self._model)]
        return [ReasoningBlock(part.pieces.text, signature=part.signature or None, model=self._model)]

    def _usage(self) -> Usage:
        counts = self._counts
        if not any(counts.values()):
            return Usage(is_estimated=True)
        uncached, read, written, output = (counts.get(name, 0) for name in _USAGE_FIELDS)
        return Usage(uncached, read, written, output, counts.get("thinking", 0))

    def _broken(self, what: str) -> StreamBroken:
        return StreamBroken(f"{self._asked.who}: {what}", request_id=self._request_id)


def _placed(call: ToolCall, n_blocks: int) -> ToolCall:
    """The position of a call is kept only where blocks follow it."""
    if call.after_block != n_blocks:
        return call
    return ToolCall(call.id, call.name, call.input, call.invalid_json)
