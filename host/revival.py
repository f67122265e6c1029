"""Stored agents as they were, before they live again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actors.address import AgentId
from actors.agent import Agent, agent_from_json
from actors.context import Snapshot, snapshot_from_json
from actors.ports import Log, Services
from actors.records import AgentOpened, EnvelopeDropped, Record, TurnEnded
from actors.state import AgentFold
from actors.tools.model import Tool
from host.errors import UnknownSession
from host.recovery import closing_records, reports_due
from host.store.ports import Store
from host.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Stored:
    """An agent and its log, not yet alive.

    Of one that lived before, `closing` ends a turn that was cut off, and `due`
    is what its parent has to hear, told already or not.
    """

    agent: Agent
    opened: AgentOpened
    fold: AgentFold
    log: Log
    snapshot: Snapshot
    closing: tuple[Record, ...] = ()
    due: tuple[TurnEnded | EnvelopeDropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Archive:
    """Reads agents back; changes nothing."""

    store: Store
    surroundings: Surroundings
    services: Services

    async def load(self, agent_id: AgentId, tools: Sequence[Tool], agent: Agent | None) -> Stored:
        """One agent; `agent` replaces the stored definition of a root.

        Raises:
            UnknownSession, StoreDamaged: there is none, or it cannot be read.
        """
        loaded = await self.store.load(agent_id)
        records = tuple(stored.record for stored in loaded.records)
        fold = AgentFold()
        for record in records:
            fold.apply(record)
        opened = fold.opened
        if opened is None:
            raise UnknownSession(f"the log of {agent_id} does not say who it is")
        if agent is None or opened.parent_id is not None:
            agent = agent_from_json(opened.name, opened.spec, tools)
        closing = closing_records(fold, self.services.ids, self.services.clock)
        return Stored(
            agent=agent,
            opened=opened,
            fold=fold,
            log=self.store.writer(agent_id, loaded.next_seq),
            snapshot=await self._snapshot(fold, Path(opened.cwd)),
            closing=closing,
            due=reports_due((*records, *closing)),
        )

    async def _snapshot(self, fold: AgentFold, cwd: Path) -> Snapshot:
        if fold.snapshot is None:
            return await self.surroundings.look(cwd)
        return await self.surroundings.look_again(snapshot_from_json(fold.snapshot))
