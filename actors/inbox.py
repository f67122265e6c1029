"""How a message becomes an entry: presentation, origin and authority by route.

The routes are the table "How a message reaches the model" of the messaging
spec. Nothing is inferred from a body; the sender's role, which the host knows,
decides alone.
"""

from dataclasses import dataclass

from actors.envelope import Envelope, EnvelopeKind, SenderRole
from actors.history import Authority, EntryId, MessageEntry, Origin, Presentation, authority_of
from providers.model import Message, Role


@dataclass(frozen=True, slots=True)
class _Route:
    """What a message of one role looks like to an idle and to a working agent."""

    idle: Presentation | None
    working: Presentation
    source: str
    origin: Origin


_ROUTES = {
    SenderRole.USER: _Route(None, Presentation.USER_STEER, "real_user", Origin.USER),
    SenderRole.COORDINATOR: _Route(
        Presentation.COORDINATOR_INPUT,
        Presentation.COORDINATOR_STEER,
        "legacy_synthetic",
        Origin.COORDINATOR,
    ),
    SenderRole.PEER: _Route(
        Presentation.SUBAGENT_REPLY,
        Presentation.SUBAGENT_REPLY_STEER,
        "legacy_synthetic",
        Origin.PEER_AGENT,
    ),
    SenderRole.HOST: _Route(
        Presentation.TASK_NOTIFICATION,
        Presentation.TASK_NOTIFICATION_STEER,
        "legacy_synthetic",
        Origin.HOST,
    ),
}
_STEERING = {SenderRole.USER, SenderRole.COORDINATOR}


def entry_of(envelope: Envelope, entry_id: EntryId, *, mid_turn: bool, at: float) -> MessageEntry:
    """The entry that a taken envelope becomes.

    A notification comes from the host, but what it quotes does not: its
    authority is that of data.
    """
    route = _ROUTES[envelope.sender_role]
    is_notification = envelope.kind is EnvelopeKind.NOTIFICATION
    return MessageEntry(
        id=entry_id,
        message=Message(Role.USER, envelope.body),
        origin=route.origin,
        authority=Authority.DATA if is_notification else authority_of(route.origin),
        source=route.source,
        presentation=route.working if mid_turn else route.idle,
        envelope_id=envelope.id,
        sender=envelope.sender,
        at=at,
    )


def next_turn(waiting: tuple[Envelope, ...]) -> tuple[Envelope, ...]:
    """What starts the next turn of an idle agent: the oldest message.

    If that is a notification, all waiting notifications make one turn.
    """
    if not waiting:
        return ()
    if waiting[0].kind is EnvelopeKind.NOTIFICATION:
        return tuple(e for e in waiting if e.kind is EnvelopeKind.NOTIFICATION)
    return waiting[:1]


def arrivals(waiting: tuple[Envelope, ...]) -> tuple[Envelope, ...]:
    """What joins a turn at the top of a step: notifications and agents' messages, in order."""
    return tuple(e for e in _eligible(waiting) if e.sender_role not in _STEERING)


def steer(waiting: tuple[Envelope, ...]) -> Envelope | None:
    """What joins a turn behind a tool batch or a text-only step: one message of user or coordinator."""
    for envelope in _eligible(waiting):
        if envelope.sender_role in _STEERING:
            return envelope
    return None


def _eligible(waiting: tuple[Envelope, ...]) -> tuple[Envelope, ...]:
    """An `ask` waits for a turn of its own, and nothing of its sender overtakes it."""
    blocked: set[str] = set()
    eligible = []
    for envelope in waiting:
        if envelope.kind is EnvelopeKind.ASK or envelope.sender in blocked:
            blocked.add(envelope.sender)
        else:
            eligible.append(envelope)
    return tuple(eligible)
