"""Carries the events of all agents of a host to whoever watches."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Self
from weakref import WeakSet

import anyio

from actors.address import AgentId
from actors.events import ReasoningArrived, SessionEvent, TextArrived
from host.errors import WatcherTooSlow

MERGE_FROM = 64
MAX_WAITING = 20_000


class Subscription:
    """The events that a watcher has not seen yet, in order; an async iterator.

    Never slows an agent down: from 64 waiting events on, neighbouring deltas
    of one agent are joined, and a watcher that lies 20,000 events back gets
    `WatcherTooSlow` instead of a gap. Ends when the host ends, or the agent
    that it is about (`of`).
    """

    def __init__(self, wants: Callable[[SessionEvent], bool], of: AgentId | None) -> None:
        self.of = of
        self._wants = wants
        self._waiting: deque[SessionEvent] = deque()
        self._bell: anyio.Event | None = None
        self._is_over = False
        self._is_overrun = False

    def offer(self, event: SessionEvent) -> None:
        """For the hub: an event has happened."""
        if self._is_over or not self._wants(event):
            return
        if len(self._waiting) >= MAX_WAITING:
            self._is_overrun = True
            self.finish()
            return
        if not self._merge(event):
            self._waiting.append(event)
        self._ring()

    def finish(self) -> None:
        """No event comes any more; those that wait are still given out."""
        self._is_over = True
        self._ring()

    def close(self) -> None:
        """Stops watching."""
        self._waiting.clear()
        self.finish()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        while not self._waiting:
            if self._is_overrun:
                raise WatcherTooSlow(f"{MAX_WAITING:,} events were waiting; the watcher was too slow")
            if self._is_over:
                raise StopAsyncIteration
            self._bell = anyio.Event()
            await self._bell.wait()
        return self._waiting.popleft()

    def _merge(self, event: SessionEvent) -> bool:
        if len(self._waiting) < MERGE_FROM:
            return False
        last = self._waiting[-1]
        for kind in (TextArrived, ReasoningArrived):
            if isinstance(last, kind) and isinstance(event, kind) and last.agent == event.agent:
                self._waiting[-1] = replace(last, text=last.text + event.text)
                return True
        return False

    def _ring(self) -> None:
        if self._bell is not None:
            self._bell.set()


class Hub:
    """All watchers of one host; one that nobody holds any more is forgotten."""

    def __init__(self) -> None:
        self._subscriptions: WeakSet[Subscription] = WeakSet()

    def emit(self, event: SessionEvent) -> None:
        for subscription in tuple(self._subscriptions):
            subscription.offer(event)

    def subscribe(
        self, wants: Callable[[SessionEvent], bool] = lambda _: True, *, of: AgentId | None = None
    ) -> Subscription:
        """Watches from now on."""
        subscription = Subscription(wants, of)
        self._subscriptions.add(subscription)
        return subscription

    def finish(self, of: AgentId | None = None) -> None:
        """This agent has ended, or the host."""
        for subscription in tuple(self._subscriptions):
            if of is None or of == subscription.of:
                subscription.finish()
