"""Stage 2: what the host adds to a turn stands where the turn begins."""

from actors.projection.model import Piece, Report
from providers.model import Role


def float_to_turn_start(pieces: list[Piece], report: Report) -> list[Piece]:
    """Floating pieces behind the nearest boundary before them, in their own order.

    Boundaries are presented pieces and messages of role system, assistant and
    tool; where there is none, the very front.
    """
    backwards: list[Piece] = []
    aside: list[Piece] = []
    n_passed = 0
    for piece in reversed(pieces):
        if piece.floats:
            aside.append(piece)
        elif _is_boundary(piece):
            _set_down(aside, backwards, n_passed, report)
            aside = []
            n_passed = 0
            backwards.append(piece)
        else:
            n_passed += 1
            backwards.append(piece)
    _set_down(aside, backwards, n_passed, report)
    backwards.reverse()
    return backwards


def _is_boundary(piece: Piece) -> bool:
    return piece.is_presented or (piece.role is not None and piece.role is not Role.USER)


def _set_down(aside: list[Piece], backwards: list[Piece], n_passed: int, report: Report) -> None:
    if n_passed:
        for piece in aside:
            report.move(piece)
    backwards.extend(aside)
