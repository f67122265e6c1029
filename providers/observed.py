"""A provider that lets somebody look at each finished answer, and changes nothing."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from providers.model import Answered, ModelEvent, Request
from providers.ports import Provider


class Observed:
    """Calls `on_answer` with the request and its answer, before the answer is passed on."""

    def __init__(self, provider: Provider, on_answer: Callable[[Request, Answered], None]) -> None:
        self._provider = provider
        self._on_answer = on_answer

    @property
    def name(self) -> str:
        return self._provider.name

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        """The events of the provider behind it; see `providers.ports.Provider`."""
        async with self._provider.stream(request) as events:
            yield _Events(events, request, self._on_answer)


class _Events:
    def __init__(
        self,
        events: AsyncIterator[ModelEvent],
        request: Request,
        on_answer: Callable[[Request, Answered], None],
    ) -> None:
        self._events = events
        self._request = request
        self._on_answer = on_answer

    def __aiter__(self) -> AsyncIterator[ModelEvent]:
        return self

    async def __anext__(self) -> ModelEvent:
        event = await anext(self._events)
        if isinstance(event, Answered):
            self._on_answer(self._request, event)
        return event
