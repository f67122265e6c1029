"""Writers and submissions: the part of a store that does not depend on where it keeps its rows.

A store hands each `Submission`, in the order of submission, to
`store_submission` together with its `Table`. Either every record of it is
written, or it is refused and its streams are fenced.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from actors.address import AgentId
from actors.envelope import SenderRole
from actors.errors import LogFailed, StaleWriter
from actors.history import MessageEntry, Origin
from actors.records import AgentOpened, EntriesAppended, EnvelopeAccepted, Record
from host.store.codec import EncodedRecord, encode_record
from host.store.ports import AgentLog, AgentRow, Done
from providers.model import text_of

_TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Part:
    """What one submission adds to one log."""

    stream: "Stream"
    first_seq: int
    records: tuple[EncodedRecord, ...]
    title: str | None = None
    opened: AgentOpened | None = None


@dataclass(slots=True)
class Submission:
    """Everything that is stored together, and whom to tell."""

    parts: tuple[Part, ...]
    done: Done
    refusal: LogFailed | None = None

    def refuse(self, error: LogFailed) -> None:
        """Marks it as not stored and fences its streams; a stream keeps its first fence."""
        self.refusal = error
        for part in self.parts:
            part.stream.fence = part.stream.fence or error

    def answer(self) -> None:
        self.done(self.refusal)


@dataclass(slots=True, eq=False)
class Stream:
    """The end of one log where one writer appends: `actors.ports.Log`.

    `leases` are those held when the writer was made, root to epoch. `fence`
    belongs to whoever processes the submissions, `next_seq` to the loop.
    """

    agent_id: AgentId
    next_seq: int
    leases: Mapping[AgentId, int]
    send: Callable[[Submission], None]
    fence: LogFailed | None = None
    has_title: bool = field(default=False, repr=False)

    def submit(self, records: tuple[Record, ...], done: Done) -> None:
        part, failure = _part(self, records)
        self.send(Submission((part,), done, failure))


def submission(parts: Sequence[tuple[AgentLog, tuple[Record, ...]]], done: Done) -> Submission:
    """The records encoded and numbered; from here on they belong to the store.

    Raises:
        TypeError: a log that is not a store's.
    """
    records_of: dict[Stream, tuple[Record, ...]] = {}
    for log, records in parts:
        if not isinstance(log, Stream):
            raise TypeError(f"submit_many takes logs that a store made; got {type(log).__name__}")
        records_of[log] = records_of.get(log, ()) + records
    made = [_part(stream, records) for stream, records in records_of.items()]
    failures = [failure for _, failure in made if failure is not None]
    return Submission(tuple(part for part, _ in made), done, failures[-1] if failures else None)


def _part(stream: Stream, records: tuple[Record, ...]) -> tuple[Part, LogFailed | None]:
    """The records behind those of before, and why they cannot be stored, if so."""
    first_seq = stream.next_seq
    stream.next_seq += len(records)
    failure: LogFailed | None = None
    try:
        encoded = tuple([encode_record(record) for record in records])  # a list is made faster
    except LogFailed as error:
        encoded, failure = (), error
    opened = records[0] if first_seq == 0 and records and isinstance(records[0], AgentOpened) else None
    title = None if stream.has_title else _title(stream, records)
    return Part(stream, first_seq, encoded, title, opened), failure


class Table(Protocol):
    """Where a store keeps its rows, as seen from inside a transaction."""

    def session_of(self, agent_id: AgentId) -> tuple[AgentId, int] | None:
        """The agent's root and its number of records; None for an agent that is not there."""
        ...

    def epoch(self, root_id: AgentId) -> int | None:
        """The session's epoch if this store holds its lease and nobody has taken it since."""
        ...

    def write(self, part: Part) -> None: ...


def store_submission(submitted: Submission, table: Table) -> None:
    """Writes all of it, or refuses all of it; the answer comes after the commit."""
    refusal = submitted.refusal or _first_refusal(submitted.parts, table)
    if refusal is not None:
        submitted.refuse(refusal)
        return
    for part in submitted.parts:
        table.write(part)


def row_of(opened: AgentOpened, now_s: float) -> AgentRow:
    """The listing's line of an agent that has no records yet."""
    return AgentRow(
        opened.agent_id, opened.root_id, opened.parent_id, opened.name, opened.role, now_s, now_s, 0, None
    )


def _first_refusal(parts: tuple[Part, ...], table: Table) -> LogFailed | None:
    return next((error for part in parts if (error := _refusal(part, table)) is not None), None)


def _refusal(part: Part, table: Table) -> LogFailed | None:
    stream, agent_id = part.stream, part.stream.agent_id
    if stream.fence is not None:
        return type(stream.fence)(
            f"nothing is stored for agent {agent_id} behind a record that was refused: {stream.fence}"
        )
    if (session := table.session_of(agent_id)) is not None:
        root_id, n_records = session
    elif part.opened is not None:
        root_id, n_records = part.opened.root_id, 0
    else:
        return StaleWriter(f"there is no agent {agent_id} in the store; its log begins with AgentOpened")
    held = stream.leases.get(root_id)
    if held is None or held != table.epoch(root_id):
        return StaleWriter(
            f"agent {agent_id} cannot be written: the lease of its session {root_id}"
            f" {'was not held' if held is None else 'is lost'}"
        )
    if n_records != part.first_seq:
        return StaleWriter(
            f"agent {agent_id} has {n_records} records, the writer expected {part.first_seq}:"
            " another writer has appended"
        )
    return None


def _title(stream: Stream, records: tuple[Record, ...]) -> str | None:
    """A title in the records, looked for until this writer has found one."""
    for record in records:
        if (text := _work_in(record)) is not None:
            stream.has_title = True
            # Surrogates have no UTF-8 and a text may be long: only its beginning is looked at.
            line = " ".join(text[: 4 * _TITLE_CHARACTERS].split()).encode("utf-8", "replace").decode()
            return line if len(line) <= _TITLE_CHARACTERS else line[: _TITLE_CHARACTERS - 1] + "…"
    return None


def _work_in(record: Record) -> str | None:
    """A message of a user or coordinator in the record: one that came, or one that a fork has copied."""
    match record:
        case EnvelopeAccepted() if record.envelope.sender_role in _TITLE_GIVERS:
            return record.envelope.body
        case EntriesAppended():
            said = (e for e in record.entries if isinstance(e, MessageEntry) and e.origin in _TITLE_ORIGINS)
            return next((text_of(entry.message.content) for entry in said), None)
        case _:
            return None


_TITLE_GIVERS = {SenderRole.USER, SenderRole.COORDINATOR}
_TITLE_ORIGINS = {Origin.USER, Origin.COORDINATOR}
