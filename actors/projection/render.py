"""Stage 6: pieces become messages; what is still a reminder gets its tag."""

from actors.projection.model import BODY_SEPARATOR, Piece
from actors.reminders import escape, wrap
from providers.model import Message, Role


def render(pieces: list[Piece]) -> list[Message]:
    """One message for every piece.

    Raises:
        UnknownReminderSource, EmptyReminderBody: a reminder that cannot be wrapped.
    """
    return [_made(piece) if piece.message is None else piece.message for piece in pieces]


def _made(piece: Piece) -> Message:
    body = piece.bodies[0] if len(piece.bodies) == 1 else BODY_SEPARATOR.join(piece.bodies)
    if piece.is_made:
        return Message(Role.SYSTEM, body)
    return Message(Role.USER, wrap(piece.source, escape(body)), cache=piece.cache)
