"""The living agents of one host: opened, resumed, supervised, stopped."""

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from anyio.abc import TaskGroup
from pydantic import JsonValue

from actors.actor import Actor
from actors.address import Address, AgentId
from actors.agent import Agent
from actors.context import Snapshot, snapshot_to_json
from actors.envelope import Envelope, ReceiptState
from actors.errors import ActorStopped, BadInput, LogFailed
from actors.events import AgentChanged, MessageDropped, WarningRaised
from actors.ledger import Ledger
from actors.mailbox import Mailbox
from actors.notification import TaskReport
from actors.parts import Parts, PrefixSource
from actors.ports import Log, Services
from actors.records import (
    AgentOpened,
    AgentRole,
    AgentState,
    EnvelopeDropped,
    SnapshotTaken,
    StateChanged,
    TurnEnded,
)
from actors.roles.prefix import prefix_source
from actors.state import AgentFold
from actors.tools.model import Tool
from host.config import Config
from host.directory import Directory
from host.errors import HostClosed, UnknownSession
from host.hub import Hub
from host.living import Living
from host.notifying import loss_report, notify, report_id, state_after, turn_report
from host.permissions import PermissionMode, narrowest
from host.revival import Archive, Stored
from host.store.ports import Store
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
    """Owns the tasks of all agents; its task group is that of the host.

    `services` is set once, right after construction: some of them need the
    crew. While `is_closing`, no agent is started any more.
    """

    store: Store
    tasks: TaskGroup
    directory: Directory
    hub: Hub
    surroundings: Surroundings
    config: Config
    is_closing: bool = False
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
        living = self._enlist(agent, opened, log, fold, snapshot, prefix, mode)
        living.actor.parts.ledger.submit(SnapshotTaken(snapshot_to_json(snapshot), opened.at))
        self._go(living)
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
            self._go(living)
            self._report_due(living, stored.due)
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
            opened = replace(one.opened, name=name)
            living = self._enlist(one.agent, opened, one.log, one.fold, one.snapshot, prefix, mode)
            living.state = state if state in _ENDED else AgentState.IDLE
            living.is_newly_lost = was_cut_off
            if one.closing:
                living.actor.parts.ledger.submit(*one.closing)
            if was_cut_off and living.parent_id is not None:
                self._end(living, AgentState.LOST, "the host stopped while it worked")
            tree.append(living)
        return tuple(tree)

    # Modes and states

    def mode_of(self, living: Living) -> PermissionMode:
        """The mode that holds for an agent now: never wider than that of anybody above it."""
        mode = living.mode
        while living.parent_id is not None and (parent := self.directory.get(living.parent_id)) is not None:
            mode, living = narrowest(mode, parent.mode), parent
        return mode

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

    @contextmanager
    def waiting(self, living: Living, reason: str) -> Iterator[None]:
        """The agent waits, for a child or a person, as long as the block runs."""
        self.begin_wait(living, reason)
        try:
            yield
        finally:
            self.end_wait(living, reason)

    def begin_wait(self, living: Living, reason: str) -> None:
        living.waits_for.append(reason)
        self._set_state(living, AgentState.WAITING, reason)

    def end_wait(self, living: Living, reason: str) -> None:
        """It goes on when nothing keeps it any more; a program may have waited for an agent at rest."""
        living.waits_for.remove(reason)
        if not living.waits_for:
            self._set_state(living, AgentState.RUNNING if living.actor.is_working else AgentState.IDLE, "")

    def _set_state(self, living: Living, state: AgentState, reason: str) -> None:
        if living.state is state:
            return
        living.state, living.reason = state, reason
        parent = None if living.parent_id is None else self.directory.get(living.parent_id)
        parent_name = None if parent is None else parent.name
        self.hub.emit(AgentChanged(living.name, living.id, parent_name, state, reason))

    def _end(self, living: Living, state: AgentState, reason: str) -> None:
        """An agent came to its end (it can be continued by a message); logged, then told."""
        ledger = living.actor.parts.ledger
        ledger.submit(StateChanged(state, reason, self.services.clock.now_s()))
        self._set_state(living, state, reason)

    # Running

    def _enlist(
        self,
        agent: Agent,
        opened: AgentOpened,
        log: Log,
        fold: AgentFold,
        snapshot: Snapshot,
        prefix: PrefixSource,
        mode: PermissionMode,
    ) -> Living:
        parent = None if opened.parent_id is None else self.directory.by_id(opened.parent_id)
        ledger = Ledger(log, fold, lambda error: self._log_failed(living, error))
        parts = Parts(
            agent=agent,
            opened=opened,
            path=opened.name if parent is None else f"{parent.actor.parts.path}/{opened.name}",
            ledger=ledger,
            mailbox=Mailbox(
                opened.name,
                ledger,
                capacity=agent.mailbox_capacity,
                on_dropped=lambda envelope, state, reason: self._dropped(living, envelope, state, reason),
            ),
            services=self.services,
            prefix=prefix,
            on_turn_began=lambda: self._set_state(living, AgentState.RUNNING, ""),
            on_turn_ended=lambda turn, owes_report: self._turn_ended(living, turn, owes_report),
            limits=agent.limits or self.config.limits,
            is_plan_mode=lambda: self.mode_of(living) is PermissionMode.PLAN,
            is_human_waiting=opened.role is AgentRole.MAIN,
            peers_may_use_system_role=self.config.peers_may_use_system_role,
        )
        living = Living(
            actor=Actor(parts),
            role=opened.role,
            root_id=opened.root_id,
            parent_id=opened.parent_id,
            depth=0 if parent is None else parent.depth + 1,
            snapshot=snapshot,
            mode=mode,
            description=str(opened.spec.get("description") or ""),
            call_id=str(opened.spec.get("call_id") or ""),
        )
        self.directory.add(living)
        return living

    def _go(self, living: Living) -> None:
        self.tasks.start_soon(self._supervise, living, name=f"agent {living.name}")

    async def _supervise(self, living: Living) -> None:
        """An agent's crash is an event for its parent, never the host's end."""
        actor = living.actor
        try:
            with living.scope:
                await actor.run()
        except Exception as error:  # noqa: BLE001 - the supervisor turns whatever it was into an event
            reason = f"{type(error).__name__}: {error}"
            actor.stop(f"it failed: {error}", keep=True)
            self._end(living, AgentState.FAILED, reason)
            if actor.turn is not None and actor.turn.owes_report:
                self._report(living, actor.turn.id, loss_report(living, AgentState.FAILED, reason))
        finally:
            actor.stop("the host stopped", keep=True)
            actor.mailbox.abandon()
            self.hub.finish(of=living.id)
            living.finished.set()

    def _turn_ended(self, living: Living, turn: TurnEnded, owes_report: bool) -> None:
        if living.role is AgentRole.SUBAGENT:
            self._end(living, state_after(turn), turn.error or turn.stop.value)
        else:
            self._set_state(living, AgentState.IDLE, turn.stop.value)
        if owes_report:
            self._report(living, turn.turn_id, turn_report(living, turn))

    def _log_failed(self, living: Living, error: Exception) -> None:
        self.hub.emit(WarningRaised(living.name, f"the store takes no more records: {error}"))
        living.actor.stop(f"the store takes no more records: {error}", keep=True)

    def _dropped(self, living: Living, envelope: Envelope, state: ReceiptState, reason: str) -> None:
        self.hub.emit(MessageDropped(envelope.recipient, envelope.id, state.value, reason))
        if envelope.wants_report and state is ReceiptState.DEAD:
            self._report(living, envelope.id, loss_report(living, AgentState.CANCELLED, reason))

    # Reports to parents

    def _report(self, child: Living, about: str, report: TaskReport) -> None:
        """Tells the parent, in a task of its own; one that stops finds the report due when it is resumed."""
        mother = None if child.parent_id is None else self.directory.get(child.parent_id)
        if mother is not None and not mother.actor.is_stopping:
            self.tasks.start_soon(notify, self.services, mother, report_id(about), report)

    def _report_due(self, child: Living, due: Sequence[TurnEnded | EnvelopeDropped]) -> None:
        if child.parent_id is None:
            return
        told = self.directory.by_id(child.parent_id).actor.parts.ledger.fold.receipts
        for end in due:
            if isinstance(end, TurnEnded):
                about, report = str(end.turn_id), turn_report(child, end)
            else:
                about, report = str(end.envelope_id), loss_report(child, AgentState.CANCELLED, end.reason)
            if report_id(about) not in told:
                self._report(child, about, report)

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
            elif living.state not in _ENDED:
                self._end(living, AgentState.CANCELLED, cancelled_because)
        for living in ending:
            with contextlib.suppress(LogFailed):
                await living.actor.parts.ledger.settled()


async def _finished(ending: Sequence[Living]) -> None:
    for living in ending:
        await living.finished.wait()
