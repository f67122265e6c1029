"""What a sender holds of a message: how far it has come."""

from collections.abc import Callable

import anyio

from actors.envelope import Envelope, ReceiptState
from actors.errors import ActorStopped, NotDelivered
from actors.records import TurnEnded

_FAILED = 9
_ORDER = {
    ReceiptState.ACCEPTED: 1,
    ReceiptState.QUEUED: 2,
    ReceiptState.TAKEN: 3,
    ReceiptState.PRESENTED: 4,
    ReceiptState.ANSWERED: 5,
    ReceiptState.WITHDRAWN: _FAILED,
    ReceiptState.EXPIRED: _FAILED,
    ReceiptState.DEAD: _FAILED,
}


class Receipt:
    """How far one message has come. Each wait returns at once if it has come that far.

    `state` None means that the store has not confirmed it yet. `cause` is the
    error that ended the turn, where one did. Cancelling a wait changes nothing
    about the message.

    Raises:
        NotDelivered: from any wait, when the message was withdrawn, expired or died.
        ActorStopped: from any wait, when the recipient stopped in this process before
            the message came that far; what was accepted stays in its log.
    """

    def __init__(self, envelope: Envelope, withdraw: Callable[[Envelope], bool]) -> None:
        self.envelope = envelope
        self.state: ReceiptState | None = None
        self._come = 0  # the state's number: looking up an enum costs more than comparing
        self.reason = ""
        self.request_id: str | None = None
        self.turn: TurnEnded | None = None
        self.cause: Exception | None = None
        self._withdraw = withdraw
        self._changed: anyio.Event | None = None
        self._abandoned_because: str | None = None
        self.on_abandoned: Callable[[], None] = lambda: None

    @property
    def is_abandoned(self) -> bool:
        """The recipient has stopped in this process before the message was answered."""
        return self._abandoned_because is not None

    async def accepted(self) -> None:
        """The message is in the log of its recipient; it survives a crash of the host."""
        await self._reach(ReceiptState.ACCEPTED)

    async def taken(self) -> None:
        """The message is in the recipient's history."""
        await self._reach(ReceiptState.TAKEN)

    async def presented(self) -> str:
        """The model has it in front of it; gives the id of the request that carried it."""
        await self._reach(ReceiptState.PRESENTED)
        if self.request_id is None:
            raise NotDelivered(
                f"the turn that took message {self.envelope.id} ended before a provider accepted "
                "a request with it"
            )
        return self.request_id

    async def answered(self) -> TurnEnded:
        """The turn that took the message has ended; gives its outcome, whatever it is."""
        await self._reach(ReceiptState.ANSWERED)
        assert self.turn is not None, "a receipt is answered only together with its turn"
        return self.turn

    def withdraw(self) -> bool:
        """Takes the message back if nobody has taken it yet; says whether that worked."""
        return self._withdraw(self.envelope)

    def advance(
        self,
        state: ReceiptState,
        *,
        reason: str = "",
        request_id: str | None = None,
        turn: TurnEnded | None = None,
    ) -> None:
        """For the mailbox: the message has come to `state`; never back to an earlier one."""
        come = _ORDER[state]
        if come <= self._come:
            return
        self.state, self._come = state, come
        self.reason = reason or self.reason
        self.request_id = request_id or self.request_id
        self.turn = turn or self.turn
        self._wake()

    def abandon(self, reason: str) -> None:
        """For the mailbox: the message comes no further in this process."""
        self._abandoned_because = reason
        self._wake()
        self.on_abandoned()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    async def _reach(self, wanted: ReceiptState) -> None:
        order = _ORDER[wanted]
        while self._come < order:
            if self._abandoned_because is not None:
                come = self.state.value if self.state else "not accepted"
                raise ActorStopped(
                    f"{self.envelope.recipient} stopped ({self._abandoned_because}); "
                    f"message {self.envelope.id} is {come}, not {wanted.value}"
                )
            if self._changed is None:
                self._changed = anyio.Event()
            await self._changed.wait()
        if self.state is not None and self._come == _FAILED:
            raise NotDelivered(
                f"message {self.envelope.id} to {self.envelope.recipient} "
                f"is {self.state.value}: {self.reason}"
            )
