"""One turn as its events pass by."""

from collections.abc import Awaitable, Callable
from typing import Self

from actors.address import Address
from actors.envelope import ReceiptState
from actors.errors import ActorStopped, NotDelivered
from actors.events import AgentChanged, MessageDropped, MessageTaken, SessionEvent, TurnFinished
from actors.receipt import Receipt
from actors.records import AgentState
from host.hub import Subscription

_TAKEN = {ReceiptState.TAKEN, ReceiptState.PRESENTED}


class TurnStream:
    """The events of one turn. Iterate it once; `answer` then holds how the turn ended."""

    def __init__(
        self,
        agent: Address,
        watch: Callable[[], Subscription],
        post: Callable[[], Awaitable[Receipt]],
        take_back: Callable[[Receipt], None],
    ) -> None:
        self._agent = agent
        self._watch = watch
        self._post = post
        self._take_back = take_back
        self._subscription: Subscription | None = None
        self._receipt: Receipt | None = None
        self._is_taken = False
        self._broken_because = ""
        self.answer: TurnFinished | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        if self.answer is not None:
            raise StopAsyncIteration
        if self._receipt is None:
            self._subscription = subscription = self._watch()
            try:
                self._receipt = await self._post()
            except BaseException:
                subscription.close()
                raise
            self._receipt.on_abandoned = self._abandoned
        assert self._subscription is not None, "the watching begins before the message is sent"
        try:
            event = await anext(self._subscription)
        except StopAsyncIteration:
            why = self._broken_because or "it was stopped"
            raise ActorStopped(f"{self._agent} stopped before it answered: {why}") from None
        self._look_at(event)
        return event

    def close(self) -> None:
        """Stops watching; the turn goes on."""
        if self._subscription is not None:
            self._subscription.close()

    def cancel(self) -> None:
        """Takes the message back, or cancels its turn if that has begun."""
        if self._receipt is not None:
            self._take_back(self._receipt)

    def _abandoned(self) -> None:
        """The agent has stopped: a turn that took the message still tells its end, else nothing comes."""
        if self._receipt is not None and self._receipt.state not in _TAKEN and self._subscription is not None:
            self._subscription.finish()

    def _look_at(self, event: SessionEvent) -> None:
        if self._receipt is None or event.agent != self._agent:
            return
        envelope_id = self._receipt.envelope.id
        if isinstance(event, MessageTaken) and event.envelope_id == envelope_id:
            self._is_taken = True
        elif isinstance(event, MessageDropped) and event.envelope_id == envelope_id:
            self.close()
            raise NotDelivered(f"the message to {event.agent} is {event.state}: {event.reason}")
        elif isinstance(event, TurnFinished) and self._is_taken:
            self.answer = event
            self.close()
        elif isinstance(event, AgentChanged) and self._is_broken_by(event):
            self._broken_because = event.reason
            self.close()

    def _is_broken_by(self, event: AgentChanged) -> bool:
        """The agent itself has failed, not just an earlier turn: no end of its turn comes."""
        is_abandoned = self._receipt is not None and self._receipt.is_abandoned
        return event.state is AgentState.FAILED and is_abandoned
