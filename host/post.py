"""Carries messages of agents to agents by name."""

from dataclasses import dataclass

from actors.address import AgentId
from actors.draft import Draft
from actors.envelope import Envelope, EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import BadInput
from actors.receipt import Receipt
from host.crew import Crew

AGENT_WAIT_S = 5.0
MAX_HOPS = 25


@dataclass(slots=True)
class Post:
    """The `Postbox` of every agent of this host."""

    crew: Crew

    async def send(
        self,
        sender: AgentId,
        recipient: str,
        body: str,
        *,
        kind: EnvelopeKind = EnvelopeKind.TELL,
        hops: int = 0,
    ) -> Envelope:
        """As `deliver`, for a sender that does not follow its message."""
        return (await self.deliver(sender, recipient, body, kind=kind, hops=hops)).envelope

    async def deliver(
        self,
        sender: AgentId,
        recipient: str,
        body: str,
        *,
        kind: EnvelopeKind = EnvelopeKind.TELL,
        hops: int = 0,
    ) -> Receipt:
        """Returns once the message is accepted; waits at most 5 s for a slot.

        `hops` are those of the messages that led to this one. The sender is a
        coordinator for the agents that it started, and hears of the turn that
        its message leads to; for all others it is a peer.

        Raises:
            UnknownRecipient, ActorStopped, MailboxFull: the message was not accepted.
            BadInput: to itself, or the 26th message in a row between agents.
        """
        source = self.crew.directory.by_id(sender)
        target = self.crew.directory.find_from(source, recipient)
        if target is source:
            raise BadInput(f"{source.name} cannot send a message to itself")
        is_coordinator = target.parent_id == source.id
        if hops >= MAX_HOPS and not is_coordinator:
            raise BadInput(
                f"{MAX_HOPS} messages between agents have led here since a person last wrote; "
                "the next one needs a person. Say what you have and stop."
            )
        services = self.crew.services
        draft = Draft(
            id=EnvelopeId(services.ids.new("msg")),
            sender=source.name,
            sender_role=SenderRole.COORDINATOR if is_coordinator else SenderRole.PEER,
            kind=kind,
            body=body,
            sent_at=services.clock.now_s(),
            seen_sequence=source.actor.mailbox.last_taken_from(target.name),
            hops=0 if is_coordinator else hops + 1,
        )
        return await target.actor.mailbox.put(draft, wait_s=AGENT_WAIT_S)
