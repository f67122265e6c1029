"""Stored agents as they were, before they live again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from actors.address import AgentId
from actors.agent import Agent, agent_from_json
from actors.context import Snapshot, snapshot_from_json
from actors.ports import Log, Services
from actors.records import AgentOpened, EnvelopeDropped, Record, TurnEnded
from actors.state import AgentFold, folded, open_calls
from actors.tools.model import Tool
from host.errors import UnknownSession
from host.recovery import closing_records, may_start_again, reports_due
from host.store.ports import Store
from host.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Stored:
    """An agent and its log, not yet alive.

    Of one that lived before, `closing` ends a turn that was cut off, and `due`
    is what its parent has to hear, told already or not. `may_start_again` says
    that it goes on by itself behind such a turn.
    """

    agent: Agent
    opened: AgentOpened
    fold: AgentFold
    log: Log
    snapshot: Snapshot
    closing: tuple[Record, ...] = ()
    due: tuple[TurnEnded | EnvelopeDropped, ...] = ()
    may_start_again: bool = False

    @property
    def waits_for_person(self) -> bool:
        """Whether its turn was cut off while a person was asked about a call."""
        turn = self.fold.turn
        return turn is not None and any(c.id in turn.questions for c in open_calls(self.fold.history))

    def going_on(self) -> "Stored":
        """The same, with nothing to tell of the turn that was cut off."""
        return replace(self, due=tuple(end for end in self.due if end not in self.closing))


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
        records = loaded.plain
        fold = folded(records)
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
            may_start_again=may_start_again(fold),
        )

    async def _snapshot(self, fold: AgentFold, cwd: Path) -> Snapshot:
        if fold.snapshot is None:
            return await self.surroundings.look(cwd)
        return await self.surroundings.look_again(snapshot_from_json(fold.snapshot))
