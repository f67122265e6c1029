"""The tasks of agents: put together, started, watched; their parents hear what became of them."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from anyio.abc import TaskGroup

from actors.actor import Actor
from actors.draft import Draft
from actors.envelope import Envelope, EnvelopeKind, ReceiptState, SenderRole
from actors.errors import MailboxFull
from actors.events import MessageDropped, WarningRaised
from actors.ledger import Ledger
from actors.mailbox import Mailbox
from actors.notification import TaskReport
from actors.parts import Parts, PrefixSource
from actors.ports import Services
from actors.records import AgentRole, AgentState, EnvelopeDropped, TurnEnded
from host.config import Config
from host.directory import Directory
from host.hub import Hub
from host.living import Living
from host.notifying import loss_report, notify, report_id, state_after, turn_report
from host.permissions import PermissionMode
from host.recovery import restart_id, turn_that_started
from host.revival import Stored
from host.standing import Standing

_START_AGAIN = (
    "The host was stopped while you were at work, and has started you again. See what is done already, then "
    "finish your task."
)


@dataclass(slots=True)
class Supervisor:
    """Owns the tasks of all agents; the task group is that of the host.

    `services` is set once, right after construction: some of them need the
    agents.
    """

    tasks: TaskGroup
    directory: Directory
    hub: Hub
    standing: Standing
    config: Config
    services: Services = field(init=False)

    def enlist(self, stored: Stored, prefix: PrefixSource, mode: PermissionMode) -> Living:
        """Puts an agent together and into the directory; `go` starts it."""
        agent, opened = stored.agent, stored.opened
        parent = None if opened.parent_id is None else self.directory.by_id(opened.parent_id)
        ledger = Ledger(stored.log, stored.fold, lambda error: self._log_failed(living, error))
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
            on_turn_began=lambda: self.standing.set_state(living, AgentState.RUNNING, ""),
            on_turn_ended=lambda turn, owes_report: self._turn_ended(living, turn, owes_report),
            limits=agent.limits or self.config.limits,
            is_plan_mode=lambda: self.standing.mode_of(living) is PermissionMode.PLAN,
            is_human_waiting=opened.role is AgentRole.MAIN,
            peers_may_use_system_role=self.config.peers_may_use_system_role,
        )
        living = Living(
            actor=Actor(parts),
            role=opened.role,
            root_id=opened.root_id,
            parent_id=opened.parent_id,
            depth=0 if parent is None else parent.depth + 1,
            snapshot=stored.snapshot,
            mode=mode,
            description=str(opened.spec.get("description") or ""),
            call_id=str(opened.spec.get("call_id") or ""),
            turn_id=turn_that_started((opened,)),
        )
        self.directory.add(living)
        return living

    def go(self, living: Living) -> None:
        """Starts the agent's task."""
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
            self.standing.end(living, AgentState.FAILED, reason)
            if actor.turn is not None and actor.turn.intake.owes_report:
                self._report(living, actor.turn.id, loss_report(living, AgentState.FAILED, reason))
        finally:
            actor.stop("the host stopped", keep=True)
            actor.mailbox.abandon()
            self.hub.finish(of=living.id)
            living.finished.set()

    def _turn_ended(self, living: Living, turn: TurnEnded, owes_report: bool) -> None:
        if living.role is AgentRole.SUBAGENT:
            self.standing.end(living, state_after(turn), turn.error or turn.stop.value)
        else:
            self.standing.set_state(living, AgentState.IDLE, turn.stop.value)
        if owes_report:
            self._report(living, turn.turn_id, turn_report(living, turn))

    def _log_failed(self, living: Living, error: Exception) -> None:
        self.hub.emit(WarningRaised(living.name, f"the store takes no more records: {error}"))
        living.actor.stop(f"the store takes no more records: {error}", keep=True)

    def _dropped(self, living: Living, envelope: Envelope, state: ReceiptState, reason: str) -> None:
        self.hub.emit(MessageDropped(envelope.recipient, envelope.id, state.value, reason))
        if envelope.wants_report and state is ReceiptState.DEAD:
            self._report(living, envelope.id, loss_report(living, AgentState.CANCELLED, reason))

    def _report(self, child: Living, about: str, report: TaskReport) -> None:
        """Tells the parent, in a task of its own; one that stops finds the report due when it is resumed."""
        mother = None if child.parent_id is None else self.directory.get(child.parent_id)
        if mother is not None and not mother.actor.is_stopping:
            self.tasks.start_soon(notify, self.services, mother, report_id(about), report)

    def start_again(self, child: Living, lost: TurnEnded) -> bool:
        """Gives an agent the message that makes it go on behind a turn that its host did not finish.

        False where its mailbox has no room for it.
        """
        mother = self.directory.by_id(child.parent_id) if child.parent_id is not None else child
        draft = Draft(
            id=restart_id(lost.turn_id),
            sender=mother.name,
            sender_role=SenderRole.COORDINATOR,
            kind=EnvelopeKind.TELL,
            body=_START_AGAIN,
            sent_at=self.services.clock.now_s(),
        )
        with contextlib.suppress(MailboxFull):
            child.actor.mailbox.put_nowait(draft)
            return True
        return False

    def report_due(self, child: Living, due: Sequence[TurnEnded | EnvelopeDropped]) -> None:
        """Tells the parent of those of these that it has not been told of."""
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
