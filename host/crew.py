"""The living agents of one host: opened, resumed, supervised, stopped."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from actors.actor import Actor
from actors.address import AgentId
from actors.agent import Agent, agent_from_json
from actors.context import Snapshot, snapshot_from_json, snapshot_to_json
from actors.envelope import Envelope, ReceiptState
from actors.events import AgentChanged, MessageDropped, WarningRaised
from actors.ledger import Ledger
from actors.mailbox import Mailbox
from actors.parts import Parts
from actors.ports import Log, Services
from actors.records import AgentOpened, AgentRole, AgentState, SnapshotTaken, StateChanged
from actors.roles.prefix import prefix_source
from actors.state import AgentFold
from actors.tools.model import Tool
from host.config import Config
from host.directory import Directory
from host.errors import UnknownSession
from host.hub import Hub
from host.living import Living
from host.permissions import PermissionMode, narrowest
from host.recovery import closing_records
from host.store.ports import Store
from host.surroundings import Surroundings

STOP_GRACE_S = 10.0
_ENDED = {AgentState.COMPLETED, AgentState.FAILED, AgentState.CANCELLED, AgentState.LOST}


@dataclass(frozen=True, slots=True)
class Birth:
    """Where an agent stands: its role, its root and its parent (None for a root)."""

    role: AgentRole
    root_id: AgentId
    parent: Living | None
    description: str = ""
    is_background: bool = False


@dataclass(slots=True)
class Crew:
    """Owns the tasks of all agents; its task group is that of the host.

    `services` is set once, right after construction: some of them need the crew.
    """

    store: Store
    tasks: TaskGroup
    directory: Directory
    hub: Hub
    surroundings: Surroundings
    config: Config
    services: Services = field(init=False)

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
            StoreError: the session could not be stored.
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
        name = self.directory.claim(agent.name)
        try:
            opened = AgentOpened(
                agent_id=agent_id or AgentId(self.services.ids.new("agent")),
                name=name,
                role=birth.role,
                root_id=birth.root_id,
                parent_id=birth.parent.id if birth.parent is not None else None,
                spec=agent.to_json(),
                cwd=str(cwd),
                at=self.services.clock.now_s(),
            )
            fold = AgentFold()
            fold.apply(opened)
            log = await self.store.create(opened)
        except BaseException:
            self.directory.release(name)
            raise
        living = self._enlist(agent, opened, log, fold, birth, snapshot)
        taken = SnapshotTaken(snapshot_to_json(snapshot), opened.at)
        living.actor.parts.ledger.submit(taken)
        self._go(living)
        return living

    # Resuming

    async def resume(
        self, root_id: AgentId, tools: Sequence[Tool], agent: Agent | None
    ) -> tuple[Living, ...]:
        """A stored session with all its agents, the root first, as far as their logs go.

        A turn that was cut off ends as lost; what waits in the mailboxes is
        still there. `agent` replaces the stored definition of the root.

        Raises:
            UnknownSession: the store has none of this id.
            SessionBusy: somebody else has it.
            StoreDamaged: a log cannot be read.
        """
        rows = await self.store.agents(root_id)
        if not rows:
            raise UnknownSession(f"the store has no session {root_id}")
        lease = await self.store.lease(root_id)
        revived: list[Living] = []
        try:
            for row in rows:
                revived.append(await self._revive(row.agent_id, tools, agent, tuple(revived)))
        except BaseException:
            with anyio.CancelScope(shield=True):
                for living in revived:
                    living.actor.stop("the session could not be resumed", keep=True)
                    self.directory.remove(living)
                await lease.release()
            raise
        revived[0].lease = lease
        for living in revived:
            self._go(living)
        return tuple(revived)

    async def _revive(
        self, agent_id: AgentId, tools: Sequence[Tool], agent: Agent | None, others: tuple[Living, ...]
    ) -> Living:
        loaded = await self.store.load(agent_id)
        fold = AgentFold()
        for stored in loaded.records:
            fold.apply(stored.record)
        opened = fold.opened
        if opened is None:
            raise UnknownSession(f"the log of {agent_id} does not say who it is")
        if agent is None or opened.parent_id is not None:
            agent = agent_from_json(opened.name, opened.spec, tools)
        parent = next((living for living in others if living.id == opened.parent_id), None)
        birth = Birth(opened.role, opened.root_id, parent)
        self.directory.claim(opened.name)
        snapshot = await self._resumed_snapshot(fold, Path(opened.cwd))
        log = self.store.writer(agent_id, loaded.next_seq)
        was_cut_off = fold.turn is not None
        state = fold.state
        living = self._enlist(agent, opened, log, fold, birth, snapshot)
        living.state = state if state in _ENDED else AgentState.IDLE
        closing = closing_records(fold, self.services.ids, self.services.clock)
        if closing:
            living.actor.parts.ledger.submit(*closing)
        living.is_newly_lost = was_cut_off
        if was_cut_off and parent is not None:
            self.end(living, AgentState.LOST, "the host stopped while it worked")
        return living

    async def _resumed_snapshot(self, fold: AgentFold, cwd: Path) -> Snapshot:
        if fold.snapshot is None:
            return await self.surroundings.look(cwd)
        return await self.surroundings.look_again(snapshot_from_json(fold.snapshot))

    # Inside

    def _mode(self, agent: Agent, parent: Living | None, stored: str | None) -> PermissionMode:
        """The mode that was set last, else the agent's, else the host's; never wider than the parent's."""
        mode = PermissionMode(stored or agent.permission_mode or self.config.permission_mode)
        return mode if parent is None else narrowest(mode, parent.mode)

    def _enlist(
        self, agent: Agent, opened: AgentOpened, log: Log, fold: AgentFold, birth: Birth, snapshot: Snapshot
    ) -> Living:
        ledger = Ledger(log, fold, lambda error: self._log_failed(opened.agent_id, error))
        mailbox = Mailbox(
            opened.name,
            ledger,
            capacity=agent.mailbox_capacity,
            on_dropped=self._dropped,
        )
        parent = birth.parent
        parts = Parts(
            agent=agent,
            opened=opened,
            path=opened.name if parent is None else f"{parent.actor.parts.path}/{opened.name}",
            ledger=ledger,
            mailbox=mailbox,
            services=self.services,
            prefix=prefix_source(opened.role, agent, snapshot),
            set_state=lambda state, reason: self.set_state(opened.agent_id, state, reason),
            limits=agent.limits or self.config.limits,
            is_plan_mode=lambda: self.directory.by_id(opened.agent_id).mode is PermissionMode.PLAN,
            is_human_waiting=opened.role is AgentRole.MAIN,
            peers_may_use_system_role=self.config.peers_may_use_system_role,
        )
        living = Living(
            actor=Actor(parts),
            role=birth.role,
            root_id=birth.root_id,
            parent_id=parent.id if parent is not None else None,
            depth=0 if parent is None else parent.depth + 1,
            snapshot=snapshot,
            mode=self._mode(agent, parent, fold.mode),
            description=birth.description,
            is_background=birth.is_background,
        )
        self.directory.add(living)
        if parent is not None:
            parent.child_ids.append(living.id)
        return living

    def _go(self, living: Living) -> None:
        self.tasks.start_soon(self._supervise, living, name=f"agent {living.name}")

    async def _supervise(self, living: Living) -> None:
        """An agent's crash is an event for its parent, never the host's end."""
        try:
            with living.scope:
                await living.actor.run()
        except Exception as error:  # noqa: BLE001 - the supervisor turns whatever it was into an event
            self.end(living, AgentState.FAILED, f"{type(error).__name__}: {error}")
            living.actor.stop(f"it failed: {error}", keep=True)
        finally:
            living.actor.stop("the host stopped", keep=True)
            living.finished.set()

    def set_state(self, agent_id: AgentId, state: AgentState, reason: str) -> None:
        """What an agent does now; ended ones leave their end by working again."""
        living = self.directory.by_id(agent_id)
        if living.state is state:
            return
        living.state, living.reason = state, reason
        parent = self.directory.by_id(living.parent_id).name if living.parent_id is not None else None
        self.hub.emit(AgentChanged(living.name, living.id, parent, state, reason))

    def end(self, living: Living, state: AgentState, reason: str) -> None:
        """An agent came to its end (it can be continued by a message); logged, then told."""
        ledger = living.actor.parts.ledger
        ledger.submit(StateChanged(state, reason, self.services.clock.now_s()))
        self.set_state(living.id, state, reason)

    def _log_failed(self, agent_id: AgentId, error: Exception) -> None:
        living = self.directory.by_id(agent_id)
        self.hub.emit(WarningRaised(living.name, f"the store takes no more records: {error}"))
        living.actor.stop(f"the store takes no more records: {error}", keep=True)

    def _dropped(self, envelope: Envelope, state: ReceiptState, reason: str) -> None:
        self.hub.emit(MessageDropped(envelope.recipient, envelope.id, state.value, reason))

    # Stopping

    async def stop_tree(self, root: Living, reason: str) -> None:
        """Ends a session: no task of its tree runs afterwards, everything submitted is stored."""
        tree = self.directory.tree(root.root_id)
        with anyio.CancelScope(shield=True):
            for living in tree:
                living.actor.stop(reason, keep=True)
            with anyio.move_on_after(STOP_GRACE_S):
                for living in tree:
                    await living.finished.wait()
            for living in tree:
                living.scope.cancel()
            for living in tree:
                await living.finished.wait()
                self.directory.remove(living)
            if root.lease is not None:
                await root.lease.release()
                root.lease = None
