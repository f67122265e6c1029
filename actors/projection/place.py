"""Stage 3: reminders become system messages where the model takes them in the middle.

Reminders wait until the messages that they must not interrupt have gone by,
then land together as one system message. Whether that message may stay is
looked at by `settle`, when its neighbours are known.
"""

from typing import TypeAlias

from actors.projection.model import Piece, Report
from providers.model import Role

_ANCHORS = frozenset({Role.USER, Role.TOOL})
_ENDS_THE_WAIT = frozenset({Role.ASSISTANT, Role.SYSTEM})

# A group is a system message in the making: its reminders are collected and joined once, at the end.
_Output: TypeAlias = "list[Piece | list[Piece]]"


def place_system_messages(pieces: list[Piece], report: Report) -> list[Piece]:
    """The pieces with their reminders gathered into system messages."""
    out: _Output = []
    waiting = _WaitingList(report)
    for piece in pieces:
        if waiting.reminders and (piece.is_presented or (waiting.is_presented and piece.role is Role.USER)):
            waiting.land(out)
        if piece.may_be_system:
            waiting.add(piece, len(out))
            continue
        if waiting.reminders and piece.role in _ENDS_THE_WAIT:
            waiting.land(out)
        out.append(piece)
    if waiting.reminders:
        waiting.land(out)
    return [item if isinstance(item, Piece) else _joined(item) for item in out]


class _WaitingList:
    """Reminders on their way to the next landing."""

    def __init__(self, report: Report) -> None:
        self.reminders: list[Piece] = []
        self.is_presented = False
        self._report = report
        self._places: list[int] = []

    def add(self, reminder: Piece, place: int) -> None:
        self.reminders.append(reminder)
        self._places.append(place)
        self.is_presented = self.is_presented or reminder.is_presented

    def land(self, out: _Output) -> None:
        """Onto the system message just made, or as one behind a user or tool message, or as they are."""
        for reminder, place in zip(self.reminders, self._places, strict=True):
            if place != len(out):
                self._report.move(reminder)
        last = out[-1] if out else None
        if isinstance(last, list):
            last.extend(self.reminders)
        elif last is not None and last.role in _ANCHORS:
            out.append(self.reminders)
        else:
            out.extend(self.reminders)
        self.reminders = []
        self._places = []
        self.is_presented = False


def _joined(group: list[Piece]) -> Piece:
    return Piece(
        tuple([index for reminder in group for index in reminder.sources]),
        Role.SYSTEM,
        source=group[0].source,
        bodies=tuple([body for reminder in group for body in reminder.bodies]),
        is_real_user=any(reminder.is_real_user for reminder in group),
        is_made=True,
    )
