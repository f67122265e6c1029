"""Stage 4: nothing of the host's stands between the results of one answer."""

from actors.projection.model import Piece, Report
from providers.model import Role


def clear_result_runs(pieces: list[Piece], report: Report) -> list[Piece]:
    """Reminders and synthetic user messages between tool results, behind the last of them."""
    out: list[Piece] = []
    held: list[Piece] = []
    held_at = 0
    in_run = False
    for piece in pieces:
        if piece.role is Role.TOOL:
            in_run = True
            out.append(piece)
        elif in_run and (piece.role is None or piece.is_synthetic):
            if not held:
                held_at = len(out)
            held.append(piece)
        else:
            _release(held, held_at, out, report)
            held = []
            in_run = False
            out.append(piece)
    _release(held, held_at, out, report)
    return out


def _release(held: list[Piece], held_at: int, out: list[Piece], report: Report) -> None:
    if held and held_at != len(out):
        for piece in held:
            report.move(piece)
    out.extend(held)
