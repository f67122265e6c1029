"""The living agents of one host: started and stopped."""

import contextlib
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
from pydantic import JsonValue

from actors.address import AgentId
from actors.agent import Agent
from actors.context import Snapshot, snapshot_to_json
from actors.errors import ActorStopped, BadInput, LogFailed
from actors.ports import Services
from actors.records import AgentOpened, AgentRole, AgentState, SnapshotTaken, TurnId
from actors.roles.prefix import prefix_source
from actors.state import AgentFold
from host.config import Config
from host.directory import Directory
from host.errors import HostClosed
from host.living import Living
from host.permissions import PermissionMode
from host.revival import Stored
from host.standing import Standing
from host.store.ports import Store
from host.supervisor import Supervisor
from host.surroundings import Surroundings

STOP_GRACE_S = 10.0
ENDED = {AgentState.COMPLETED, AgentState.FAILED, AgentState.CANCELLED, AgentState.LOST}


@dataclass(frozen=True, slots=True)
class Birth:
    """Where an agent stands: its role, its root, its parent (None for a root), and what started it."""

    role: AgentRole
    root_id: AgentId
    parent: Living | None
    description: str = ""
    call_id: str = ""
    turn_id: TurnId | None = None
    restarts: bool = False

    def spec_of(self, agent: Agent) -> dict[str, JsonValue]:
        """The agent's definition together with what started it, and whether it goes on by itself."""
        return {
            **agent.to_json(),
            "description": self.description,
            "call_id": self.call_id,
            "turn_id": self.turn_id,
            "restarts": self.restarts,
        }


@dataclass(slots=True)
class Crew:
    """Starts and stops agents. While `is_closing`, none is started any more."""

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
        self.check_still_wanted(birth.parent)
        prefix = prefix_source(birth.role, agent, snapshot)
        mode = self.mode_given_to(agent)
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
            self.check_still_wanted(birth.parent)
        except BaseException:
            self.directory.release(name)
            raise
        fold = AgentFold()
        fold.apply(opened)
        living = self.supervisor.enlist(Stored(agent, opened, fold, log, snapshot), prefix, mode)
        living.actor.parts.ledger.submit(SnapshotTaken(snapshot_to_json(snapshot), opened.at))
        self.supervisor.go(living)
        return living

    def check_still_wanted(self, parent: Living | None) -> None:
        """While an agent was being stored, its parent or the host may have been stopped.

        Raises:
            HostClosed, ActorStopped: it was.
        """
        if self.is_closing:
            raise HostClosed("the host ended before the agent was started")
        if parent is not None and parent.actor.is_stopping:
            raise ActorStopped(f"{parent.name} was stopped before its child was started")

    # Modes

    def mode_given_to(self, agent: Agent, stored: str | None = None) -> PermissionMode:
        """The mode that was set last, else the agent's, else the host's.

        Raises:
            BadInput: there is no such mode.
        """
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
                    await living.actor.undisturbed()  # a rewind needs the log until it is through
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
            elif living.state not in ENDED and living in self.directory:  # its session may end meanwhile
                self.standing.end(living, AgentState.CANCELLED, cancelled_because)
        for living in ending:
            with contextlib.suppress(LogFailed):
                await living.actor.parts.ledger.settled()


async def _finished(ending: Sequence[Living]) -> None:
    for living in ending:
        await living.finished.wait()
