"""Starts subagents for agents, within the limits of their session."""

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from actors.address import AgentId
from actors.agent import Agent
from actors.draft import Draft
from actors.envelope import EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import ActorStopped, NotDelivered
from actors.ports import ChildReport, SpawnOrder
from actors.receipt import Receipt
from actors.records import AgentRole, AgentState, TurnEnded
from host.agent_types import BUILT_IN, AgentType, agent_type
from host.crew import Birth, Crew
from host.errors import SpawnRefused
from host.limits import SpawnLimits
from host.living import Living
from host.notifying import state_after

RATE_SPAN_S = 60.0


@dataclass(slots=True)
class Spawning:
    """The `Spawner` of every agent of this host."""

    crew: Crew
    limits: SpawnLimits
    types: dict[str, AgentType] = field(default_factory=lambda: dict(BUILT_IN))
    _spawned_at: dict[AgentId, deque[float]] = field(default_factory=dict)
    _n_starting: Counter[AgentId] = field(default_factory=Counter)

    async def spawn(self, parent: AgentId, call_id: str, order: SpawnOrder) -> ChildReport:
        """Starts a child and gives it its prompt; waits for its answer unless it goes to the background.

        Cancelling a foreground spawn cancels the child's turn.

        Raises:
            SpawnRefused: a limit, or an unknown type.
            ActorStopped: the parent was stopped meanwhile.
        """
        mother = self.crew.directory.by_id(parent)
        kind = agent_type(order.type, self.types)
        with self._place(mother):
            child = await self._start(mother, kind, order, call_id)
            # No await from here until it has its prompt: cancelled, it would lie around without work.
            receipt = child.actor.mailbox.put_nowait(self._prompt(mother, order))
        if order.is_background:
            return await _begun(child, receipt)
        with self.crew.standing.waiting(mother, f"for {child.name}"):
            return await _outcome(child, receipt)

    @contextmanager
    def _place(self, mother: Living) -> Iterator[None]:
        """Keeps a place for a child that is being started, if the limits leave one."""
        self._check_limits(mother)
        self._n_starting[mother.root_id] += 1
        try:
            yield
        finally:
            self._n_starting[mother.root_id] -= 1

    def _check_limits(self, mother: Living) -> None:
        limits = self.limits
        tree = self.crew.directory.tree(mother.root_id)
        n_starting = self._n_starting[mother.root_id]
        if mother.depth + 1 > limits.depth:
            raise SpawnRefused(
                f"agents may be nested {limits.depth} deep and {mother.name} is at depth {mother.depth}; "
                "do the work yourself"
            )
        if len(tree) - 1 + n_starting >= limits.in_all:
            raise SpawnRefused(f"this session has started {limits.in_all} agents, which is the limit")
        n_at_work = n_starting + sum(living is not mother and _is_at_work(living) for living in tree)
        if n_at_work >= limits.at_work:
            raise SpawnRefused(
                f"{n_at_work} agents of this session are at work and {limits.at_work} may be; "
                "wait for one to end"
            )
        now = anyio.current_time()  # a clock of the day may be set back
        recent = self._spawned_at.setdefault(mother.root_id, deque())
        while recent and recent[0] <= now - RATE_SPAN_S:
            recent.popleft()
        if len(recent) >= limits.per_minute:
            raise SpawnRefused(f"this session may start {limits.per_minute} agents a minute; wait a little")
        recent.append(now)

    async def _start(self, mother: Living, kind: AgentType, order: SpawnOrder, call_id: str) -> Living:
        parent = mother.actor.parts
        name = order.name or self.crew.directory.unused(kind.name)
        agent = Agent(
            name=name,
            model=order.model or kind.model or parent.agent.model,
            tools=kind.tools_from(parent.agent.tools),
            type_prompt=kind.prompt,
            permission_mode=self.crew.standing.mode_of(mother),
            limits=parent.agent.limits,
        )
        if agent.model is not None:
            self.crew.services.models.resolve(agent.model)
        turn = mother.actor.turn if call_id else None  # a program starts it beside the turns
        birth = Birth(
            AgentRole.SUBAGENT,
            mother.root_id,
            mother,
            order.description,
            call_id,
            None if turn is None else turn.id,
            kind.restarts,
        )
        return await self.crew.open(agent, birth, mother.snapshot, Path(parent.opened.cwd))

    def _prompt(self, mother: Living, order: SpawnOrder) -> Draft:
        services = self.crew.services
        return Draft(
            id=EnvelopeId(services.ids.new("msg")),
            sender=mother.name,
            sender_role=SenderRole.COORDINATOR,
            # Whoever waits asks; whoever only tells hears of the end by a notification.
            kind=EnvelopeKind.TELL if order.is_background else EnvelopeKind.ASK,
            body=order.prompt,
            sent_at=services.clock.now_s(),
        )


async def _begun(child: Living, receipt: Receipt) -> ChildReport:
    """Waits until the task is stored: a child that is told to run has one, whatever happens then."""
    try:
        with anyio.CancelScope(shield=True):  # bounded by the store; the child runs already
            await receipt.accepted()
    except (ActorStopped, NotDelivered) as error:
        return ChildReport(child.id, child.name, AgentState.FAILED, str(error))
    return ChildReport(child.id, child.name, AgentState.RUNNING, "")


async def _outcome(child: Living, receipt: Receipt) -> ChildReport:
    """Waits for the turn; cancelling ends it."""
    try:
        turn = await child.actor.answer(receipt)
    except (ActorStopped, NotDelivered) as error:
        return ChildReport(child.id, child.name, AgentState.FAILED, str(error))
    return ChildReport(child.id, child.name, state_after(turn), _told(turn))


def _is_at_work(living: Living) -> bool:
    """In a turn, or about to begin one; waiting for children or for a person is no work."""
    if living.actor.is_stopping:
        return False
    is_busy = living.actor.is_working or not living.actor.mailbox.is_empty
    return is_busy and living.state is not AgentState.WAITING


def _told(turn: TurnEnded) -> str:
    """The last text, and what went wrong where something did."""
    if turn.error is None:
        return turn.text
    return f"{turn.text}\n[{turn.stop.value}: {turn.error}]".strip()
