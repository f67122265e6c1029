"""Streams for the tests of wire formats: events as they stand on the wire, and decoders fed with them."""

import json
from collections.abc import Iterable

from pydantic import JsonValue

from providers.failures import Asked
from providers.model import Answered, ModelEvent
from providers.sse import ServerSentEvent, SseDecoder
from providers.wire import AnswerDecoder

ASKED = Asked("test", "http://test.invalid/v1")
Payload = dict[str, JsonValue]


def named(payload: Payload) -> ServerSentEvent:
    """An event of Anthropic's: the type is its name as well."""
    return ServerSentEvent(str(payload.get("type", "message")), json.dumps(payload))


def unnamed(payload: Payload) -> ServerSentEvent:
    return ServerSentEvent("message", json.dumps(payload))


def wire_bytes(events: Iterable[ServerSentEvent], *, line_end: str = "\n") -> bytes:
    """The events as a server sends them."""
    lines: list[str] = []
    for event in events:
        if event.event != "message":
            lines.append(f"event: {event.event}")
        lines += [f"data: {event.data}", ""]
    return "".join(line + line_end for line in lines).encode()


def answered(decoder: AnswerDecoder, events: Iterable[ServerSentEvent]) -> Answered:
    """The last event of a stream that ends well."""
    last = all_events(decoder, events)[-1]
    assert isinstance(last, Answered)
    return last


def all_events(decoder: AnswerDecoder, events: Iterable[ServerSentEvent]) -> list[ModelEvent]:
    out = [out for event in events for out in decoder.feed(event)]
    decoder.close()
    return out


def decoded(chunks: Iterable[bytes]) -> list[ServerSentEvent]:
    """What the byte decoder makes of these chunks."""
    sse = SseDecoder()
    events = [event for chunk in chunks for event in sse.feed(chunk)]
    return [*events, *sse.close()]
