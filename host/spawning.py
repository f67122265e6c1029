"""Starts subagents for agents, within the limits of their session."""

import contextlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from actors.address import AgentId
from actors.agent import Agent
from actors.envelope import EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import ActorStopped, NotDelivered
from actors.mailbox import Draft
from actors.notification import TaskReport
from actors.ports import ChildReport, SpawnOrder
from actors.receipt import Receipt
from actors.records import AgentRole, AgentState, TurnEnded, TurnStop
from host.agent_types import BUILT_IN, AgentType, agent_type
from host.crew import Birth, Crew
from host.errors import SpawnRefused
from host.limits import SpawnLimits
from host.living import Living
from host.notifying import notify
from providers.model import Usage

RATE_SPAN_S = 60.0
_STATE_AFTER = {
    TurnStop.DONE: AgentState.COMPLETED,
    TurnStop.CANCELLED: AgentState.CANCELLED,
    TurnStop.LOST: AgentState.LOST,
}


@dataclass(slots=True)
class Spawning:
    """The `Spawner` of every agent of this host."""

    crew: Crew
    limits: SpawnLimits
    types: dict[str, AgentType] = field(default_factory=lambda: dict(BUILT_IN))
    _spawned_at: dict[AgentId, deque[float]] = field(default_factory=dict)

    async def spawn(self, parent: AgentId, call_id: str, order: SpawnOrder) -> ChildReport:
        """Starts a child and gives it its prompt; waits for its answer unless it goes to the background.

        Cancelling a foreground spawn cancels the child's turn.

        Raises:
            SpawnRefused: a limit, or an unknown type.
        """
        mother = self.crew.directory.by_id(parent)
        kind = agent_type(order.type, self.types)
        self._check_limits(mother)
        child = await self._start(mother, kind, order)
        receipt = await child.actor.mailbox.put(self._prompt(mother, order))
        if order.is_background:
            self.follow(mother, child, receipt, call_id)
            return ChildReport(child.id, child.name, AgentState.RUNNING, "")
        self.crew.set_state(mother.id, AgentState.WAITING, f"for {child.name}")
        try:
            return await self._outcome(child, receipt)
        except anyio.get_cancelled_exc_class():
            child.actor.cancel_turn()
            raise
        finally:
            # A program may spawn for an agent that is not in a turn.
            state = AgentState.RUNNING if mother.actor.is_working else AgentState.IDLE
            self.crew.set_state(mother.id, state, "")

    def follow(self, mother: Living, child: Living, receipt: Receipt, call_id: str) -> None:
        """Notifies the mother when the turn that takes this message ends; once for each turn."""
        self.crew.tasks.start_soon(self._report_later, mother, child, receipt, call_id)

    async def tell_of_lost(self, tree: Sequence[Living]) -> None:
        """After a resume: the parents of agents whose turn was cut off hear of it."""
        for child in tree:
            if child.state is AgentState.LOST and child.is_newly_lost and child.parent_id is not None:
                mother = self.crew.directory.by_id(child.parent_id)
                report = TaskReport(
                    task_id=child.id,
                    call_id="",
                    name=child.name,
                    status=AgentState.LOST,
                    summary=f"{child.description or child.name}: lost",
                    result="",
                    error=child.reason,
                    usage=child.actor.parts.ledger.fold.spent,
                )
                await notify(self.crew, mother, report)

    def _check_limits(self, mother: Living) -> None:
        limits = self.limits
        tree = self.crew.directory.tree(mother.root_id)
        if mother.depth + 1 > limits.depth:
            raise SpawnRefused(
                f"agents may be nested {limits.depth} deep and {mother.name} is at depth {mother.depth}; "
                "do the work yourself"
            )
        if len(tree) - 1 >= limits.in_all:
            raise SpawnRefused(f"this session has started {limits.in_all} agents, which is the limit")
        n_at_work = sum(living is not mother and _is_at_work(living) for living in tree)
        if n_at_work >= limits.at_work:
            raise SpawnRefused(
                f"{n_at_work} agents of this session are at work and {limits.at_work} may be; "
                "wait for one to end"
            )
        now = self.crew.services.clock.now_s()
        recent = self._spawned_at.setdefault(mother.root_id, deque())
        while recent and recent[0] <= now - RATE_SPAN_S:
            recent.popleft()
        if len(recent) >= limits.per_minute:
            raise SpawnRefused(f"this session may start {limits.per_minute} agents a minute; wait a little")
        recent.append(now)

    async def _start(self, mother: Living, kind: AgentType, order: SpawnOrder) -> Living:
        parent = mother.actor.parts
        name = order.name or self.crew.directory.unused(kind.name)
        agent = Agent(
            name=name,
            model=order.model or kind.model or parent.agent.model,
            tools=kind.tools_from(parent.agent.tools),
            type_prompt=kind.prompt,
            permission_mode=parent.agent.permission_mode,
            limits=parent.agent.limits,
        )
        if agent.model is not None:
            self.crew.services.models.resolve(agent.model)
        birth = Birth(AgentRole.SUBAGENT, mother.root_id, mother, order.description, order.is_background)
        return await self.crew.open(agent, birth, mother.snapshot, Path(parent.opened.cwd))

    def _prompt(self, mother: Living, order: SpawnOrder) -> Draft:
        services = self.crew.services
        return Draft(
            id=EnvelopeId(services.ids.new("msg")),
            sender=mother.name,
            sender_role=SenderRole.COORDINATOR,
            kind=EnvelopeKind.ASK,
            body=order.prompt,
            sent_at=services.clock.now_s(),
        )

    async def _outcome(self, child: Living, receipt: Receipt) -> ChildReport:
        """Waits for the turn and tells the host what the child came to."""
        try:
            turn = await receipt.answered()
        except (ActorStopped, NotDelivered) as error:
            return ChildReport(child.id, child.name, AgentState.FAILED, str(error))
        child.told_turns.add(turn.turn_id)
        state = _STATE_AFTER.get(turn.stop, AgentState.FAILED)
        self.crew.end(child, state, turn.error or turn.stop.value)
        return ChildReport(child.id, child.name, state, _told(turn))

    async def _report_later(self, mother: Living, child: Living, receipt: Receipt, call_id: str) -> None:
        """Sends the notification of a background child; lost only with the mother's whole session."""
        with contextlib.suppress(ActorStopped, NotDelivered):
            if (await receipt.answered()).turn_id in child.told_turns:
                return
        outcome = await self._outcome(child, receipt)
        report = TaskReport(
            task_id=child.id,
            call_id=call_id,
            name=child.name,
            status=outcome.state,
            summary=f"{child.description or child.name}: {outcome.state.value}",
            result=outcome.text,
            error=receipt.turn.error if receipt.turn is not None else outcome.text,
            usage=receipt.turn.usage if receipt.turn is not None else Usage(),
        )
        await notify(self.crew, mother, report)


def _is_at_work(living: Living) -> bool:
    """Waiting for children or for a person is no work."""
    return living.actor.is_working and living.state is not AgentState.WAITING


def _told(turn: TurnEnded) -> str:
    """The last text, and what went wrong where something did."""
    if turn.error is None:
        return turn.text
    return f"{turn.text}\n[{turn.stop.value}: {turn.error}]".strip()
