"""Where the acts take place: sees every event of the host, shows what matters, keeps the claims."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
from anyio.abc import TaskStatus

from actors.events import AnswerCommitted, MessageTaken, SessionEvent, TurnBegan, TurnFinished
from actors.history import Presentation
from host.demo.events import AgentAnswered, Claimed, DemoEvent, NotificationArrived
from host.host import Host
from host.session import Session
from providers.model import Usage

E = TypeVar("E")
_NOTIFICATIONS = (Presentation.TASK_NOTIFICATION, Presentation.TASK_NOTIFICATION_STEER)


@dataclass(frozen=True, slots=True)
class Seen:
    at_s: float
    event: SessionEvent


class Stage:
    """The record of everything that happened, and what the acts claim about it."""

    def __init__(self, host: Host, show: Callable[[DemoEvent], None]) -> None:
        self.host = host
        self.show = show
        self.seen: list[Seen] = []
        self.n_claims = 0
        self.n_broken = 0
        self.are_turns_shown = True
        self._others = {session.id for session in host.agents()}
        self._bell = anyio.Event()

    async def watch(self, *, task_status: TaskStatus[None]) -> None:
        """Records the events of the host until cancelled."""
        subscription = self.host.watch()
        task_status.started()
        try:
            async for event in subscription:
                self.seen.append(Seen(anyio.current_time(), event))
                if self.are_turns_shown:
                    self._show_live(event)
                self._bell.set()
                self._bell = anyio.Event()
        finally:
            subscription.close()

    async def until(self, kind: type[E], fits: Callable[[E], bool], *, since: int = 0) -> E:
        """The first event of this kind that fits, waiting for it; `since` counts in `seen`."""
        while True:
            for seen in self.seen[since:]:
                if isinstance(seen.event, kind) and fits(seen.event):
                    return seen.event
            since = len(self.seen)
            await self._bell.wait()

    def place(self, event: object) -> int:
        """Where an event stands among all that were seen."""
        return next(index for index, seen in enumerate(self.seen) if seen.event is event)

    async def turn_of(self, agent: str, since: int) -> TurnFinished:
        """The end of the first turn of this agent since then."""
        return await self.until(TurnFinished, lambda event: event.agent == agent, since=since)

    def players(self) -> tuple[Session, ...]:
        """The agents that live now and were not there before the first act."""
        return tuple(session for session in self.host.agents() if session.id not in self._others)

    async def clear(self) -> None:
        """Stops what an act has left."""
        for session in self.players():
            await session.stop()

    def claim(self, text: str, holds: bool, detail: str = "") -> None:
        """States what was to be shown, and whether it was so."""
        self.n_claims += 1
        self.n_broken += not holds
        self.show(Claimed(text, holds, detail))

    def last(self) -> str:
        """What happened last, for somebody who wonders what did not."""
        if not self.seen:
            return "nothing happened"
        event = self.seen[-1].event
        return f"the last event was {type(event).__name__} of {event.agent}"

    def usage(self, since: int = 0) -> Usage:
        """What the providers reported for the answers since then."""
        answers = (s.event.usage for s in self.seen[since:] if isinstance(s.event, AnswerCommitted))
        return sum(answers, Usage())

    def _show_live(self, event: SessionEvent) -> None:
        if isinstance(event, TurnFinished):
            began = [
                s.at_s
                for s in self.seen
                if isinstance(s.event, TurnBegan) and s.event.turn_id == event.turn_id
            ]
            seconds = self.seen[-1].at_s - began[0] if began else 0.0
            self.show(
                AgentAnswered(event.agent, event.text, event.stop.value, event.usage, seconds, event.error)
            )
        elif isinstance(event, MessageTaken) and event.presentation in _NOTIFICATIONS:
            self.show(
                NotificationArrived(
                    event.agent, _field(event.preview, "agent"), _field(event.preview, "status")
                )
            )


def _field(notification: str, name: str) -> str:
    """A field of a notification's text; its head, which a preview holds, has these."""
    return notification.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
