"""What is wrong with a log by itself, and what a child owes its parent: for logs of any program."""

from collections import Counter
from collections.abc import Mapping, Sequence

from actors.address import AgentId
from actors.envelope import Envelope, EnvelopeId, EnvelopeKind, SenderRole
from actors.events import WarningRaised
from actors.history import Entry, MessageEntry
from actors.records import (
    EntriesAppended,
    EnvelopeAccepted,
    EnvelopeDropped,
    EnvelopesTaken,
    Record,
    TurnEnded,
    TurnStop,
)
from actors.state import AgentFold, folded, open_calls
from host.store.ports import AgentRow, Store
from providers.model import Role


def is_expected(error: str) -> bool:
    return (
        error.startswith(("AuthenticationFailed", "StreamBroken", "output_limit")) or "has crashed" in error
    )


def is_expected_warning(warning: WarningRaised) -> bool:
    """A crash that was wanted, and a fork: without reminders of a mode it sends no thinking behind them."""
    is_fork = "-" in warning.agent and not warning.agent.startswith(("general", "explore"))
    return "has crashed" in warning.text or (is_fork and "leaves out reasoning" in warning.text)


async def records_of(store: Store, agent_id: AgentId) -> list[Record]:
    return [stored.record for stored in (await store.load(agent_id)).records]


def envelopes(log: Sequence[Record]) -> list[Envelope]:
    return [record.envelope for record in log if isinstance(record, EnvelopeAccepted)]


def faults(log: Sequence[Record]) -> list[str]:
    """What is wrong with a log by itself."""
    fold = folded(log)
    problems = [] if fold.turn is None else ["a turn is open at the end"]
    accepted = [e.id for e in envelopes(log)]
    taken = [envelope_id for r in log if isinstance(r, EnvelopesTaken) for envelope_id in r.envelope_ids]
    dropped = [r.envelope_id for r in log if isinstance(r, EnvelopeDropped)]
    fates = Counter((*taken, *dropped, *fold.waiting))
    if len(set(accepted)) < len(accepted):
        problems.append("an envelope was accepted twice")
    if fates != Counter(accepted):
        problems.append(f"fates {fates - Counter(accepted)} too many, {Counter(accepted) - fates} too few")
    messages = [e for e in fold.history if isinstance(e, MessageEntry)]
    kept = {mark.turn_id for mark in fold.turns}
    still_there = [
        envelope_id
        for r in log
        if isinstance(r, EnvelopesTaken) and r.turn_id in kept
        for envelope_id in r.envelope_ids
    ]
    if [e.envelope_id for e in messages if e.envelope_id] != still_there:
        problems.append("what was taken is not what stands in the history")
    problems.extend(disorder(log, taken))
    problems.extend(unpaired(messages))
    problems.extend(halves(log))
    failed = [r.error or "" for r in log if isinstance(r, TurnEnded) and r.stop is TurnStop.FAILED]
    problems.extend(f"a turn failed: {error}" for error in failed if not is_expected(error))
    return problems


def disorder(log: Sequence[Record], taken: list[EnvelopeId]) -> list[str]:
    """Of one sender, a later message stands before an earlier one."""
    by_id = {e.id: e for e in envelopes(log)}
    last: dict[str, int] = {}
    problems = []
    for envelope in map(by_id.__getitem__, taken):
        if envelope.sequence <= last.get(envelope.sender, 0):
            problems.append(f"{envelope.id} of {envelope.sender} came late")
        last[envelope.sender] = envelope.sequence
    return problems


def unpaired(messages: list[MessageEntry]) -> list[str]:
    """Calls without exactly one result right behind their answer, and results without a call."""
    problems = []
    open_ids: list[str] = []
    for entry in messages:
        message = entry.message
        if message.role is Role.TOOL:
            if message.tool_call_id not in open_ids:
                problems.append(f"a result for {message.tool_call_id}, which is not open")
            else:
                open_ids.remove(message.tool_call_id)
        elif open_ids:
            problems.append(f"{open_ids} have no result when {message.role} speaks")
            open_ids = []
        open_ids.extend(made.id for made in message.tool_calls)
    return [*problems, *([f"{open_ids} have no result"] if open_ids else [])]


def reports_due(log: Sequence[Record]) -> set[str]:
    """Turns that a parent has to be told of, once each, and messages of it that died.

    Not so a lost turn behind which the child was started again.
    """
    wanted = {
        e.id
        for e in envelopes(log)
        if e.sender_role is SenderRole.COORDINATOR and e.kind is EnvelopeKind.TELL
    }
    due: set[str] = {r.envelope_id for r in log if isinstance(r, EnvelopeDropped) and r.envelope_id in wanted}
    takers = {
        r.turn_id for r in log if isinstance(r, EnvelopesTaken) and not wanted.isdisjoint(r.envelope_ids)
    }
    begun_anew = {e.id for e in envelopes(log) if e.id.startswith("restart-")}
    for record in log:
        if isinstance(record, TurnEnded) and (record.turn_id in takers or record.stop is TurnStop.LOST):
            due.add(record.turn_id)
    return {about for about in due if f"restart-{about}" not in begun_anew}


def untold(rows: Sequence[AgentRow], logs: Mapping[AgentId, Sequence[Record]]) -> list[str]:
    """Reports about children that are due and were not given, or given twice.

    Of a child whose beginning a rewind took back nothing has to be told.
    """
    taken_back: set[AgentId] = set()
    problems = []
    for row in rows:  # a parent is older than its children
        if row.parent_id is None:
            continue
        mother = logs[row.parent_id]
        due = sorted(reports_due(logs[row.agent_id]))
        told = sorted(e.id for e in envelopes(mother) if e.task_id == row.agent_id)
        opened = folded(logs[row.agent_id]).opened
        is_gone = opened is not None and opened.spec["turn_id"] in folded(mother).removed_turns
        if is_gone or row.parent_id in taken_back:
            taken_back.add(row.agent_id)
        if len(told) > len(due) or (row.agent_id not in taken_back and len(told) < len(due)):
            problems.append(f"{row.agent_id}: due {due}, told {told}")
    return problems


def halves(log: Sequence[Record]) -> list[str]:
    """Results that were not stored together with those of all other calls of their answer."""
    fold = AgentFold()
    problems: list[str] = []
    for record in log:
        fold.apply(record)
        if isinstance(record, EntriesAppended) and any(map(_is_result, record.entries)):
            problems.extend(f"{left.id} was left open by results" for left in open_calls(fold.history))
    return problems


def _is_result(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.message.role is Role.TOOL
