"""Mailboxes to measure: real ones, on a log that keeps nothing or on a store's."""

from collections.abc import Callable
from functools import partial

from actors.address import Address, AgentId
from actors.draft import Draft
from actors.envelope import Envelope, EnvelopeId, EnvelopeKind, SenderRole
from actors.ledger import Ledger
from actors.mailbox import Mailbox
from actors.ports import Log
from actors.records import AgentOpened, AgentRole, EnvelopesTaken, Record, TurnId
from actors.state import AgentFold
from host.store.ports import Store

_TURN = TurnId("turn")
_BODY = "Have a look at the page on doors, please, and tell me what it says about the lock. " * 3


class ForgetfulLog:
    """Completes at once and keeps nothing: what is left is the cost of the mailbox itself."""

    def submit(self, records: tuple[Record, ...], done: Callable[[Exception | None], None]) -> None:
        done(None)


class Desk:
    """A mailbox and the one who takes from it, as an agent does."""

    def __init__(self, name: str, log: Log, capacity: int) -> None:
        self._ledger = Ledger(log, AgentFold(), _raise)
        self.mailbox = Mailbox(Address(name), self._ledger, capacity=capacity)

    async def take(self) -> tuple[Envelope, ...]:
        """Waits for the bell, then takes all that is there, with its record."""
        while not (envelopes := self.mailbox.waiting()):
            await self.mailbox.bell.wait()
        ids = tuple(envelope.id for envelope in envelopes)
        self.mailbox.take(envelopes)
        self._ledger.submit(EnvelopesTaken(ids, _TURN), then=partial(self._taken, ids))
        return envelopes

    def _taken(self, ids: tuple[EnvelopeId, ...], error: Exception | None) -> None:
        assert error is None, "the logs of these measurements take everything"
        self.mailbox.taken(ids)

    def close(self) -> None:
        self.mailbox.close("measured", keep=True)


def draft(sender: str, number: int) -> Draft:
    """One message of some 250 bytes."""
    return Draft(
        id=EnvelopeId(f"{sender}-{number}"),
        sender=Address(sender),
        sender_role=SenderRole.PEER,
        kind=EnvelopeKind.TELL,
        body=_BODY,
        sent_at=0.0,
    )


async def stored_log(store: Store, name: str) -> Log:
    """The log of a new agent in the store, which must be open."""
    agent_id = AgentId(name)
    await store.lease(agent_id)
    opened = AgentOpened(agent_id, Address(name), AgentRole.MAIN, agent_id, None, {}, "/work", 0.0)
    return await store.create(opened)


def _raise(error: Exception) -> None:
    raise error
