"""One answer of Chat Completions from the chunks of its stream; pure."""

from typing import TypeAlias

from providers.assembly import content_of, settled_stop
from providers.errors import ServerFailed, StreamBroken
from providers.failures import Asked, stream_failure
from providers.model import (
    Answered,
    AnswerStarted,
    Block,
    Message,
    ModelEvent,
    ReasoningBlock,
    ReasoningDelta,
    Role,
    StopReason,
    TextBlock,
    TextDelta,
    Usage,
)
from providers.openai_chat.calls import CallDrafts
from providers.reading import JsonObject, TextPieces, count_at, object_at, objects_at, parse_json, text_at
from providers.sse import ServerSentEvent

Events: TypeAlias = list[ModelEvent]

END_MARKER = "[DONE]"

_STOPS = {
    "stop": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
    "sensitive": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}
# servers that end an answer with their own failure
_FAILED = {"insufficient_system_resource", "network_error", "error"}


class ChatDecoder:
    """Fed with one stream's events; `model` is the name that was asked for."""

    def __init__(self, asked: Asked, model: str, request_id: str | None = None) -> None:
        self._asked = asked
        self._model = model
        self._request_id = request_id
        self._response_id = ""
        self._answering_model = model
        self._text = TextPieces()
        self._reasoning = TextPieces()
        self._calls = CallDrafts()
        self._usage = Usage(is_estimated=True)
        self._finish_reason = ""
        self._has_refused = False
        self._is_started = False
        self._is_over = False

    def feed(self, event: ServerSentEvent) -> tuple[ModelEvent, ...]:
        """The model events that this event brings.

        Raises:
            ProviderError: an error chunk, or data that is no JSON object.
        """
        if self._is_over:
            return ()
        if event.data.strip() == END_MARKER:
            return self._finish()
        payload = self._payload(event)
        if payload.get("error") or event.event == "error":
            raise stream_failure(self._asked, payload, self._request_id)
        return tuple(self._chunk(payload))

    def close(self) -> None:
        """The stream has ended.

        Raises:
            StreamBroken: without its end marker.
        """
        if not self._is_over:
            raise self._broken(f"the stream ended before the answer did (no {END_MARKER})")

    def _payload(self, event: ServerSentEvent) -> JsonObject:
        try:
            payload = parse_json(event.data)
        except ValueError as exc:
            raise self._broken("a chunk whose data is no JSON") from exc
        if not isinstance(payload, dict):
            raise self._broken("a chunk whose data is no object")
        return payload

    def _chunk(self, payload: JsonObject) -> Events:
        events: Events = []
        if not self._is_started:
            self._is_started = True
            self._response_id = text_at(payload, "id")
            self._answering_model = text_at(payload, "model") or self._model
            events.append(AnswerStarted(self._response_id, self._answering_model, self._request_id))
        for choice in objects_at(payload, "choices")[:1]:
            events += self._delta(object_at(choice, "delta"))
            self._note_finish(text_at(choice, "finish_reason"))
            self._note_usage(choice)
        self._note_usage(payload)
        return events

    def _delta(self, delta: JsonObject) -> Events:
        events: Events = []
        reasoning = text_at(delta, "reasoning_content") or text_at(delta, "reasoning")
        if reasoning and (shown := self._reasoning.push(reasoning)):
            events.append(ReasoningDelta(shown))
        for key in ("content", "refusal"):
            piece = text_at(delta, key)
            self._has_refused = self._has_refused or bool(piece and key == "refusal")
            if piece and (shown := self._text.push(piece)):
                events.append(TextDelta(shown))
        for item in objects_at(delta, "tool_calls"):
            events += self._calls.take(item, self._response_id)
        return events

    def _note_finish(self, reason: str) -> None:
        if reason in _FAILED:
            raise ServerFailed(
                f"{self._asked.who} gave up in the middle of its answer: {reason}",
                request_id=self._request_id,
            )
        self._finish_reason = reason or self._finish_reason

    def _note_usage(self, holder: JsonObject) -> None:
        """The last report wins; some servers count along in every chunk, some inside the choice."""
        usage, timings = object_at(holder, "usage"), object_at(holder, "timings")
        if usage:
            self._usage = usage_of(usage, timings)
        elif timings and self._usage.is_estimated:
            self._usage = Usage(
                count_at(timings, "prompt_n"),
                count_at(timings, "cache_n"),
                output_tokens=count_at(timings, "predicted_n"),
            )

    def _finish(self) -> tuple[ModelEvent, ...]:
        if not self._finish_reason:
            raise self._broken("the stream ended before the answer did (no finish_reason)")
        if self._calls.fault is not None:
            raise self._broken(self._calls.fault)
        self._is_over = True
        stop = (
            StopReason.REFUSAL if self._has_refused else _STOPS.get(self._finish_reason, StopReason.END_TURN)
        )
        calls, cut, events = self._calls.finish(stop)
        message = Message(Role.ASSISTANT, content_of(self._blocks(), has_calls=bool(calls)), tool_calls=calls)
        return (
            *events,
            Answered(
                message,
                settled_stop(stop, has_calls=bool(calls)),
                self._usage,
                self._response_id,
                self._answering_model,
                self._request_id,
                cut,
            ),
        )

    def _blocks(self) -> list[Block]:
        blocks: list[Block] = []
        if self._reasoning.text:
            blocks.append(ReasoningBlock(self._reasoning.text, model=self._model))
        if self._text.text:
            blocks.append(TextBlock(self._text.text))
        return blocks

    def _broken(self, what: str) -> StreamBroken:
        return StreamBroken(f"{self._asked.who}: {what}", request_id=self._request_id)


def usage_of(usage: JsonObject, timings: JsonObject) -> Usage:
    """Usage in our terms: `prompt_tokens` includes the cached ones, our input does not."""
    details = object_at(usage, "prompt_tokens_details")
    prompt = count_at(usage, "prompt_tokens")
    cached = (
        count_at(details, "cached_tokens")
        or count_at(usage, "prompt_cache_hit_tokens")  # DeepSeek
        or count_at(timings, "cache_n")  # llama.cpp
    )
    cached = min(cached, prompt)
    written = min(count_at(details, "cache_write_tokens"), prompt - cached)
    return Usage(
        input_tokens=prompt - cached - written,
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=count_at(usage, "completion_tokens"),
        reasoning_tokens=count_at(object_at(usage, "completion_tokens_details"), "reasoning_tokens"),
    )
