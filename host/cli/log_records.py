"""The records of a session that are wanted, each once, also those that come while somebody else writes it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import anyio.to_thread

from actors.address import AgentId
from actors.errors import BadInput
from actors.records import Record
from host.cli.context_lookup import find_agent
from host.cli.log_salvage import readable_parts
from host.cli.log_view import Told
from host.cli.log_words import Teller, at_of
from host.cli.output import visible
from host.errors import StoreDamaged, UnknownSession
from host.store.codec import RECORD_KINDS
from host.store.ports import AgentRow, StoredRecord
from host.store.sqlite import SqliteStore
from host.store.verdicts import Gap, Part


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records are shown. `agent` None is the main one; `kinds` empty are all."""

    agent: str | None
    everyone: bool
    kinds: frozenset[str]
    since: int

    @classmethod
    def of(cls, agent: str | None, *, everyone: bool, kinds: Sequence[str], since: int) -> Self:
        """From the options.

        Raises:
            BadInput: two that exclude each other, or a kind that there is not.
        """
        if agent is not None and everyone:
            raise BadInput("--agent or --all wanted, got both")
        names = frozenset(kind.replace("-", "_").lower() for kind in kinds)
        if unknown := sorted(names - RECORD_KINDS.keys()):
            raise BadInput(f"--kind: one of {', '.join(RECORD_KINDS)} wanted, got {visible(unknown[0])!r}")
        return cls(agent, everyone, names, since)

    def has(self, seq: int, record: Record) -> bool:
        if seq < self.since:
            return False
        return not self.kinds or isinstance(record, tuple(RECORD_KINDS[kind] for kind in self.kinds))


@dataclass(slots=True)
class _Reading:
    """How far one agent's log has been read."""

    row: AgentRow
    teller: Teller = field(default_factory=Teller)
    n_read: int = 0
    order: float = 0.0

    def take(self, seq: int, record: Record) -> Told:
        kind, points = self.teller.tell(record)
        at = at_of(record)
        # A clock may jump back; the log's own order stands.
        self.order = max(self.order, at or 0.0)
        return Told(self.row, seq, record, at, self.order, kind, points)

    def skip(self, gap: Gap) -> Told:
        which = "1 record" if gap.n_records == 1 else f"{gap.n_records} records"
        return Told(self.row, gap.seq, None, None, self.order, "UNREADABLE", (f"{which}: {gap.reason}",))


@dataclass(slots=True)
class LogReader:
    """Reads the wanted records; `damage` says of each log that is damaged what the store said."""

    store: SqliteStore
    root_id: AgentId
    wanted: Wanted
    damage: dict[AgentId, str] = field(default_factory=dict)
    _readings: dict[AgentId, _Reading] = field(default_factory=dict)

    async def news(self) -> list[Told]:
        """What was written since the last call, in the order of time.

        Raises:
            UnknownSession: the session is not there (any more).
            UnknownRecipient: it has no agent of the wanted name.
            StoreError: the store cannot be read.
        """
        rows = await self.store.agents(self.root_id)
        if not rows:
            raise UnknownSession(f"the session {self.root_id} is not in the store any more")
        told: list[Told] = []
        for row in self._chosen(rows):
            reading = self._readings.setdefault(row.agent_id, _Reading(row))
            if row.n_records > reading.n_read:
                told.extend(self._told(reading, await self._parts(row)))
        # Stable: the records of one agent stay in their order.
        return sorted(told, key=lambda one: one.order)

    def _chosen(self, rows: Sequence[AgentRow]) -> Sequence[AgentRow]:
        if self.wanted.everyone:
            return rows
        return (rows[0] if self.wanted.agent is None else find_agent(rows, self.wanted.agent),)

    async def _parts(self, row: AgentRow) -> Sequence[StoredRecord | Part]:
        if row.agent_id not in self.damage:
            try:
                return (await self.store.load(row.agent_id)).records
            except StoreDamaged as error:
                self.damage[row.agent_id] = str(error)
        return await anyio.to_thread.run_sync(readable_parts, self.store.path, row)

    def _told(self, reading: _Reading, parts: Sequence[StoredRecord | Part]) -> Iterator[Told]:
        first = reading.n_read
        for part in parts:
            if isinstance(part, Gap):
                reading.n_read = max(reading.n_read, part.seq + part.n_records)
                if part.seq >= first and part.seq + part.n_records > self.wanted.since:
                    yield reading.skip(part)
            elif part.seq >= first:
                reading.n_read = part.seq + 1
                told = reading.take(part.seq, part.record)
                if self.wanted.has(part.seq, part.record):
                    yield told
