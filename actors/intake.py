"""What one turn has taken out of the mailbox, and what follows from it."""

from collections.abc import Sequence
from typing import assert_never

from actors.envelope import Envelope, EnvelopeId, SenderRole
from actors.events import MessageTaken
from actors.inbox import arrivals, entry_of, steer
from actors.parts import Parts
from actors.records import EntriesAppended, EnvelopesTaken, TurnEnded, TurnId


class Intake:
    """Takes messages into a turn, and moves their receipts on.

    `hops` counts the agent messages that led here; `owes_report` says whether
    a coordinator has to be told how the turn ends.
    """

    def __init__(self, parts: Parts, turn_id: TurnId) -> None:
        self._parts = parts
        self._turn_id = turn_id
        self._ids: list[EnvelopeId] = []
        self._unpresented: list[EnvelopeId] = []
        self.hops = 0
        self.owes_report = False

    def has(self, envelope_id: EnvelopeId) -> bool:
        """Whether this message came into the turn."""
        return envelope_id in self._ids

    def reopen(self, envelopes: Sequence[Envelope]) -> None:
        """These were taken into the turn before its host stopped."""
        for envelope in envelopes:
            self._ids.append(envelope.id)
            self._count_hops(envelope)
            self.owes_report = self.owes_report or envelope.wants_report

    def take_arrivals(self) -> bool:
        """Takes the waiting notifications and agents' messages; says whether there was one."""
        waiting = arrivals(self._parts.mailbox.waiting())
        self.take(waiting, mid_turn=True)
        return bool(waiting)

    def take_steer(self) -> Envelope | None:
        """Takes one waiting message of the user or coordinator, if there is one."""
        envelope = steer(self._parts.mailbox.waiting())
        if envelope is not None:
            self.take((envelope,), mid_turn=True)
        return envelope

    def take(self, envelopes: tuple[Envelope, ...], *, mid_turn: bool) -> None:
        """Out of the mailbox and into the log; no await lies between."""
        if not envelopes:
            return
        parts = self._parts
        entries = tuple(
            entry_of(envelope, parts.new_entry_id(), mid_turn=mid_turn, at=parts.now_s())
            for envelope in envelopes
        )
        ids = tuple(envelope.id for envelope in envelopes)
        parts.mailbox.take(envelopes)
        parts.ledger.submit(
            EnvelopesTaken(ids, self._turn_id),
            EntriesAppended(entries),
            then=lambda failure: parts.mailbox.taken(ids) if failure is None else None,
        )
        self._ids.extend(ids)
        self._unpresented.extend(ids)
        for envelope, entry in zip(envelopes, entries, strict=True):
            self._count_hops(envelope)
            self.owes_report = self.owes_report or envelope.wants_report
            presentation = entry.presentation or ""
            parts.emit(MessageTaken(parts.name, envelope.id, envelope.sender, presentation, envelope.preview))

    def presented(self, request_id: str) -> None:
        """A provider has accepted a request that holds everything taken so far."""
        if self._unpresented:
            self._parts.mailbox.present(tuple(self._unpresented), request_id)
            self._unpresented.clear()

    def answered(self, ended: TurnEnded, cause: Exception | None) -> None:
        """The turn has ended, and the log has it."""
        self._parts.mailbox.answered(tuple(self._ids), ended, cause)

    def _count_hops(self, envelope: Envelope) -> None:
        match envelope.sender_role:
            case SenderRole.USER | SenderRole.COORDINATOR:
                self.hops = 0
            case SenderRole.PEER:
                self.hops = max(self.hops, envelope.hops)
            case SenderRole.HOST:
                pass
            case _:
                assert_never(envelope.sender_role)
