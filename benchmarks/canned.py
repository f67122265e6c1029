"""A model that costs nothing, so that what is measured is ours; and hosts that ask it."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import anyio
from pydantic import JsonValue

from actors.tools import tool
from providers.anthropic.encode import encode
from providers.model import (
    Answered,
    AnswerStarted,
    CallCompleted,
    CallStarted,
    Message,
    ModelEvent,
    Request,
    Role,
    StopReason,
    TextDelta,
    ToolCall,
    Usage,
)
from providers.scripted import SCRIPTED_PROFILE

_USAGE = Usage(input_tokens=100, output_tokens=10)


@tool(is_read_only=True)
async def look(what: str) -> str:
    """Looks at something."""
    return f"saw {what}"


@dataclass(frozen=True, slots=True)
class CannedModel:
    """Calls `look` where a user spoke last, else answers; each after so many seconds. A `Provider`.

    With `dumps` it makes and dumps the body of each request, as if it went over the wire.
    """

    takes_s: float = 0.0
    dumps: bool = False

    @property
    def name(self) -> str:
        return "canned"

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        if self.dumps:
            dump(encode(request, SCRIPTED_PROFILE))
        return _opened(request, self.takes_s)


def dump(body: Mapping[str, JsonValue]) -> bytes:
    """As the HTTP client does it."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


@asynccontextmanager
async def _opened(request: Request, takes_s: float) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    await anyio.sleep(takes_s)
    yield _Events(_answer(request))


class _Events:
    def __init__(self, events: Sequence[ModelEvent]) -> None:
        self._events = iter(events)

    def __aiter__(self) -> AsyncIterator[ModelEvent]:
        return self

    async def __anext__(self) -> ModelEvent:
        for event in self._events:
            return event
        raise StopAsyncIteration


def _answer(request: Request) -> Sequence[ModelEvent]:
    started = AnswerStarted("response", request.model, "request")
    if request.messages[-1].role is Role.TOOL:
        text = "I have seen it."
        return (
            started,
            TextDelta(text),
            _answered(request, Message(Role.ASSISTANT, text), StopReason.END_TURN),
        )
    # One id a request: a history in which they repeat would have to be repaired.
    call = ToolCall(f"call-of-{len(request.messages)}", "look", {"what": "the page on doors"})
    message = Message(Role.ASSISTANT, None, (call,))
    asked = (CallStarted(call.id, call.name), CallCompleted(call))
    return (started, *asked, _answered(request, message, StopReason.TOOL_USE))


def _answered(request: Request, message: Message, stop: StopReason) -> Answered:
    return Answered(message, stop, _USAGE, "response", request.model, "request")
