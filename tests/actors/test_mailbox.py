"""The five rules of the mailbox, on a log that completes when it is told to."""

from collections.abc import Callable

import anyio
import pytest

from actors.address import Address
from actors.draft import Draft
from actors.envelope import EnvelopeId, EnvelopeKind, ReceiptState, SenderRole
from actors.errors import ActorStopped, BodyTooLarge, LogFailed, MailboxFull, NotDelivered
from actors.ledger import Ledger
from actors.mailbox import Mailbox
from actors.records import (
    EnvelopeAccepted,
    EnvelopeDropped,
    EnvelopesTaken,
    Record,
    TurnEnded,
    TurnId,
    TurnStop,
)
from actors.state import AgentFold
from providers.model import Usage

ME = Address("me")


class HandLog:
    """Completes submits one by one, or at once."""

    def __init__(self, *, at_once: bool = False) -> None:
        self.at_once = at_once
        self.stored: list[Record] = []
        self.waiting: list[tuple[tuple[Record, ...], Callable[[Exception | None], None]]] = []

    def submit(self, records: tuple[Record, ...], done: Callable[[Exception | None], None]) -> None:
        self.waiting.append((records, done))
        if self.at_once:
            self.complete()

    def complete(self, error: Exception | None = None) -> None:
        records, done = self.waiting.pop(0)
        if error is None:
            self.stored.extend(records)
        done(error)


class Desk:
    """A mailbox with its log and fold."""

    def __init__(self, *, capacity: int = 4, at_once: bool = True) -> None:
        self.log = HandLog(at_once=at_once)
        self.fold = AgentFold()
        self.failures: list[Exception] = []
        self.dropped: list[tuple[str, ReceiptState, str]] = []
        self.ledger = Ledger(self.log, self.fold, self.failures.append)
        self.mailbox = Mailbox(
            ME,
            self.ledger,
            capacity=capacity,
            on_dropped=lambda envelope, state, reason: self.dropped.append((envelope.id, state, reason)),
        )

    def bodies(self) -> list[str]:
        return [envelope.body for envelope in self.mailbox.waiting()]


def draft(body: str, sender: str = "a") -> Draft:
    return Draft(
        id=EnvelopeId(f"{sender}-{body}"),
        sender=Address(sender),
        sender_role=SenderRole.PEER,
        kind=EnvelopeKind.TELL,
        body=body,
        sent_at=0.0,
    )


def ended() -> TurnEnded:
    return TurnEnded(TurnId("t"), TurnStop.DONE, "bye", Usage(), None, 1)


async def test_a_message_is_queued_only_when_the_log_has_it() -> None:
    desk = Desk(at_once=False)
    receipt = desk.mailbox.put_nowait(draft("1"))
    assert receipt.state is None
    assert desk.bodies() == []
    desk.log.complete()
    assert receipt.state is ReceiptState.QUEUED
    assert desk.bodies() == ["1"]
    desk.mailbox.close("over", keep=True)


async def test_sequences_count_from_one_for_each_sender() -> None:
    desk = Desk()
    numbers = [
        desk.mailbox.put_nowait(draft(str(n), sender)).envelope.sequence
        for n, sender in enumerate(["a", "b", "a", "a", "b"][:4])
    ]
    assert numbers == [1, 1, 2, 3]
    desk.mailbox.close("over", keep=True)


async def test_a_full_mailbox_refuses_and_names_itself() -> None:
    desk = Desk(capacity=1)
    desk.mailbox.put_nowait(draft("1"))
    with pytest.raises(MailboxFull, match=r"mailbox of me is full \(1 messages"):
        desk.mailbox.put_nowait(draft("2"))
    assert desk.bodies() == ["1"]
    desk.mailbox.close("over", keep=True)


async def test_a_blocked_sender_goes_on_when_a_slot_is_free() -> None:
    desk = Desk(capacity=1)
    desk.mailbox.put_nowait(draft("1"))
    async with anyio.create_task_group() as tasks:
        for body in "23":
            tasks.start_soon(desk.mailbox.put, draft(body))
            await anyio.sleep(1)
        assert desk.bodies() == ["1"]
        desk.mailbox.take(desk.mailbox.waiting())
        await anyio.sleep(1)
        assert desk.bodies() == ["2"]
        desk.mailbox.take(desk.mailbox.waiting())
    assert desk.bodies() == ["3"]
    desk.mailbox.close("over", keep=True)


async def test_a_cancelled_waiter_passes_its_wake_up_on() -> None:
    desk = Desk(capacity=1)
    desk.mailbox.put_nowait(draft("1"))
    async with anyio.create_task_group() as tasks:
        first = anyio.CancelScope()

        async def put_first() -> None:
            with first:
                await desk.mailbox.put(draft("2"))

        tasks.start_soon(put_first)
        await anyio.sleep(1)
        tasks.start_soon(desk.mailbox.put, draft("3"))
        await anyio.sleep(1)
        first.cancel()
        desk.mailbox.take(desk.mailbox.waiting())
        await anyio.sleep(1)
        seen = desk.bodies()
        desk.mailbox.take(desk.mailbox.waiting())
        await anyio.sleep(1)
        seen += desk.bodies()
    assert "3" in seen
    desk.mailbox.close("over", keep=True)


async def test_who_waits_first_submits_first() -> None:
    for _ in range(20):
        desk = Desk(capacity=1)
        desk.mailbox.put_nowait(draft("1"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.mailbox.put, draft("2"))
            await anyio.sleep(1)
            desk.mailbox.take(desk.mailbox.waiting())
            tasks.start_soon(desk.mailbox.put, draft("3"))
            await anyio.sleep(1)
            assert desk.bodies() == ["2"]
            desk.mailbox.take(desk.mailbox.waiting())
        assert desk.bodies() == ["3"]
        desk.mailbox.close("over", keep=True)


async def test_several_free_slots_let_several_senders_go_on() -> None:
    desk = Desk(capacity=2)
    for body in "12":
        desk.mailbox.put_nowait(draft(body))
    async with anyio.create_task_group() as tasks:
        for body in "34":
            tasks.start_soon(desk.mailbox.put, draft(body))
            await anyio.sleep(1)
        desk.mailbox.take(desk.mailbox.waiting())
    assert desk.bodies() == ["3", "4"]
    desk.mailbox.close("over", keep=True)


async def test_waiting_for_a_slot_ends_at_its_deadline() -> None:
    desk = Desk(capacity=1)
    desk.mailbox.put_nowait(draft("1"))
    before = anyio.current_time()
    with pytest.raises(MailboxFull, match="stayed full for 5 s"):
        await desk.mailbox.put(draft("2"), wait_s=5)
    assert anyio.current_time() - before == pytest.approx(5)
    desk.mailbox.close("over", keep=True)


async def test_cancelling_a_sender_after_submission_loses_nothing() -> None:
    desk = Desk(at_once=False)
    with anyio.move_on_after(1):
        await desk.mailbox.put(draft("1"))
    desk.log.complete()
    assert desk.bodies() == ["1"]
    desk.mailbox.close("over", keep=True)


async def test_a_message_that_the_store_lost_is_dead_and_frees_its_slot() -> None:
    desk = Desk(capacity=1, at_once=False)
    receipt = desk.mailbox.put_nowait(draft("1"))
    desk.log.complete(LogFailed("disk full"))
    assert receipt.state is ReceiptState.DEAD
    with pytest.raises(NotDelivered, match="disk full"):
        await receipt.accepted()
    assert [str(error) for error in desk.failures] == ["disk full"]
    desk.mailbox.close("over", keep=True)


async def test_a_withdrawn_message_is_never_taken_and_is_told_so() -> None:
    desk = Desk()
    receipt = desk.mailbox.put_nowait(draft("1"))
    assert receipt.withdraw()
    assert desk.bodies() == []
    assert desk.dropped == [("a-1", ReceiptState.WITHDRAWN, "its sender took it back")]
    with pytest.raises(NotDelivered, match="withdrawn"):
        await receipt.taken()
    assert not receipt.withdraw()
    desk.mailbox.close("over", keep=True)


async def test_a_message_withdrawn_before_it_is_stored_never_becomes_visible() -> None:
    desk = Desk(at_once=False)
    receipt = desk.mailbox.put_nowait(draft("1"))
    assert receipt.withdraw()
    desk.log.complete()
    desk.log.complete()
    assert desk.bodies() == []
    assert receipt.state is ReceiptState.WITHDRAWN
    assert [type(record) for record in desk.log.stored] == [EnvelopeAccepted, EnvelopeDropped]
    desk.mailbox.close("over", keep=True)


async def test_a_message_withdrawn_before_it_is_stored_does_not_survive_a_close() -> None:
    desk = Desk(at_once=False)
    receipt = desk.mailbox.put_nowait(draft("1"))
    assert receipt.withdraw()
    desk.mailbox.close("the host stopped", keep=True)
    while desk.log.waiting:
        desk.log.complete()
    assert not desk.fold.waiting
    assert receipt.state is ReceiptState.WITHDRAWN


async def test_a_closed_mailbox_gives_nothing_back() -> None:
    desk = Desk()
    receipt = desk.mailbox.put_nowait(draft("1"))
    desk.mailbox.close("the host stopped", keep=True)
    assert not receipt.withdraw()
    assert list(desk.fold.waiting) == ["a-1"]


async def test_a_taken_message_cannot_be_withdrawn() -> None:
    desk = Desk()
    receipt = desk.mailbox.put_nowait(draft("1"))
    desk.mailbox.take(desk.mailbox.waiting())
    desk.mailbox.taken((receipt.envelope.id,))
    assert not receipt.withdraw()
    assert receipt.state is ReceiptState.TAKEN
    desk.mailbox.close("over", keep=True)


async def test_the_same_envelope_is_accepted_once() -> None:
    desk = Desk()
    first = desk.mailbox.put_nowait(draft("1"))
    assert desk.mailbox.put_nowait(draft("1")) is first
    assert desk.bodies() == ["1"]
    desk.mailbox.close("over", keep=True)


async def test_closing_kills_what_waits_and_what_arrives_later() -> None:
    desk = Desk(at_once=False)
    first = desk.mailbox.put_nowait(draft("1"))
    desk.log.complete()
    second = desk.mailbox.put_nowait(draft("2"))
    desk.mailbox.close("stopped", keep=False)
    while desk.log.waiting:
        desk.log.complete()
    assert (first.state, second.state) == (ReceiptState.DEAD, ReceiptState.DEAD)
    with pytest.raises(ActorStopped, match="stopped"):
        desk.mailbox.put_nowait(draft("3"))


async def test_closing_with_keep_leaves_accepted_messages_in_the_log() -> None:
    desk = Desk(at_once=False)
    receipt = desk.mailbox.put_nowait(draft("1"))
    desk.mailbox.close("the host stopped", keep=True)
    desk.log.complete()
    assert list(desk.fold.waiting) == ["a-1"]
    with pytest.raises(ActorStopped, match="the host stopped"):
        await receipt.answered()


async def test_who_is_told_accepted_when_a_mailbox_closes_is_told_the_truth() -> None:
    desk = Desk(at_once=False)
    stored, lost = desk.mailbox.put_nowait(draft("1")), desk.mailbox.put_nowait(draft("2"))
    desk.mailbox.close("the host stopped", keep=True)
    desk.mailbox.abandon()
    desk.log.complete()
    desk.log.complete(LogFailed("disk full"))
    await stored.accepted()
    with pytest.raises(ActorStopped, match="is accepted, not answered"):
        await stored.answered()
    with pytest.raises(NotDelivered, match="disk full"):
        await lost.accepted()


async def test_the_turn_that_runs_when_a_mailbox_closes_still_answers() -> None:
    desk = Desk()
    answered, orphaned = desk.mailbox.put_nowait(draft("1")), desk.mailbox.put_nowait(draft("2"))
    desk.mailbox.take(desk.mailbox.waiting())
    desk.mailbox.close("the host stopped", keep=True)
    desk.mailbox.answered((answered.envelope.id,), ended())
    desk.mailbox.abandon()
    assert (await answered.answered()).text == "bye"
    with pytest.raises(ActorStopped, match="the host stopped"):
        await orphaned.answered()


async def test_what_waits_has_not_been_seen() -> None:
    desk = Desk()
    assert desk.mailbox.last_taken_from(Address("a")) == 0
    for body in "123":
        desk.mailbox.put_nowait(draft(body))
    assert desk.mailbox.last_taken_from(Address("a")) == 0
    first = desk.mailbox.waiting()[:1]
    desk.mailbox.take(first)
    desk.ledger.submit(EnvelopesTaken((first[0].id,), TurnId("t")))
    assert desk.mailbox.last_taken_from(Address("a")) == 1
    desk.mailbox.close("over", keep=True)


async def test_a_new_mailbox_on_an_old_log_holds_what_was_waiting() -> None:
    desk = Desk(capacity=3)
    for body in "123":
        desk.mailbox.put_nowait(draft(body))
    desk.mailbox.close("restart", keep=True)
    again = Mailbox(ME, Ledger(HandLog(at_once=True), desk.fold, desk.failures.append), capacity=2)
    assert [envelope.body for envelope in again.waiting()] == ["1", "2", "3"]
    with pytest.raises(MailboxFull):
        again.put_nowait(draft("4"))
    again.take(again.waiting()[:2])
    assert again.put_nowait(draft("4")).envelope.sequence == 4
    again.close("over", keep=True)


async def test_a_receipt_tells_each_step_in_order() -> None:
    desk = Desk()
    receipt = desk.mailbox.put_nowait(draft("1"))
    told: list[str] = []

    async def follow() -> None:
        await receipt.accepted()
        told.append("accepted")
        await receipt.taken()
        told.append("taken")
        told.append(await receipt.presented())
        told.append((await receipt.answered()).text)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        envelope = receipt.envelope
        await anyio.sleep(1)
        desk.mailbox.take((envelope,))
        desk.mailbox.taken((envelope.id,))
        await anyio.sleep(1)
        desk.mailbox.present((envelope.id,), "req-7")
        await anyio.sleep(1)
        desk.mailbox.answered((envelope.id,), ended())
    assert told == ["accepted", "taken", "req-7", "bye"]
    desk.mailbox.close("over", keep=True)


async def test_a_message_of_a_failed_turn_is_answered_but_was_never_presented() -> None:
    desk = Desk()
    receipt = desk.mailbox.put_nowait(draft("1"))
    desk.mailbox.take((receipt.envelope,))
    desk.mailbox.answered((receipt.envelope.id,), ended())
    with pytest.raises(NotDelivered, match="before a provider accepted"):
        await receipt.presented()
    desk.mailbox.close("over", keep=True)


def test_a_body_over_the_limit_is_refused_with_its_size() -> None:
    desk = Desk()
    with pytest.raises(BodyTooLarge, match=r"200,000 bytes.*has 200,001"):
        desk.mailbox.put_nowait(draft("x" * 200_001))
    desk.mailbox.close("over", keep=True)
