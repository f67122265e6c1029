"""What an agent is right now: a fold over the records of its log.

Only `apply` changes it, record by record, in log order. A live agent applies
each record when the store has it; a resumed one applies the whole log. Both
end up in the same state, because there is no other way to change it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from pydantic import JsonValue

from actors.address import Address
from actors.envelope import Envelope, EnvelopeId, ReceiptState
from actors.history import Authority, Entry, MessageEntry, Origin
from actors.records import (
    AgentOpened,
    AgentState,
    AnswerBroken,
    CallsStarted,
    EntriesAppended,
    EnvelopeAccepted,
    EnvelopeDropped,
    EnvelopesPresented,
    EnvelopesTaken,
    FileChanging,
    GoalChanged,
    GoalMove,
    ModeChanged,
    PrefixBuilt,
    QuestionAsked,
    QuestionSettled,
    Record,
    RecordsSkipped,
    RequestMade,
    Rewound,
    SnapshotTaken,
    StateChanged,
    TurnEnded,
    TurnId,
    TurnStarted,
)
from providers.model import Message, Role, ToolCall, Usage

REWIND_SOURCE = "rewind_notice"
_SKIPPED_SOURCE = "legacy_synthetic"


@dataclass(slots=True)
class OpenTurn:
    """A turn that has begun and not ended; `started_calls` may have had effects.

    `model` is that of its newest request. `questions` are those about its
    calls that wait for a person, by call id.
    """

    turn_id: TurnId
    model: str
    envelopes: list[Envelope] = field(default_factory=list)
    started_calls: set[str] = field(default_factory=set)
    questions: dict[str, QuestionAsked] = field(default_factory=dict)


@dataclass(slots=True)
class TurnMark:
    """A turn that the history holds: its entries begin at `first_entry`. `ended` None: it is open."""

    turn_id: TurnId
    first_entry: int
    model: str
    at: float
    ended: TurnEnded | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """What a person wants the session to reach, over however many turns."""

    text: str
    is_paused: bool = False


@dataclass(slots=True)
class AgentFold:
    """History, mailbox, receipts and turn of one agent, folded from its log.

    `waiting` holds what was accepted and not yet taken, in log order;
    `receipts` how far every envelope ever accepted has come; `sequences` the
    last sequence number by sender; `spent_usd` the cost where prices are known.
    `newest_of` tells where in the history the newest entry of a source stands,
    `built` is the prefix of the newest request. `turns` are those of the
    history, oldest first; `removed_turns` those that a rewind took out of it.
    `n_skipped` counts records that could not be read back.
    """

    opened: AgentOpened | None = None
    snapshot: dict[str, JsonValue] | None = None
    history: list[Entry] = field(default_factory=list)
    newest_of: dict[str, int] = field(default_factory=dict)
    waiting: dict[EnvelopeId, Envelope] = field(default_factory=dict)
    receipts: dict[EnvelopeId, ReceiptState] = field(default_factory=dict)
    sequences: dict[Address, int] = field(default_factory=dict)
    turn: OpenTurn | None = None
    turns: list[TurnMark] = field(default_factory=list)
    last_turn: TurnEnded | None = None
    removed_turns: set[TurnId] = field(default_factory=set)
    state: AgentState = AgentState.STARTING
    mode: str | None = None
    goal: Goal | None = None
    spent: Usage = field(default_factory=Usage)
    spent_usd: float = 0.0
    built: PrefixBuilt | None = None
    n_turns: int = 0
    n_records: int = 0
    n_skipped: int = 0

    def apply(self, record: Record) -> None:
        """Takes one record in; a record that does not fit the state is ignored where it repeats."""
        self.n_records += 1
        match record:
            case EntriesAppended():
                self._append(record.entries)
            case EnvelopeAccepted():
                self._accept(record.envelope)
            case EnvelopesTaken():
                self._take(record)
            case EnvelopesPresented():
                self._advance(record.envelope_ids, ReceiptState.PRESENTED)
            case EnvelopeDropped():
                self.waiting.pop(record.envelope_id, None)
                self.receipts[record.envelope_id] = record.state
            case TurnStarted():
                self.turn = OpenTurn(record.turn_id, record.model)
                self.turns.append(TurnMark(record.turn_id, len(self.history), record.model, record.at))
                self.state = AgentState.RUNNING
                self.n_turns += 1
            case CallsStarted():
                if self.turn is not None:
                    self.turn.started_calls.update(record.call_ids)
            case TurnEnded():
                self._end_turn(record)
            case StateChanged():
                self.state = record.state
            case AgentOpened():
                self.opened = record
                self.state = AgentState.IDLE
            case SnapshotTaken():
                self.snapshot = record.snapshot
            case ModeChanged():
                self.mode = record.mode
            case GoalChanged():
                is_cleared = record.move is GoalMove.CLEARED
                self.goal = None if is_cleared else Goal(record.text, record.move is GoalMove.PAUSED)
            case PrefixBuilt():
                self.built = record
            case QuestionAsked():
                if self.turn is not None:
                    self.turn.questions[record.call_id] = record
            case QuestionSettled():
                if self.turn is not None:
                    self.turn.questions.pop(record.call_id, None)
            case Rewound():
                self._rewind(record)
            case RecordsSkipped():
                self._skip(record)
            case RequestMade():
                if self.turn is not None:
                    self.turn.model = record.model
            case AnswerBroken() | FileChanging():
                pass
            case _:
                assert_never(record)

    def _append(self, entries: tuple[Entry, ...]) -> None:
        for entry in entries:
            if entry.source is not None:
                self.newest_of[entry.source] = len(self.history)
            self.history.append(entry)
            # In the history it is taken, though the record of that could not be read back.
            if isinstance(entry, MessageEntry) and entry.envelope_id in self.waiting:
                self._take_one(EnvelopeId(entry.envelope_id))

    def _accept(self, envelope: Envelope) -> None:
        if envelope.id in self.receipts:
            return
        self.receipts[envelope.id] = ReceiptState.ACCEPTED
        self.waiting[envelope.id] = envelope
        known = self.sequences.get(envelope.sender, 0)
        self.sequences[envelope.sender] = max(known, envelope.sequence)

    def _take(self, record: EnvelopesTaken) -> None:
        for envelope_id in record.envelope_ids:
            self._take_one(envelope_id)

    def _take_one(self, envelope_id: EnvelopeId) -> None:
        envelope = self.waiting.pop(envelope_id, None)
        self.receipts[envelope_id] = ReceiptState.TAKEN
        if self.turn is not None and envelope is not None:
            self.turn.envelopes.append(envelope)

    def _end_turn(self, record: TurnEnded) -> None:
        if self.turn is not None:
            self._advance(tuple(e.id for e in self.turn.envelopes), ReceiptState.ANSWERED)
        if self.turns and self.turns[-1].turn_id == record.turn_id:
            self.turns[-1].ended = record
        self.turn = None
        self.last_turn = record
        self.state = AgentState.IDLE
        self.spent = self.spent + record.usage
        self.spent_usd += record.cost_usd or 0.0

    def _rewind(self, record: Rewound) -> None:
        at = next((n for n, mark in enumerate(self.turns) if mark.turn_id == record.before), None)
        if at is None:
            return
        first = self.turns[at].first_entry
        self.removed_turns.update(mark.turn_id for mark in self.turns[at:])
        while first and self.history[first - 1].source == REWIND_SOURCE:
            first -= 1  # that of an earlier rewind to the same place
        del self.turns[at:], self.history[first:]
        self.newest_of = {e.source: n for n, e in enumerate(self.history) if e.source is not None}
        self.turn = None
        self.last_turn = next((mark.ended for mark in reversed(self.turns) if mark.ended), None)
        self.state = AgentState.IDLE

    def _skip(self, record: RecordsSkipped) -> None:
        self.n_skipped += record.n_records
        records = "1 record" if record.n_records == 1 else f"{record.n_records} records"
        # Without the reason, which may quote what was damaged: this speaks with the host's authority.
        body = f"The log of this conversation was damaged. Here {records} could not be read back."
        # No reminder, which would float: this has to stand where something is missing, also in front of all.
        marker = MessageEntry(
            record.entry_id,
            Message(Role.USER, body),
            Origin.HOST,
            Authority.HOST,
            source=_SKIPPED_SOURCE,
            at=record.at,
        )
        self._append((marker,))

    def _advance(self, envelope_ids: tuple[EnvelopeId, ...], state: ReceiptState) -> None:
        for envelope_id in envelope_ids:
            if envelope_id in self.receipts:
                self.receipts[envelope_id] = state
                self.waiting.pop(envelope_id, None)  # shown, so taken: as above


def folded(records: Iterable[Record]) -> AgentFold:
    """What an agent is behind these records of its log."""
    fold = AgentFold()
    for record in records:
        fold.apply(record)
    return fold


def open_calls(history: list[Entry]) -> tuple[ToolCall, ...]:
    """The calls of the last answer that have no result yet, in call order."""
    answered: set[str] = set()
    for entry in reversed(history):
        if not isinstance(entry, MessageEntry):
            continue
        message = entry.message
        if message.role is Role.TOOL and message.tool_call_id is not None:
            answered.add(message.tool_call_id)
        if message.role is Role.ASSISTANT:
            return tuple(call for call in message.tool_calls if call.id not in answered)
    return ()


def answers_of(fold: AgentFold) -> tuple[MessageEntry, ...]:
    """What the model has answered in the turn that is open."""
    if fold.turn is None or not fold.turns:
        return ()
    entries = fold.history[fold.turns[-1].first_entry :]
    return tuple(e for e in entries if isinstance(e, MessageEntry) and e.message.role is Role.ASSISTANT)
