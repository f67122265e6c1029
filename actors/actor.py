"""One living agent: waits for its bell, works a turn, waits again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio

from actors.address import Address, AgentId
from actors.envelope import Envelope, EnvelopeId
from actors.errors import ActorStopped
from actors.goals import change_reminder
from actors.inbox import next_turn
from actors.parts import Parts
from actors.receipt import Receipt
from actors.records import AgentRole, EntriesAppended, GoalChanged, GoalMove, TurnEnded, TurnId, TurnStop
from actors.results import Check, accepts_anything
from actors.state import OpenTurn
from actors.turn import Turn

_INSIDE: ContextVar[TurnId | None] = ContextVar("the turn in which this task runs", default=None)


class Actor:
    """Runs in one task of the host. Everything else reaches it through its mailbox or cancels its turn."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.mailbox = parts.mailbox
        self._checks: dict[EnvelopeId, Check] = {}
        self._turn: Turn | None = None
        self._turn_scope: anyio.CancelScope | None = None
        self.is_stopping = False
        self._is_held = False
        self._is_waiting_for_go = False
        self._open_turn: OpenTurn | None = None
        self._is_at_rest = False
        self._rested = anyio.Event()
        self._one_at_a_time = anyio.Lock()

    @property
    def id(self) -> AgentId:
        return self.parts.opened.agent_id

    @property
    def name(self) -> Address:
        return self.parts.name

    @property
    def is_working(self) -> bool:
        return self._turn_scope is not None

    @property
    def turn(self) -> Turn | None:
        """The turn that runs, or in which the agent crashed."""
        return self._turn

    @property
    def is_inside(self) -> bool:
        """Whether whoever asks this runs in a turn of this agent, a tool of it for one."""
        return self._turn is not None and _INSIDE.get() == self._turn.id

    def expect(self, envelope_id: EnvelopeId, check: Check) -> None:
        """How the structured answer to this message is judged."""
        self._checks[envelope_id] = check

    async def answer(self, receipt: Receipt) -> TurnEnded:
        """The end of the turn that took the message. Cancelling takes the message back, or cancels its turn.

        Raises:
            ActorStopped, NotDelivered: there will be none.
        """
        try:
            return await receipt.answered()
        except anyio.get_cancelled_exc_class():
            self.take_back(receipt)
            raise
        finally:
            self._checks.pop(receipt.envelope.id, None)

    def take_back(self, receipt: Receipt) -> None:
        """Withdraws a message, or cancels the turn that took it; never another turn."""
        if receipt.withdraw() or self._turn is None:
            return
        if self._turn.intake.has(receipt.envelope.id):
            self.cancel_turn()

    def release(self) -> None:
        """A person or coordinator goes on: after a failed turn a main agent waits for that."""
        self._is_held = False
        self.mailbox.bell.ring()

    def hold(self) -> None:
        """No turn begins until `let_go`: what comes waits in the mailbox."""
        self._is_waiting_for_go = True

    def let_go(self) -> None:
        """Takes `hold` back; does nothing where there was none."""
        self._is_waiting_for_go = False
        self.mailbox.bell.ring()

    async def run(self) -> None:
        """Works until stopped or cancelled. Cancelling ends a running turn as cancelled.

        Raises:
            LogFailed: the store takes no more records.
        """
        try:
            if self._open_turn is not None and not self.is_stopping:
                await self._work(Turn(self.parts, self._check_for, self._open_turn), ())
            while not self.is_stopping:
                is_held = self._is_held or self._is_waiting_for_go or self._is_at_rest
                envelopes = () if is_held else next_turn(self.mailbox.waiting())
                if envelopes:
                    await self._work(Turn(self.parts, self._check_for), envelopes)
                else:
                    self._rested.set()
                    await self.mailbox.bell.wait()
        finally:
            self._rested.set()

    async def _work(self, turn: Turn, envelopes: tuple[Envelope, ...]) -> None:
        self._turn = turn
        try:
            _INSIDE.set(turn.id)
            with anyio.CancelScope() as self._turn_scope:
                if envelopes:
                    turn.begin(envelopes)
                else:
                    turn.reopen()
                await turn.run()
        finally:
            self._turn_scope = None
        if turn.stop is TurnStop.FAILED and self.parts.opened.role is AgentRole.MAIN:
            self._is_held = True
        await self.parts.ledger.settled()
        self._turn = None

    def reopen(self, open_turn: OpenTurn) -> None:
        """Before `run`: this turn of an earlier host goes on first."""
        self._open_turn = open_turn

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Cancels the running turn; while the block runs, none begins. One such block at a time.

        Raises:
            ActorStopped: the agent has ended, or ends meanwhile.
        """
        async with self._one_at_a_time:
            self._check_not_stopped()  # it would never come to rest again
            self._is_at_rest = True
            try:
                self._rested = anyio.Event()
                self.cancel_turn()
                self.mailbox.bell.ring()
                await self._rested.wait()
                self._check_not_stopped()
                yield
            finally:
                self._is_at_rest = False
                self.mailbox.bell.ring()

    async def undisturbed(self) -> None:
        """Waits until nobody is inside `at_rest`."""
        async with self._one_at_a_time:
            pass

    def _check_not_stopped(self) -> None:
        if self.is_stopping:
            raise ActorStopped(f"{self.name} was stopped")

    def cancel_turn(self) -> bool:
        """Cancels the running turn; says whether there was one. Its steers become the next turn's input."""
        if self._turn_scope is None:
            return False
        self._turn_scope.cancel()
        return True

    def stop(self, reason: str, *, keep: bool) -> None:
        """Ends the agent: no message is taken any more, a running turn is cancelled."""
        self.is_stopping = True
        self.mailbox.close(reason, keep=keep)
        self.cancel_turn()

    async def move_goal(self, move: GoalMove, text: str) -> None:
        """Logs what a person did with the goal. A running turn goes on; the model is told behind it.

        Raises:
            ActorStopped: the agent has ended.
            LogFailed: the store did not take it.
        """
        self._check_not_stopped()
        parts = self.parts
        change = GoalChanged(move, text, parts.now_s())
        if self.is_working:
            parts.untold_goal = change
            await parts.ledger.commit(change)
        else:
            told = change_reminder(change, parts.new_entry_id())
            await parts.ledger.commit(change, EntriesAppended((told,)))

    def _check_for(self, envelope_id: EnvelopeId) -> Check:
        return self._checks.pop(envelope_id, accepts_anything)
