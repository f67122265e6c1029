"""What a caller holds of an agent: ask it, tell it, watch it, stop it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

from actors.address import HOST, USER, Address, AgentId
from actors.draft import Draft
from actors.envelope import Envelope, EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import (
    BadInput,
    LimitReached,
    ResultInvalid,
    TurnCancelled,
    TurnFailed,
)
from actors.events import SessionEvent
from actors.history import Entry
from actors.receipt import Receipt
from actors.records import AgentRole, AgentState, GoalMove, TurnEnded, TurnId, TurnStop
from actors.state import AgentFold, Goal, TurnMark
from host.crew import Crew
from host.hub import Subscription
from host.living import Living
from host.outline import TurnOutline, outline
from host.permissions import PermissionMode
from host.rewinding import RewindPreview, RewindReport, preview, rewind
from host.turn_stream import TurnStream
from host.typed import ResultType
from providers.model import Usage

T = TypeVar("T")
_FAILURES: dict[TurnStop, type[TurnFailed]] = {
    TurnStop.CANCELLED: TurnCancelled,
    TurnStop.RESULT_INVALID: ResultInvalid,
    TurnStop.STEP_LIMIT: LimitReached,
    TurnStop.TOOL_CALL_LIMIT: LimitReached,
    TurnStop.TOKEN_LIMIT: LimitReached,
    TurnStop.COST_LIMIT: LimitReached,
    TurnStop.TIME_LIMIT: LimitReached,
    TurnStop.OUTPUT_LIMIT: LimitReached,
}

# A script started the actor: what it says has a coordinator's authority, not that of a person.
_SPEAKERS = {AgentRole.WORKFLOW_ACTOR: (HOST, SenderRole.COORDINATOR)}


class Session:
    """One agent at work on a host. Every wait can be cancelled; nothing accepted is lost by it."""

    def __init__(self, living: Living, crew: Crew) -> None:
        self._living = living
        self._crew = crew

    @property
    def id(self) -> AgentId:
        """Unique for ever; `Host.resume` takes it."""
        return self._living.id

    @property
    def name(self) -> Address:
        return self._living.name

    @property
    def state(self) -> AgentState:
        return self._living.state

    @property
    def spent(self) -> Usage:
        """Tokens of all finished turns of this agent (its subagents not included)."""
        return self.fold.spent

    @property
    def waiting(self) -> tuple[Envelope, ...]:
        """Messages that are accepted and that no turn has taken yet, oldest first."""
        return self._living.actor.mailbox.waiting()

    @property
    def was_cut_off(self) -> bool:
        """Whether the host that ran it before ended in the middle of a turn."""
        return self._living.is_newly_lost

    @property
    def model(self) -> str | None:
        """The model that it was given, None for the host's default."""
        return self._living.actor.parts.agent.model

    @property
    def mode(self) -> PermissionMode:
        """What it may do without asking; `Host.set_mode` changes it."""
        return self._crew.standing.mode_of(self._living)

    @property
    def history(self) -> Sequence[Entry]:
        """Everything that was said so far, oldest first. A copy."""
        return tuple(self.fold.history)

    @property
    def fold(self) -> AgentFold:
        """Everything that the log says of this agent; look, do not touch."""
        return self._living.actor.parts.ledger.fold

    @overload
    async def ask(self, text: str, *, model: str | None = None) -> str: ...

    @overload
    async def ask(self, text: str, *, returns: type[T], model: str | None = None) -> T: ...

    async def ask(self, text: str, *, returns: type[T] | None = None, model: str | None = None) -> T | str:
        """One turn of its own: the answer's text, or a value of the type `returns`.

        `returns` is anything a pydantic TypeAdapter takes. Cancelling takes
        the question back, or cancels its turn if that has begun.

        Raises:
            TurnFailed: the turn ended otherwise than done: `TurnCancelled`,
                `LimitReached`, `ResultInvalid`; the text says why, and `__cause__` is
                the error that ended it.
            ActorStopped, NotDelivered: the agent ended before it answered.
            BadInput: a tool asks the agent in whose turn it runs.
        """
        if self._living.actor.is_inside:
            raise BadInput(
                f"{self.name} cannot ask itself from inside its own turn, which would wait for itself; "
                "`tell` it, or ask another agent"
            )
        wanted = None if returns is None or returns is str else ResultType(returns)
        receipt = await self._post(text, EnvelopeKind.ASK, model=model, wanted=wanted)
        turn = await self._living.actor.answer(receipt)
        _raise_unless_done(turn, self.name, receipt.cause)
        if wanted is None:
            return turn.text
        return wanted.load(turn.result)

    async def tell(self, text: str, *, model: str | None = None) -> Receipt:
        """A message that joins the running turn, or starts the next one; returns once it is accepted.

        Waits while the mailbox is full. `model` switches the model of the turn.
        """
        receipt = await self._post(text, EnvelopeKind.TELL, model=model)
        await receipt.accepted()
        return receipt

    def stream(self, text: str, *, model: str | None = None) -> TurnStream:
        """The same as `ask`, as events: every delta, tool and message of this agent and those below it.

        Ends behind the `TurnFinished` of the turn that answers. Leaving early
        (or `close`) stops the watching, not the turn; `cancel` stops the turn.
        """
        return TurnStream(self.name, self.watch, lambda: self.post(text, model), self._living.actor.take_back)

    async def post(self, text: str, model: str | None = None) -> Receipt:
        """Asks without waiting for the answer: the receipt tells when the turn has ended."""
        return await self._post(text, EnvelopeKind.ASK, model=model)

    def watch(self) -> Subscription:
        """Events of this agent and those below it, from now on until it or the host has ended."""
        return self._crew.supervisor.hub.subscribe(self._is_ours, of=self.id)

    @property
    def turns(self) -> Sequence[TurnMark]:
        """The turns that the history holds, oldest first. A copy."""
        return tuple(replace(mark) for mark in self.fold.turns)

    async def rewind(
        self, before: str | None = None, *, restore_files: bool = True, overwrite: bool = False
    ) -> RewindReport:
        """Takes the conversation back to what it was before a turn, by default the last one.

        A running turn is cancelled, agents that the removed turns started are
        stopped, and files that these turns or agents changed with Write and Edit are
        put back (what commands changed is not). Nothing is deleted: the log keeps all of it. What
        waits in the mailbox stays, and what agents of earlier turns report arrives.

        Raises:
            BadInput: no such turn, none at all, a subagent, or called from inside its own turn.
            RestoreRefused: files cannot be put back, or were changed since by somebody else, which
                `overwrite` allows to replace. Nothing was taken back; a running turn is cancelled.
            StoreDamaged, LogFailed: the log cannot be read or takes no more.
            ActorStopped: the agent has ended.
        """
        turn_id = None if before is None else TurnId(before)
        return await rewind(
            self._crew,
            self._crew.services.artifacts,
            self._living,
            turn_id,
            restores_files=restore_files,
            overwrites=overwrite,
        )

    async def outline(self) -> tuple[TurnOutline, ...]:
        """The turns in short, with the files that each changed, oldest first.

        Raises:
            StoreDamaged: a log of the session cannot be read.
        """
        return await outline(self._crew.store, self.id)

    async def preview_rewind(self, before: str | None = None) -> RewindPreview:
        """What `rewind` would do, as things stand; nothing is changed, and a running turn goes on.

        Raises:
            BadInput: no such turn, none at all, or a subagent.
            StoreDamaged: the log cannot be read.
        """
        living = self._living
        if living.parent_id is not None:
            raise BadInput(f"{living.name} is a subagent; take back the session that it belongs to")
        services = self._crew.services
        turn_id = None if before is None else TurnId(before)
        return await preview(self._crew.store, services.artifacts, living.id, turn_id)

    def go_on(self) -> None:
        """Lets agents that were resumed `at_rest` begin with what waits for them."""
        for living in self._crew.directory.tree(self._living.root_id):
            living.actor.let_go()

    # The goal

    @property
    def goal(self) -> Goal | None:
        """What a person wants this session to reach; it outlives the host and a rewind."""
        return self.fold.goal

    async def set_goal(self, text: str) -> None:
        """Sets the goal, in place of one that there was. The model is told behind a running turn.

        Raises:
            BadInput: it says nothing.
            ActorStopped, LogFailed: it could not be stored.
        """
        if not text.strip():
            raise BadInput("a goal needs some text")
        await self._living.actor.move_goal(GoalMove.SET, text)

    async def pause_goal(self) -> None:
        """The model leaves the goal alone until it is resumed. Raises as `clear_goal`."""
        await self._move_goal(GoalMove.PAUSED)

    async def resume_goal(self) -> None:
        """The goal counts again. Raises as `clear_goal`."""
        await self._move_goal(GoalMove.RESUMED)

    async def clear_goal(self) -> None:
        """There is no goal any more.

        Raises:
            BadInput: there was none.
            ActorStopped, LogFailed: it could not be stored.
        """
        await self._move_goal(GoalMove.CLEARED)

    async def _move_goal(self, move: GoalMove) -> None:
        if self.goal is None:
            raise BadInput(f"{self.name} has no goal that could be {move.value}")
        await self._living.actor.move_goal(move, self.goal.text)

    # Its end

    def cancel(self) -> bool:
        """Cancels the running turn, if there is one; steers that it did not take start the next."""
        return self._living.actor.cancel_turn()

    async def stop(self) -> None:
        """Ends the agent and all below it; nothing of them runs afterwards.

        A session stays in the store with what waits in its mailboxes, and can
        be resumed. What waits for a subagent is dead; it keeps its name as
        long as its session lives.
        """
        await self._crew.stop(self._living, reason="its session was stopped")

    async def _post(
        self,
        text: str,
        kind: EnvelopeKind,
        *,
        model: str | None = None,
        wanted: ResultType[Any] | None = None,
    ) -> Receipt:
        services = self._crew.services
        actor = self._living.actor
        if model is not None:
            services.models.resolve(model)
        sender, sender_role = _SPEAKERS.get(self._living.role, (USER, SenderRole.USER))
        draft = Draft(
            id=EnvelopeId(services.ids.new("msg")),
            sender=sender,
            sender_role=sender_role,
            kind=kind,
            body=text,
            sent_at=services.clock.now_s(),
            model=model,
            result_schema=None if wanted is None else wanted.schema,
        )
        actor.release()
        receipt = await actor.mailbox.post(draft)
        if wanted is not None:
            actor.expect(draft.id, wanted.check)
        return receipt

    def _is_ours(self, event: SessionEvent) -> bool:
        living = self._crew.directory.get(event.agent)
        while living is not None and living is not self._living:
            living = None if living.parent_id is None else self._crew.directory.get(living.parent_id)
        return living is not None


def _raise_unless_done(turn: TurnEnded, name: str, cause: Exception | None) -> None:
    if turn.stop is TurnStop.DONE:
        return
    kind = _FAILURES.get(turn.stop, TurnFailed)
    why = turn.error or f"the turn of {name} ended as {turn.stop.value}"
    raise kind(why, stop_reason=turn.stop.value, text=turn.text) from cause
