"""What a record of a log says, in words: its kind, and the points of it. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from actors.envelope import Envelope, EnvelopeId
from actors.history import Entry, MessageEntry, ReminderEntry, ResultStatus
from actors.records import (
    AgentOpened,
    AnswerBroken,
    CallsStarted,
    EntriesAppended,
    EnvelopeAccepted,
    EnvelopeDropped,
    EnvelopesPresented,
    EnvelopesTaken,
    FileChanging,
    FileRestored,
    GoalChanged,
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
    TurnStarted,
)
from host.cli.context_row import kinds_of, short, text_of_message
from providers.model import Role, ToolCall, Usage

Words: TypeAlias = tuple[str, tuple[str, ...]]
"""The kind of a record, and at least one point of it."""


@dataclass(slots=True)
class Teller:
    """Tells the records of one log in their order; remembers what later ones name."""

    _envelopes: dict[EnvelopeId, str] = field(default_factory=dict)
    _calls: dict[str, str] = field(default_factory=dict)

    def tell(self, record: Record) -> Words:
        match record:
            case AgentOpened():
                return "opened", _opened(record)
            case SnapshotTaken():
                return "snapshot", (f"what the host saw of the machine: {', '.join(record.snapshot)}",)
            case EnvelopeAccepted():
                self._envelopes[record.envelope.id] = f"{record.envelope.sender}: {record.envelope.preview}"
                return "message accepted", (_envelope(record.envelope),)
            case EnvelopesTaken():
                return "message taken", self._moved(record.envelope_ids, "into the history")
            case EnvelopesPresented():
                return "message shown", self._moved(record.envelope_ids, "the model has it")
            case EnvelopeDropped():
                why = f"{record.state}: {record.reason}" if record.reason else record.state
                return "message dropped", self._moved((record.envelope_id,), why)
            case EntriesAppended():
                return "history", tuple(self._entries(record.entries)) or ("nothing",)
            case TurnStarted():
                return "turn began", (f"{record.turn_id} with {record.model}",)
            case PrefixBuilt():
                n_tools = len(record.tools)
                return "prefix built", (f"{len(record.prefix)} entries in front, {n_tools} tools",)
            case RequestMade():
                return "request", (_request(record),)
            case CallsStarted():
                calls = (f"→ {self._calls.get(call_id, call_id)}" for call_id in record.call_ids)
                return "calls began", tuple(calls) or ("none",)
            case AnswerBroken():
                return "answer broken", (f"{record.error}; shown until then: {record.text or 'nothing'}",)
            case TurnEnded():
                return "turn ended", tuple(_ended(record))
            case StateChanged():
                return "state", (_with(record.state.value, record.reason),)
            case ModeChanged():
                return "mode", (f"a person set {record.mode}",)
            case GoalChanged():
                return "goal", (_with(record.move.value, record.text),)
            case QuestionAsked():
                return "question asked", (f"may {record.tool} run? {record.summary}",)
            case QuestionSettled():
                answer = _with("allowed" if record.is_allowed else "not allowed", record.reason)
                return "question settled", (f"{self._calls.get(record.call_id, record.call_id)}: {answer}",)
            case FileChanging():
                return "file changed", (_file(record),)
            case Rewound():
                return "rewound", tuple(_rewound(record))
            case RecordsSkipped():
                return "DAMAGED", (f"{record.n_records} records could not be read back: {record.reason}",)
            case _:
                assert_never(record)

    def _moved(self, ids: tuple[EnvelopeId, ...], where: str) -> tuple[str, ...]:
        return tuple(f"{where} · {self._envelopes.get(one, one)}" for one in ids) or (where,)

    def _entries(self, entries: tuple[Entry, ...]) -> Iterator[str]:
        for entry in entries:
            if isinstance(entry, ReminderEntry):
                yield f"reminder [{entry.source}] {entry.body}"
            elif entry.message.role is Role.TOOL:
                yield self._result(entry)
            else:
                yield from self._said(entry)

    def _said(self, entry: MessageEntry) -> Iterator[str]:
        text = text_of_message(entry.message, is_brief=True)
        if text or not entry.message.tool_calls:
            kinds = "".join(f" [{kind}]" for kind in kinds_of(entry))
            who = entry.message.role.value if entry.message.role is Role.ASSISTANT else entry.origin.value
            yield f"{entry.sender or who}{kinds}: {text}"
        for call in entry.message.tool_calls:
            self._calls[call.id] = _call(call)
            yield f"→ {_call(call)}"

    def _result(self, entry: MessageEntry) -> str:
        message = entry.message
        is_fine = entry.status in (None, ResultStatus.OK) and not message.is_error
        state = "" if is_fine else f" {(entry.status or ResultStatus.ERROR).value.replace('_', ' ')}"
        return f"← {message.tool_name or 'tool'}{state}: {text_of_message(message, is_brief=True)}"


def at_of(record: Record) -> float | None:
    """When it happened, in seconds since the epoch; None where the record does not say."""
    match record:
        case EnvelopeAccepted():
            return record.envelope.sent_at
        case EntriesAppended():
            return max((entry.at for entry in record.entries), default=0.0) or None
        case TurnEnded():
            return record.at or None
        case (
            EnvelopesTaken()
            | EnvelopesPresented()
            | EnvelopeDropped()
            | PrefixBuilt()
            | AnswerBroken()
            | CallsStarted()
        ):
            return None
        case _:
            return record.at


def _opened(record: AgentOpened) -> tuple[str, ...]:
    whose = "" if record.parent_id is None else f", started by {record.parent_id}"
    fork = record.forked_from
    copy = "" if fork is None else f", a copy of {fork.agent_id} up to {fork.turn_id}"
    return (f"{record.name} ({record.role.value.replace('_', ' ')}{whose}{copy}) in {record.cwd}",)


def _envelope(envelope: Envelope) -> str:
    task = f" about {envelope.task_id}" if envelope.task_id else ""
    return f"{envelope.sender} → {envelope.recipient} ({envelope.kind.value}{task}): {envelope.body}"


def _request(record: RequestMade) -> str:
    repaired = f", {sum(record.repaired.values())} repairs" if record.repaired else ""
    return f"{record.model}: {record.n_messages} messages, {record.n_tokens:,} tokens expected{repaired}"


def _ended(record: TurnEnded) -> Iterator[str]:
    cost = "" if record.cost_usd is None else f" · ${record.cost_usd:.4f}"
    steps = "1 step" if record.n_steps == 1 else f"{record.n_steps} steps"
    yield f"{record.stop.value.replace('_', ' ')} · {steps} · {_usage(record.usage)}{cost}"
    if record.error:
        yield f"error: {record.error}"
    if record.has_result:
        yield f"result: {_json(record.result)}"
    if record.text:
        yield f"answer: {record.text}"


def _usage(usage: Usage) -> str:
    cached = f" ({usage.cache_read_tokens:,} from the cache)" if usage.cache_read_tokens else ""
    estimate = ", by estimate" if usage.is_estimated else ""
    return f"{usage.total_input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out{estimate}"


def _file(record: FileChanging) -> str:
    before = record.before
    if before is None:
        return f"{record.path} (new)"
    if before.artifact_id is None:
        return f"{record.path} (what stood there was not kept: {before.why_not_kept})"
    return f"{record.path} (what stood there is kept)"


def _rewound(record: Rewound) -> Iterator[str]:
    yield f"the history was cut before {record.before}; {len(record.files)} files were put back"
    yield from (f"{_restored(file)} {file.path}" for file in record.files)


def _restored(file: FileRestored) -> str:
    return "removed" if file.restored is None else "put back"


def _call(call: ToolCall) -> str:
    arguments = call.invalid_json if call.invalid_json is not None else _json(call.input)
    return f"{call.name} {short(call.id)} {arguments}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _with(word: str, reason: str) -> str:
    return f"{word}: {reason}" if reason else word
