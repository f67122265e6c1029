"""The living agents of one host: started, resumed, stopped."""

import contextlib
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from pydantic import JsonValue

from actors.address import Address, AgentId
from actors.agent import Agent
from actors.context import Snapshot, snapshot_to_json
from actors.errors import ActorStopped, BadInput, LogFailed
from actors.ports import Services
from actors.records import AgentOpened, AgentRole, AgentState, SnapshotTaken
from actors.roles.prefix import prefix_source
from actors.state import AgentFold
from actors.tools.model import Tool
from host.config import Config
from host.directory import Directory
from host.errors import HostClosed, UnknownSession
from host.living import Living
from host.permissions import PermissionMode
from host.revival import Archive, Stored
from host.standing import Standing
from host.store.ports import Store
from host.supervisor import Supervisor
from host.surroundings import Surroundings

STOP_GRACE_S = 10.0
_ENDED = {AgentState.COMPLETED, AgentState.FAILED, AgentState.CANCELLED, AgentState.LOST}


@dataclass(frozen=True, slots=True)
class Birth:
    """Where an agent stands: its role, its root, its parent (None for a root), and what started it."""

    role: AgentRole
    root_id: AgentId
    parent: Living | None
    description: str = ""
    call_id: str = ""

    def spec_of(self, agent: Agent) -> dict[str, JsonValue]:
        """The agent's definition together with what started it."""
        return {**agent.to_json(), "description": self.description, "call_id": self.call_id}


@dataclass(slots=True)
class Crew:
    """Starts, resumes and stops agents. While `is_closing`, none is started any more."""

    store: Store
    directory: Directory
    standing: Standing
    supervisor: Supervisor
    surroundings: Surroundings
    config: Config
    is_closing: bool = False

    @property
    def services(self) -> Services:
        """What every agent has of this host."""
        return self.supervisor.services

    # Opening

    async def start_root(
        self,
        agent: Agent,
        cwd: Path,
        role: AgentRole = AgentRole.MAIN,
        snapshot: Snapshot | None = None,
    ) -> Living:
        """A new agent without parent, with a session of its own; without a snapshot it looks around itself.

        Raises:
            NameTaken: another living agent has the name.
            BadInput: the agent has prompts that its role does not take, or a mode that there is not.
            StoreError, LogFailed: the session could not be stored.
            HostClosed: the host has ended meanwhile.
        """
        root_id = AgentId(self.services.ids.new("sess"))
        lease = await self.store.lease(root_id)
        try:
            snapshot = snapshot or await self.surroundings.look(cwd)
            living = await self.open(agent, Birth(role, root_id, None), snapshot, cwd, agent_id=root_id)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await lease.release()
            raise
        living.lease = lease
        return living

    async def open(
        self, agent: Agent, birth: Birth, snapshot: Snapshot, cwd: Path, *, agent_id: AgentId | None = None
    ) -> Living:
        """Stores and starts one agent; the lease of its root is held by the caller."""
        self._check_still_wanted(birth.parent)
        prefix = prefix_source(birth.role, agent, snapshot)
        mode = self._mode_given_to(agent)
        name = self.directory.claim(agent.name)
        try:
            opened = AgentOpened(
                agent_id=agent_id or AgentId(self.services.ids.new("agent")),
                name=name,
                role=birth.role,
                root_id=birth.root_id,
                parent_id=birth.parent.id if birth.parent is not None else None,
                spec=birth.spec_of(agent),
                cwd=str(cwd),
                at=self.services.clock.now_s(),
            )
            log = await self.store.create(opened)
            self._check_still_wanted(birth.parent)
        except BaseException:
            self.directory.release(name)
            raise
        fold = AgentFold()
        fold.apply(opened)
        living = self.supervisor.enlist(Stored(agent, opened, fold, log, snapshot), prefix, mode)
        living.actor.parts.ledger.submit(SnapshotTaken(snapshot_to_json(snapshot), opened.at))
        self.supervisor.go(living)
        return living

    def _check_still_wanted(self, parent: Living | None) -> None:
        """While an agent was being stored, its parent or the host may have been stopped."""
        if self.is_closing:
            raise HostClosed("the host ended before the agent was started")
        if parent is not None and parent.actor.is_stopping:
            raise ActorStopped(f"{parent.name} was stopped before its child was started")

    # Resuming

    async def resume(
        self, root_id: AgentId, tools: Sequence[Tool], agent: Agent | None
    ) -> tuple[Living, ...]:
        """A stored session with all its agents, the root first, as far as their logs go.

        A turn that was cut off ends as lost; what waits in the mailboxes is
        still there, and parents hear what they have not yet heard of their
        children. `agent` replaces the stored definition of the root.

        Raises:
            UnknownSession: the store has none of this id.
            SessionBusy: somebody else has it.
            StoreDamaged: a log cannot be read.
            NameTaken: an agent that lives here has the root's name (others take a similar one).
        """
        if not await self.store.agents(root_id):
            raise UnknownSession(f"the store has no session {root_id}")
        lease = await self.store.lease(root_id)
        archive = Archive(self.store, self.surroundings, self.services)
        try:
            rows = await self.store.agents(root_id)
            found = [await archive.load(row.agent_id, tools, agent) for row in rows]
            self._check_still_wanted(None)
            tree = self._revive(found)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await lease.release()
            raise
        tree[0].lease = lease
        for living, stored in zip(tree, found, strict=True):
            self.supervisor.go(living)
            self.supervisor.report_due(living, stored.due)
        return tree

    def _revive(self, found: Sequence[Stored]) -> tuple[Living, ...]:
        """All of them or none."""
        prefixes = [prefix_source(one.opened.role, one.agent, one.snapshot) for one in found]
        modes = [self._mode_given_to(one.agent, one.fold.mode) for one in found]
        self.directory.claim(found[0].agent.name)
        tree: list[Living] = []
        for one, prefix, mode in zip(found, prefixes, modes, strict=True):
            was_cut_off, state = one.fold.turn is not None, one.fold.state
            name = self.directory.claim_like(one.agent.name) if tree else Address(one.agent.name)
            renamed = replace(one, opened=replace(one.opened, name=name))
            living = self.supervisor.enlist(renamed, prefix, mode)
            living.state = state if state in _ENDED else AgentState.IDLE
            living.is_newly_lost = was_cut_off
            if one.closing:
                living.actor.parts.ledger.submit(*one.closing)
            if was_cut_off and living.parent_id is not None:
                self.standing.end(living, AgentState.LOST, "the host stopped while it worked")
            tree.append(living)
        return tuple(tree)

    def _mode_given_to(self, agent: Agent, stored: str | None = None) -> PermissionMode:
        """The mode that was set last, else the agent's, else the host's."""
        named = stored or agent.permission_mode or self.config.permission_mode
        try:
            return PermissionMode(named)
        except ValueError:
            known = ", ".join(PermissionMode)
            raise BadInput(
                f"agent {agent.name!r}: no permission mode {named!r}; there are: {known}"
            ) from None

    # Stopping

    async def stop(self, *tops: Living, reason: str) -> None:
        """Ends agents and all below them: no task of theirs runs afterwards, all they submitted is stored.

        Sessions are gone then, and what waits for them stays in their logs.
        Subagents keep their names as long as their session lives, and what
        waits for them is dead.

        Raises:
            BadInput: from inside a turn of one of them; it would wait for itself.
        """
        ending = self.directory.below(tops)
        is_whole = all(top.parent_id is None for top in tops)
        inside = next((living.name for living in ending if living.actor.is_inside), None)
        if inside is not None:
            raise BadInput(
                f"{inside} cannot be stopped from inside its own turn, which would wait for itself"
            )
        with anyio.CancelScope(shield=True):
            for living in ending:
                living.actor.stop(reason, keep=is_whole)
            with anyio.move_on_after(STOP_GRACE_S):
                await _finished(ending)
            for living in ending:
                living.scope.cancel()
            await _finished(ending)
            with anyio.move_on_after(STOP_GRACE_S):
                await self._bury(ending, None if is_whole else reason)
            async with AsyncExitStack() as leases:
                for top in tops:
                    if top.lease is not None:
                        leases.push_async_exit(top.lease)
                        top.lease = None

    async def _bury(self, ending: Sequence[Living], cancelled_because: str | None) -> None:
        for living in ending:
            if cancelled_because is None:
                self.directory.remove(living)
            elif living.state not in _ENDED and living in self.directory:  # its session may end meanwhile
                self.standing.end(living, AgentState.CANCELLED, cancelled_because)
        for living in ending:
            with contextlib.suppress(LogFailed):
                await living.actor.parts.ledger.settled()


async def _finished(ending: Sequence[Living]) -> None:
    for living in ending:
        await living.finished.wait()
