"""Reads the records of a session that are wanted, and those that come while somebody else writes it."""

import json
import select
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from shutil import get_terminal_size
from typing import Self

import anyio

from actors.address import AgentId
from actors.errors import BadInput
from host.cli.boundary import ExitCode
from host.cli.context_lookup import find_agent
from host.cli.finding import find_session
from host.cli.log_view import Layout, Told, name_cells
from host.cli.log_words import Teller, at_of
from host.cli.options import Settings
from host.cli.output import OutputClosed, put, visible
from host.cli.stores import store_to_read
from host.errors import StoreDamaged, UnknownSession
from host.store.codec import RECORD_KINDS, encode_record
from host.store.ports import AgentRow, Store, StoredRecord
from host.transfer.format import RecordLine, record_line

_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records are shown. `agent` None is the main one; `kinds` empty are all; `last` None too."""

    agent: str | None
    everyone: bool
    kinds: frozenset[str]
    since: int
    last: int | None

    @classmethod
    def of(
        cls, agent: str | None, *, everyone: bool, kinds: Sequence[str], since: int, last: int | None
    ) -> Self:
        """From the options.

        Raises:
            BadInput: two that exclude each other, or a kind that there is not.
        """
        if agent is not None and everyone:
            raise BadInput("--agent or --all wanted, got both")
        names = frozenset(kind.replace("-", "_").lower() for kind in kinds)
        if unknown := sorted(names - RECORD_KINDS.keys()):
            raise BadInput(f"--kind: one of {', '.join(RECORD_KINDS)} wanted, got {visible(unknown[0])!r}")
        return cls(agent, everyone, names, since, last)

    def has(self, stored: StoredRecord) -> bool:
        if stored.seq < self.since:
            return False
        return not self.kinds or isinstance(stored.record, tuple(RECORD_KINDS[kind] for kind in self.kinds))


@dataclass(slots=True)
class _Reading:
    """How far one agent's log has been read."""

    teller: Teller = field(default_factory=Teller)
    n_read: int = 0
    order: float = 0.0
    is_damaged: bool = False


@dataclass(slots=True)
class LogReader:
    """Gives the wanted records of a session, each once; `damage` is what could not be read, in words."""

    store: Store
    root_id: AgentId
    wanted: Wanted
    damage: list[str] = field(default_factory=list)
    _readings: dict[AgentId, _Reading] = field(default_factory=dict)

    async def news(self) -> list[Told]:
        """What was written since the last call, in the order of time.

        Raises:
            UnknownSession: the session is not there (any more).
            UnknownRecipient: it has no agent of the wanted name.
        """
        rows = await self.store.agents(self.root_id)
        if not rows:
            raise UnknownSession(f"the session {self.root_id} is not in the store any more")
        told: list[Told] = []
        for row in self._chosen(rows):
            reading = self._readings.setdefault(row.agent_id, _Reading())
            if row.n_records > reading.n_read and not reading.is_damaged:
                told.extend(await self._read(row, reading))
        # Stable: the records of one agent stay in their order.
        return sorted(told, key=lambda one: one.order)

    def _chosen(self, rows: Sequence[AgentRow]) -> Sequence[AgentRow]:
        if self.wanted.everyone:
            return rows
        return (rows[0] if self.wanted.agent is None else find_agent(rows, self.wanted.agent),)

    async def _read(self, row: AgentRow, reading: _Reading) -> list[Told]:
        try:
            log = await self.store.load(row.agent_id)
        except StoreDamaged as error:
            reading.is_damaged = True
            self.damage.append(str(error))
            return []
        found: list[Told] = []
        for stored in log.records[reading.n_read :]:
            kind, points = reading.teller.tell(stored.record)
            at = at_of(stored.record)
            # A clock may jump back; the log's own order stands.
            reading.order = max(reading.order, at or 0.0)
            if self.wanted.has(stored):
                found.append(Told(row, stored, at, reading.order, kind, points))
        reading.n_read = len(log.records)
        return found


async def show_log(
    session: str, wanted: Wanted, settings: Settings, *, is_following: bool, as_json: bool
) -> int:
    """Prints the records; gives the exit code, which tells whether all of them could be read."""
    async with store_to_read(settings) as store:
        root = find_session([row for row in await store.agents() if row.parent_id is None], session)
        names = tuple(row.name for row in await store.agents(root.agent_id)) if wanted.everyone else ()
        reader = LogReader(store, root.agent_id, wanted)
        layout = Layout(get_terminal_size().columns if sys.stdout.isatty() else None, name_cells(names))
        news = await reader.news()
        _put(
            news if wanted.last is None else news[max(len(news) - wanted.last, 0) :], layout, as_json=as_json
        )
        n_told = _tell_damage(reader, 0)
        while is_following:
            await anyio.sleep(_POLL_S)
            _check_reader()
            _put(await reader.news(), layout, as_json=as_json)
            n_told = _tell_damage(reader, n_told)
    return ExitCode.UNUSABLE if reader.damage else ExitCode.DONE


def _put(news: Iterable[Told], layout: Layout, *, as_json: bool) -> None:
    lines = map(_json_line, news) if as_json else (line for told in news for line in layout.lines(told))
    if text := "".join(f"{line}\n" for line in lines):
        put(text)


def _json_line(told: Told) -> str:
    """The record as it stands in an export, in ASCII, which survives every encoding."""
    encoded = encode_record(told.stored.record)
    line = record_line(
        RecordLine(told.agent.agent_id, told.stored.seq, encoded.kind, encoded.version, encoded.data)
    )
    return json.dumps(json.loads(line), separators=(",", ":"))


def _tell_damage(reader: LogReader, n_told: int) -> int:
    for text in reader.damage[n_told:]:
        print(f"callboard: {visible(text)}; `callboard doctor` tells more", file=sys.stderr)
    return len(reader.damage)


def _check_reader() -> None:
    """Ends the waiting when nobody reads any more, although there is nothing to write."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in poll.poll(0)):
        raise OutputClosed
