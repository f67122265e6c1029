"""Stage 5: whatever was stored, what goes out is legal.

On a legal history this changes nothing, and doing it twice is doing it once.
"""

from actors.projection.clean import clean
from actors.projection.model import Piece, ProjectionOptions, Report
from actors.projection.pair import pair_results
from actors.projection.settle import settle_all


def repair(pieces: list[Piece], options: ProjectionOptions, report: Report) -> list[Piece]:
    """Every message by itself, then calls and results, then the places of system messages."""
    pieces = clean(pieces, options, report)
    pieces = pair_results(pieces, options.call_status, report)
    keeps_stored = options.mid_conversation_system or options.as_recorded
    return settle_all(pieces, report, keeps_stored=keeps_stored)
