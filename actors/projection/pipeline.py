"""From history to the messages of one request, in seven stages.

present → float → place system messages → clear result runs → repair → render → mark for caching
"""

from collections.abc import Sequence

from actors.history import Entry
from actors.projection.clear import clear_result_runs
from actors.projection.float import float_to_turn_start
from actors.projection.mark import limit_marks, mark
from actors.projection.model import Piece, Projection, ProjectionOptions, Report
from actors.projection.moved import moved_entries
from actors.projection.place import place_system_messages
from actors.projection.present import present
from actors.projection.render import render
from actors.projection.repair import repair
from actors.projection.settle import settle_made

_DEFAULTS = ProjectionOptions()


def project(entries: Sequence[Entry], options: ProjectionOptions = _DEFAULTS) -> Projection:
    """The history as the messages of one request, and where each came from.

    Takes time linear in the number of entries. A message that nothing changes
    is the stored one itself.

    Raises:
        UnknownReminderSource, EmptyReminderBody: a reminder that cannot be wrapped.
    """
    report = Report()
    presented = present(entries, options)
    pieces = float_to_turn_start(presented, report)
    if options.mid_conversation_system:
        pieces = place_system_messages(pieces, report)
    pieces = clear_result_runs(pieces, report)
    if options.mid_conversation_system:
        pieces = settle_made(pieces)
    pieces = repair(pieces, options, report)
    messages = render(pieces)
    cache_control_index = mark(messages, options)
    sources = [piece.sources for piece in pieces]
    if not options.as_recorded or report.shows_unsendable():
        report.repaired.extend(limit_marks(messages, sources))
    return Projection(
        tuple(messages),
        tuple(sources),
        _latest_real_user(pieces, presented),
        cache_control_index,
        moved_entries(sources, report.passed, len(entries)),
        tuple(report.repaired),
    )


def _latest_real_user(pieces: list[Piece], presented: list[Piece]) -> int | None:
    for at in range(len(pieces) - 1, -1, -1):
        if pieces[at].is_real_user:
            return at
    return -1 if any(piece.is_presented for piece in presented) else None
