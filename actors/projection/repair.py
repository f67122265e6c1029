"""Stage 5: whatever was stored, what goes out is legal.

On a legal history this changes nothing, and doing it twice is doing it once.
"""

from actors.projection.clean import clean
from actors.projection.model import Piece, ProjectionOptions, Report
from actors.projection.pair import CallIds, pair_results
from actors.projection.settle import settle_all


def repair(
    pieces: list[Piece], options: ProjectionOptions, calls_before: CallIds, report: Report
) -> tuple[list[Piece], CallIds]:
    """Every message by itself, then calls and results, then the places of system messages.

    Also the call ids in these pieces, for the stretch that follows.

    Raises:
        Entangled: a call and its result stand on two sides of where these pieces begin.
    """
    pieces = clean(pieces, options, report)
    pieces, calls = pair_results(pieces, options.call_status, calls_before, report)
    keeps_stored = options.mid_conversation_system or options.as_recorded
    return settle_all(pieces, report, keeps_stored=keeps_stored), calls
