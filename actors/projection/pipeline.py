"""From history to the messages of one request, in seven stages.

present → float → place system messages → clear result runs → repair → render → mark for caching

The first six work on a stretch of the history, which is the whole of it here
and what is new in `Projector`. Behind them thinking is left out that is bound
to other words. The last one looks at the whole request.
"""

from collections.abc import Sequence

from actors.history import Entry
from actors.projection.clear import clear_result_runs
from actors.projection.float import float_to_turn_start
from actors.projection.mark import limit_marks, set_mark
from actors.projection.model import (
    Projection,
    ProjectionOptions,
    Repair,
    RepairRule,
    Report,
    in_order,
    shows_unsendable,
)
from actors.projection.moved import moved_entries
from actors.projection.pair import CallIds
from actors.projection.place import place_system_messages
from actors.projection.present import present
from actors.projection.render import render
from actors.projection.repair import repair
from actors.projection.settle import settle_made
from actors.projection.stretch import Stretch
from actors.projection.thinking import Before, Trace, leave_out_unbound

_DEFAULTS = ProjectionOptions()


def project(entries: Sequence[Entry], options: ProjectionOptions = _DEFAULTS) -> Projection:
    """The history as the messages of one request, and where each came from.

    Takes time linear in the number of entries. A message that nothing changes
    is the stored one itself.

    Raises:
        UnknownReminderSource, EmptyReminderBody: a reminder that cannot be wrapped.
    """
    before = Before(0, lambda: Trace.of(options))
    return finish(project_stretch(entries, options, CallIds(), before), Stretch(), options)


def project_stretch(
    entries: Sequence[Entry], options: ProjectionOptions, calls_before: CallIds, before: Before
) -> Stretch:
    """Stages 1 to 6 for a stretch of the history.

    One that is not the first begins with an answer that goes out. No stage
    looks across such an answer, but the pairing of calls and the bonds of
    thinking: `calls_before` and `before` are what these two have to know.

    Raises:
        Entangled: a call and its result stand in this stretch and in one before.
        UnknownReminderSource, EmptyReminderBody: a reminder that cannot be wrapped.
    """
    report = Report()
    presented = present(entries, options, before.n_entries)
    pieces = float_to_turn_start(presented, report)
    if options.mid_conversation_system:
        pieces = place_system_messages(pieces, report)
    pieces = clear_result_runs(pieces, report)
    if options.mid_conversation_system:
        pieces = settle_made(pieces)
    pieces, calls = repair(pieces, options, calls_before, report)
    messages = render(pieces)
    sources = [piece.sources for piece in pieces]
    items = leave_out_unbound(messages, sources, entries, before, options, report)
    return Stretch(
        messages,
        sources,
        moved_entries(sources, report.passed, before.n_entries, len(entries)),
        in_order(report.repaired),
        [at for at, message in enumerate(messages) if message.cache is not None],
        next((at for at in range(len(pieces) - 1, -1, -1) if pieces[at].is_real_user), None),
        any(piece.is_presented for piece in presented),
        calls,
        items,
    )


def finish(head: Stretch, tail: Stretch, options: ProjectionOptions) -> Projection:
    """Stage 7 on two stretches as one request; neither of them is changed."""
    messages = head.messages + tail.messages
    sources = head.sources + tail.sources
    repaired = head.repaired + tail.repaired
    marks = [*head.marks, *(len(head.messages) + at for at in tail.marks)]
    cache_control_index = set_mark(messages, marks, options)
    if not options.as_recorded or shows_unsendable(repaired):
        changed = limit_marks(messages, marks, cache_control_index)
        cut = [Repair(RepairRule.CACHE_MARKS, index) for at in changed for index in sources[at]]
        repaired = in_order(repaired + cut) if cut else repaired
    return Projection(
        tuple(messages),
        tuple(sources),
        _latest_real_user(head, tail),
        cache_control_index,
        tuple(head.moved + tail.moved),
        tuple(repaired),
    )


def _latest_real_user(head: Stretch, tail: Stretch) -> int | None:
    if tail.real_user is not None:
        return len(head.messages) + tail.real_user
    if head.real_user is not None:
        return head.real_user
    return -1 if head.has_presented or tail.has_presented else None
