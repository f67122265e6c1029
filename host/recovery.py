"""What a resumed agent has to be told about the turn that its process did not finish."""

from collections.abc import Sequence

from actors.calling import INTERRUPTED
from actors.envelope import EnvelopeId, ReceiptState
from actors.goals import RESUME_SOURCE, resume_reminder
from actors.history import Authority, Entry, EntryId, MessageEntry, Origin, ResultStatus
from actors.ports import Clock, Ids
from actors.records import (
    AgentOpened,
    EntriesAppended,
    EnvelopeAccepted,
    EnvelopeDropped,
    EnvelopesTaken,
    Record,
    TurnEnded,
    TurnId,
    TurnStop,
)
from actors.state import AgentFold, OpenTurn, answers_of, open_calls
from providers.model import Message, Role, Usage

MAX_RESTARTS = 3
_NOT_STARTED = "The host stopped before this call was started. It had no effects."
_NOT_ANSWERED = (
    "The host stopped while a person was being asked whether this call may run. It was not run. Ask for it "
    "again if it is still needed."
)


def closing_records(fold: AgentFold, ids: Ids, clock: Clock) -> tuple[Record, ...]:
    """Gives every open call its truthful result and ends the open turn as lost."""
    turn = fold.turn
    if turn is None:
        return ()
    results: list[Entry] = []
    for call in open_calls(fold.history):
        has_begun = call.id in turn.started_calls
        results.append(
            MessageEntry(
                id=EntryId(ids.new("ent")),
                message=Message(
                    Role.TOOL,
                    _text(call.id, turn),
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
    answers = answers_of(fold)
    ended = TurnEnded(
        turn_id=turn.turn_id,
        stop=TurnStop.LOST,
        text="",
        usage=sum((answer.usage or Usage() for answer in answers), Usage()),
        cost_usd=None,
        n_steps=len(answers),
        error="the host stopped in the middle of this turn",
        at=clock.now_s(),
    )
    return (EntriesAppended(tuple(results)), ended) if results else (ended,)


def _text(call_id: str, turn: OpenTurn) -> str:
    if call_id in turn.started_calls:
        return INTERRUPTED
    return _NOT_ANSWERED if call_id in turn.questions else _NOT_STARTED


def goal_told_again(fold: AgentFold, ids: Ids, clock: Clock) -> tuple[Record, ...]:
    """The reminder of an open goal for a resumed session; none if it came last anyway."""
    if fold.goal is None or (fold.history and fold.history[-1].source == RESUME_SOURCE):
        return ()
    return (EntriesAppended((resume_reminder(fold.goal, EntryId(ids.new("ent")), clock.now_s()),)),)


def turn_that_started(log: Sequence[Record]) -> TurnId | None:
    """The turn of its parent in which the agent of this log was started; None where a program did."""
    opened = log[0] if log else None
    turn_id = opened.spec.get("turn_id") if isinstance(opened, AgentOpened) else None
    return TurnId(turn_id) if isinstance(turn_id, str) else None


def restart_id(turn_id: TurnId) -> EnvelopeId:
    """The id of the one message that starts an agent again behind this lost turn."""
    return EnvelopeId(f"restart-{turn_id}")


def may_start_again(fold: AgentFold) -> bool:
    """Whether a subagent that was cut off goes on by itself: its type allows it, and it helped so far."""
    opened = fold.opened
    if opened is None or opened.parent_id is None or fold.turn is None or not opened.spec.get("restarts"):
        return False
    earlier = [mark.ended.stop for mark in fold.turns if mark.ended is not None]
    return earlier[-MAX_RESTARTS:] != [TurnStop.LOST] * MAX_RESTARTS


def reports_due(records: Sequence[Record]) -> tuple[TurnEnded | EnvelopeDropped, ...]:
    """What the log of a child owes to its parent, told already or not.

    Due are the turns that took a message which wants a report, the turns that
    were lost and not started again, and such messages that died untaken.
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
            case EnvelopeDropped() if record.envelope_id in wanted and record.state is ReceiptState.DEAD:
                due.append(record)
            case _:
                pass
    return tuple(end for end in due if not (isinstance(end, TurnEnded) and restart_id(end.turn_id) in wanted))
