"""Asks again when asking again can help, and only while nothing was shown."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import anyio

from providers.errors import RetryableError
from providers.model import (
    CallCompleted,
    CallStarted,
    ModelEvent,
    ReasoningDelta,
    Request,
    RetryScheduled,
    TextDelta,
)
from providers.ports import Provider

_SHOWN = (TextDelta, ReasoningDelta, CallStarted, CallCompleted)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long.

    Waits start at `first_delay_s`, double up to `max_delay_s` and are
    multiplied by a factor between `jitter_from` and 1. What a provider asks
    for comes before that; above `max_retry_after_s` nobody waits for it.
    """

    n_retries: int = 10
    first_delay_s: float = 2.0
    max_delay_s: float = 60.0
    max_retry_after_s: float = 300.0
    jitter_from: float = 0.5

    def delay_s(self, attempt: int, error: RetryableError, random: Callable[[], float]) -> float | None:
        """The wait before retry number `attempt` (from 1); None says that there is none."""
        if attempt > self.n_retries or error.should_retry is False:
            return None
        if error.retry_after_s is not None and error.retry_after_s > 0:
            return error.retry_after_s if error.retry_after_s <= self.max_retry_after_s else None
        # bounded: 2 to the power of a large attempt is no float any more
        delay = min(self.first_delay_s * 2.0 ** min(attempt - 1, 64), self.max_delay_s)
        return delay * (self.jitter_from + (1 - self.jitter_from) * random())


class Retrying:
    """A provider that hides failures which pass by themselves.

    Each wait is announced by a `RetryScheduled`. An `AnswerStarted` can come
    once for each attempt. The first request goes out with the first event
    that is asked for, so every error is raised while iterating.
    """

    def __init__(self, provider: Provider, policy: RetryPolicy, random: Callable[[], float]) -> None:
        self._provider = provider
        self._policy = policy
        self._random = random

    @property
    def name(self) -> str:
        return self._provider.name

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        """The events of the attempt that worked; see `providers.ports.Provider`."""
        async with AsyncExitStack() as attempts:
            yield _Attempts(self._provider, request, self._policy, self._random, attempts)


class _Attempts:
    """The events of one attempt after the other; at most one is open at a time."""

    def __init__(
        self,
        provider: Provider,
        request: Request,
        policy: RetryPolicy,
        random: Callable[[], float],
        open_attempt: AsyncExitStack,
    ) -> None:
        self._provider = provider
        self._request = request
        self._policy = policy
        self._random = random
        self._open_attempt = open_attempt
        self._events: AsyncIterator[ModelEvent] | None = None
        self._n_failed = 0
        self._wait_s = 0.0
        self._is_shown = False

    def __aiter__(self) -> AsyncIterator[ModelEvent]:
        return self

    async def __anext__(self) -> ModelEvent:
        wait_s, self._wait_s = self._wait_s, 0.0
        if wait_s > 0:
            await anyio.sleep(wait_s)
        try:
            if self._events is None:
                self._events = await self._open_attempt.enter_async_context(
                    self._provider.stream(self._request)
                )
            event = await anext(self._events)
        except RetryableError as error:
            return await self._schedule(error)
        self._is_shown = self._is_shown or isinstance(event, _SHOWN)
        return event

    async def _schedule(self, error: RetryableError) -> RetryScheduled:
        delay_s = None
        if not self._is_shown:
            delay_s = self._policy.delay_s(self._n_failed + 1, error, self._random)
        if delay_s is None:
            raise error
        self._n_failed += 1
        self._events = None
        await self._open_attempt.aclose()
        self._wait_s = delay_s
        return RetryScheduled(self._n_failed, delay_s, str(error))
