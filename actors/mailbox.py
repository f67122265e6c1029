"""A bounded mailbox on a memory channel, in which nothing is ever lost.

Five rules, from the messaging spec, keep it so:

1. `put` reserves a slot, numbers the envelope and submits it to the log in one
   synchronous step; the order of submission is the order of the log.
2. Only the log's completion moves the envelope on: into the channel or to the
   dead letters. Cancelling a sender after submission only stops it from hearing.
3. Nothing leaves by an await. Between taking an envelope out and submitting its
   "taken" record there is no await; waiting is done on a bell beside the channel.
4. The end of a turn looks once and submits "turn ended" in the same step.
5. Closing is synchronous; what is still reserved dies, or stays in the log, when it arrives.
"""

import contextlib
from collections import deque
from collections.abc import Callable
from functools import partial

import anyio

from actors.address import Address
from actors.bell import Bell
from actors.draft import Draft
from actors.envelope import Envelope, EnvelopeId, ReceiptState
from actors.errors import ActorStopped, MailboxFull
from actors.ledger import Ledger
from actors.receipt import Receipt
from actors.records import EnvelopeAccepted, EnvelopeDropped, EnvelopesPresented, TurnEnded

DEFAULT_CAPACITY = 256
_TAKEN_BACK = "its sender took it back"
_TASK_GONE = "the turn that started its task was taken back"


class Mailbox:
    """The messages to one agent. One agent takes; anybody puts."""

    def __init__(
        self,
        owner: Address,
        ledger: Ledger,
        *,
        capacity: int = DEFAULT_CAPACITY,
        on_dropped: Callable[[Envelope, ReceiptState, str], None] = lambda _envelope, _state, _reason: None,
    ) -> None:
        self.owner = owner
        self.bell = Bell()
        self.capacity = capacity
        self._ledger = ledger
        self._on_dropped = on_dropped
        # Envelopes that were accepted before a restart may outnumber the slots.
        waiting = tuple(ledger.fold.waiting.values())
        size = max(capacity, len(waiting))
        self._inlet, self._outlet = anyio.create_memory_object_stream[Envelope](size)
        self._picked: deque[Envelope] = deque(waiting)
        self._n_slots_used = len(waiting)
        self._sequences = dict(ledger.fold.sequences)
        self._receipts: dict[EnvelopeId, Receipt] = {}
        self._unwanted: set[EnvelopeId] = set()
        self._forgotten: set[str] = set()
        self._slot_waiters: deque[Bell] = deque()
        self._closed_because: str | None = None
        self._keeps = False
        if waiting:
            self.bell.ring()

    # Senders

    def put_nowait(self, draft: Draft) -> Receipt:
        """Submits a message without waiting for anything; the receipt tells when it is accepted.

        A draft whose id was put before gives the receipt of the first one.

        Raises:
            MailboxFull: no free slot.
            ActorStopped: the mailbox is closed.
        """
        if self._closed_because is not None:
            raise ActorStopped(f"{self.owner} takes no messages any more: {self._closed_because}")
        if (known := self._known(draft.id)) is not None:
            return known
        if not self._has_room:
            raise MailboxFull(
                f"the mailbox of {self.owner} is full ({self.capacity} messages wait); "
                f"the message from {draft.sender} was not accepted"
            )
        envelope = self._number(draft)
        receipt = Receipt(envelope, self.withdraw)
        self._n_slots_used += 1
        self._sequences[draft.sender] = envelope.sequence
        self._receipts[envelope.id] = receipt
        self._ledger.submit(EnvelopeAccepted(envelope), then=partial(self._arrived, envelope))
        return receipt

    async def post(self, draft: Draft, *, wait_s: float | None = None) -> Receipt:
        """Waits for a free slot, then submits; the receipt tells when the message is accepted.

        Waits for ever with `wait_s` None, else that long. Cancelled, nothing
        was sent: no await follows the submission.

        Raises:
            MailboxFull: no slot became free in time.
            ActorStopped: the mailbox is closed, or was while waiting.
        """
        await self._wait_for_slot(draft, wait_s)
        return self.put_nowait(draft)

    async def put(self, draft: Draft, *, wait_s: float | None = None) -> Receipt:
        """As `post`, and returns once the message is accepted, which means stored.

        Cancelled after the submission, the message arrives all the same.

        Raises:
            MailboxFull, ActorStopped: as `post`.
            NotDelivered: the store did not take the message.
        """
        receipt = await self.post(draft, wait_s=wait_s)
        await receipt.accepted()
        return receipt

    def withdraw(self, envelope: Envelope) -> bool:
        """Takes a message back; False if it was already taken (or dropped)."""
        self._collect()
        receipt = self._receipts.get(envelope.id)
        if receipt is not None and receipt.state is None:
            self._unwanted.add(envelope.id)
            return True
        if envelope not in self._picked:
            return False
        self._picked.remove(envelope)
        self._drop(envelope, ReceiptState.WITHDRAWN, _TAKEN_BACK)
        return True

    def forget_task(self, task_id: str) -> None:
        """Withdraws what is told of this task, now and from now on."""
        self._forgotten.add(task_id)
        self._collect()
        for envelope in tuple(self._picked):
            if envelope.task_id == task_id:
                self._picked.remove(envelope)
                self._drop(envelope, ReceiptState.WITHDRAWN, _TASK_GONE)

    def last_taken_from(self, sender: Address) -> int:
        """The number of the last message of this sender that the agent has seen; 0 if there is none."""
        fold = self._ledger.fold
        unseen = [e.sequence for e in fold.waiting.values() if e.sender == sender]
        return min(unseen) - 1 if unseen else fold.sequences.get(sender, 0)

    @property
    def is_empty(self) -> bool:
        """Nothing waits and nothing is on its way."""
        return self._n_slots_used == 0

    # The agent

    def waiting(self) -> tuple[Envelope, ...]:
        """What could be taken now, oldest first. Looks without waiting and takes nothing."""
        self._collect()
        return tuple(self._picked)

    def take(self, envelopes: tuple[Envelope, ...]) -> None:
        """Takes these out. The caller submits their "taken" record before its next await."""
        self._collect()
        for envelope in envelopes:
            self._picked.remove(envelope)
            self._free_slot()

    def taken(self, envelope_ids: tuple[EnvelopeId, ...]) -> None:
        """The "taken" record of these is stored."""
        for envelope_id in envelope_ids:
            self._advance(envelope_id, ReceiptState.TAKEN)

    def present(self, envelope_ids: tuple[EnvelopeId, ...], request_id: str) -> None:
        """A provider accepted a request that holds these; logged, then told to their senders."""

        def presented(error: Exception | None) -> None:
            if error is None:
                for envelope_id in envelope_ids:
                    self._advance(envelope_id, ReceiptState.PRESENTED, request_id=request_id)

        self._ledger.submit(EnvelopesPresented(envelope_ids, request_id), then=presented)

    def answered(
        self, envelope_ids: tuple[EnvelopeId, ...], turn: TurnEnded, cause: Exception | None = None
    ) -> None:
        """The turn that took these has ended, and the log has it; `cause` is the error that ended it."""
        for envelope_id in envelope_ids:
            if (receipt := self._receipts.pop(envelope_id, None)) is not None:
                receipt.cause = cause
                receipt.advance(ReceiptState.ANSWERED, turn=turn)

    def close(self, reason: str, *, keep: bool) -> None:
        """Takes nothing more. With `keep` what waits stays in the log for a resume, else it is dead.

        Senders of what waits hear `ActorStopped` or `NotDelivered`. Those of what is on its way to
        the log hear when it is there, and those of what a turn has taken when that has ended.
        """
        if self._closed_because is not None:
            return
        self._collect()
        self._closed_because = reason
        self._keeps = keep
        self._inlet.close()
        self._outlet.close()
        for waiter in self._slot_waiters:
            waiter.ring()
        while self._picked:
            self._leave(self._picked.popleft())
        self.bell.ring()

    def abandon(self) -> None:
        """Behind `close`, when the agent's task has ended: what a turn took comes no further here.

        What is on its way to the log still hears from there.
        """
        for receipt in tuple(self._receipts.values()):
            if receipt.state is not None:
                self._abandon(receipt)

    # Inside

    def _known(self, envelope_id: EnvelopeId) -> Receipt | None:
        receipt = self._receipts.get(envelope_id)
        state = self._ledger.fold.receipts.get(envelope_id)
        if receipt is None and state is not None:
            raise ActorStopped(f"message {envelope_id} was already sent to {self.owner} and is {state.value}")
        return receipt

    def _number(self, draft: Draft) -> Envelope:
        return Envelope(
            id=draft.id,
            sender=draft.sender,
            sender_role=draft.sender_role,
            recipient=self.owner,
            kind=draft.kind,
            body=draft.body,
            sent_at=draft.sent_at,
            sequence=self._sequences.get(draft.sender, 0) + 1,
            seen_sequence=draft.seen_sequence,
            hops=draft.hops,
            task_id=draft.task_id,
            model=draft.model,
            result_schema=draft.result_schema,
            expires_at=draft.expires_at,
        )

    def _arrived(self, envelope: Envelope, error: Exception | None) -> None:
        if error is not None:
            self._free_slot()
            self._advance(envelope.id, ReceiptState.DEAD, reason=f"the store did not take it: {error}")
            self._receipts.pop(envelope.id, None)
            return
        self._advance(envelope.id, ReceiptState.ACCEPTED)
        if envelope.id in self._unwanted:
            self._unwanted.discard(envelope.id)
            self._drop(envelope, ReceiptState.WITHDRAWN, _TAKEN_BACK)
            return
        if envelope.task_id in self._forgotten:
            self._drop(envelope, ReceiptState.WITHDRAWN, _TASK_GONE)
            return
        if self._closed_because is not None:
            self._leave(envelope)
            return
        self._inlet.send_nowait(envelope)
        self._advance(envelope.id, ReceiptState.QUEUED)
        self.bell.ring()

    def _collect(self) -> None:
        if self._closed_because is not None:
            return
        with contextlib.suppress(anyio.WouldBlock):
            while True:
                self._picked.append(self._outlet.receive_nowait())

    def _leave(self, envelope: Envelope) -> None:
        """The mailbox is closed: this one stays in the log for a resume, or dies."""
        reason = self._closed_because or ""
        if not self._keeps:
            self._drop(envelope, ReceiptState.DEAD, reason)
        elif (receipt := self._receipts.get(envelope.id)) is not None:
            self._abandon(receipt)

    def _abandon(self, receipt: Receipt) -> None:
        del self._receipts[receipt.envelope.id]
        receipt.abandon(self._closed_because or "")

    def _drop(self, envelope: Envelope, state: ReceiptState, reason: str) -> None:
        self._free_slot()
        receipt = self._receipts.pop(envelope.id, None)

        def dropped(error: Exception | None) -> None:
            if error is None:
                self._on_dropped(envelope, state, reason)
            if receipt is not None and error is None:
                receipt.advance(state, reason=reason)
            elif receipt is not None:
                receipt.abandon(f"the store did not take its end: {error}")

        self._ledger.submit(EnvelopeDropped(envelope.id, state, reason), then=dropped)

    def _advance(
        self,
        envelope_id: EnvelopeId,
        state: ReceiptState,
        *,
        reason: str = "",
        request_id: str | None = None,
    ) -> None:
        receipt = self._receipts.get(envelope_id)
        if receipt is not None:
            receipt.advance(state, reason=reason, request_id=request_id)

    async def _wait_for_slot(self, draft: Draft, wait_s: float | None) -> None:
        if self._has_room and not self._slot_waiters:
            return
        waiter = Bell()
        self._slot_waiters.append(waiter)
        try:
            with anyio.move_on_after(wait_s) as scope:
                while self._closed_because is None and not self._may_go_on(waiter):
                    await waiter.wait()
        finally:
            self._slot_waiters.remove(waiter)
            self._wake_next()
        if scope.cancelled_caught:
            raise MailboxFull(
                f"the mailbox of {self.owner} stayed full for {wait_s:g} s ({self.capacity} messages wait); "
                f"the message from {draft.sender} was not accepted"
            )

    @property
    def _has_room(self) -> bool:
        return self._n_slots_used < self.capacity

    def _may_go_on(self, waiter: Bell) -> bool:
        """The first in the row, and nobody else: who came first submits first."""
        return self._has_room and self._slot_waiters[0] is waiter

    def _free_slot(self) -> None:
        self._n_slots_used -= 1
        self._wake_next()

    def _wake_next(self) -> None:
        if self._slot_waiters and self._has_room:
            self._slot_waiters[0].ring()
