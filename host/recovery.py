"""What a resumed agent has to be told about the turn that its process did not finish."""

from collections.abc import Sequence

from actors.envelope import EnvelopeId, ReceiptState
from actors.history import Authority, EntryId, MessageEntry, Origin, ResultStatus
from actors.ports import Clock, Ids
from actors.records import (
    EntriesAppended,
    EnvelopeAccepted,
    EnvelopeDropped,
    EnvelopesTaken,
    Record,
    TurnEnded,
    TurnStop,
)
from actors.state import AgentFold, open_calls
from providers.model import Message, Role, Usage

_INTERRUPTED = (
    "The host stopped while this call was running. It may have had effects; look before you repeat it."
)
_NOT_STARTED = "The host stopped before this call was started. It had no effects."


def closing_records(fold: AgentFold, ids: Ids, clock: Clock) -> tuple[Record, ...]:
    """Gives every open call its truthful result and ends the open turn as lost."""
    turn = fold.turn
    if turn is None:
        return ()
    results = []
    for call in open_calls(fold.history):
        has_begun = call.id in turn.started_calls
        results.append(
            MessageEntry(
                id=EntryId(ids.new("ent")),
                message=Message(
                    Role.TOOL,
                    _INTERRUPTED if has_begun else _NOT_STARTED,
                    tool_call_id=call.id,
                    tool_name=call.name,
                    is_error=True,
                ),
                origin=Origin.HOST,
                authority=Authority.DATA,
                status=ResultStatus.INTERRUPTED if has_begun else ResultStatus.NOT_STARTED,
                at=clock.now_s(),
            )
        )
    ended = TurnEnded(
        turn_id=turn.turn_id,
        stop=TurnStop.LOST,
        text="",
        usage=Usage(),
        cost_usd=None,
        n_steps=0,
        error="the host stopped in the middle of this turn",
        at=clock.now_s(),
    )
    return (EntriesAppended(tuple(results)), ended) if results else (ended,)


def reports_due(records: Sequence[Record]) -> tuple[TurnEnded | EnvelopeDropped, ...]:
    """What the log of a child owes to its parent, told already or not.

    Due are the turns that took a message which wants a report, the turns that
    were lost, and such messages that died untaken.
    """
    wanted: set[EnvelopeId] = set()
    takers: set[str] = set()
    due: list[TurnEnded | EnvelopeDropped] = []
    for record in records:
        match record:
            case EnvelopeAccepted() if record.envelope.wants_report:
                wanted.add(record.envelope.id)
            case EnvelopesTaken() if not wanted.isdisjoint(record.envelope_ids):
                takers.add(record.turn_id)
            case TurnEnded() if record.turn_id in takers or record.stop is TurnStop.LOST:
                due.append(record)
            case EnvelopeDropped() if record.envelope_id in wanted and record.state == ReceiptState.DEAD:
                due.append(record)
            case _:
                pass
    return tuple(due)
