"""May a system message stay where it is? Asked behind stage 4, and once more at the end of stage 5.

Behind the leading run a system message needs a user or tool message before it
and nothing or an assistant behind it. What has no such place says the same in
a wrapped user message.
"""

from actors.projection.model import BODY_SEPARATOR, Piece, RepairRule, Report
from actors.reminders import INCOMING_MESSAGE
from providers.model import Message, Role, TextBlock


def settle_made(pieces: list[Piece]) -> list[Piece]:
    """System messages made by stage 3 that have no place here become reminders again."""
    out: list[Piece] = []
    last = len(pieces) - 1
    for at, piece in enumerate(pieces):
        if piece.is_made and not _fits(out, None if at == last else pieces[at + 1]):
            out.append(_as_reminder(piece, piece.bodies))
        else:
            out.append(piece)
    return out


def settle_all(pieces: list[Piece], report: Report, *, keeps_stored: bool) -> list[Piece]:
    """The same for every system message behind the leading run, stored ones too.

    With `keeps_stored` false none stays at all: the model takes none, and none was made.
    """
    if not any(piece.role is Role.SYSTEM for piece in pieces[_leading_run(pieces) :]):
        return pieces
    start = _leading_run(pieces)
    out = pieces[:start]
    last = len(pieces) - 1
    for at in range(start, len(pieces)):
        piece = pieces[at]
        if piece.role is Role.SYSTEM and not (
            keeps_stored and _fits(out, None if at == last else pieces[at + 1])
        ):
            if not piece.is_made:
                report.repair(RepairRule.SYSTEM_PLACE, piece)
            piece = _as_reminder(piece, piece.bodies or (_system_text(piece.message),))
        out.append(piece)
    return out


def _leading_run(pieces: list[Piece]) -> int:
    for at, piece in enumerate(pieces):
        if piece.role is not Role.SYSTEM:
            return at
    return len(pieces)


def _fits(before: list[Piece], behind: Piece | None) -> bool:
    """A reminder still to be wrapped counts as the user message that it will be."""
    is_behind_words = before[-1].role in (Role.USER, Role.TOOL, None)
    return is_behind_words and (behind is None or behind.role is Role.ASSISTANT)


def _as_reminder(piece: Piece, bodies: tuple[str, ...]) -> Piece:
    # Joined as one body on purpose: one system message becomes one user message.
    return Piece(
        piece.sources,
        None,
        source=piece.source or INCOMING_MESSAGE,
        bodies=(BODY_SEPARATOR.join(bodies),),
        is_real_user=piece.is_real_user,
    )


def _system_text(message: Message | None) -> str:
    if message is None or message.content is None:
        return ""
    if isinstance(message.content, str):
        return message.content
    return BODY_SEPARATOR.join(block.text for block in message.content if isinstance(block, TextBlock))
