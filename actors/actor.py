"""One living agent: waits for its bell, works a turn, waits again."""

import anyio

from actors.address import Address, AgentId
from actors.envelope import EnvelopeId
from actors.inbox import next_turn
from actors.parts import Parts
from actors.records import AgentRole, TurnStop
from actors.results import Check, accepts_anything
from actors.turn import Turn


class Actor:
    """Runs in one task of the host. Everything else reaches it through its mailbox or `cancel_turn`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.mailbox = parts.mailbox
        self._checks: dict[EnvelopeId, Check] = {}
        self._turn_scope: anyio.CancelScope | None = None
        self._is_stopping = False
        self._is_held = False

    @property
    def id(self) -> AgentId:
        return self.parts.opened.agent_id

    @property
    def name(self) -> Address:
        return self.parts.name

    @property
    def is_working(self) -> bool:
        return self._turn_scope is not None

    def expect(self, envelope_id: EnvelopeId, check: Check) -> None:
        """How the structured answer to this message is judged."""
        self._checks[envelope_id] = check

    def release(self) -> None:
        """A person or coordinator goes on: after a failed turn a main agent waits for that."""
        self._is_held = False
        self.mailbox.bell.ring()

    async def run(self) -> None:
        """Works until stopped or cancelled. Cancelling ends a running turn as cancelled.

        Raises:
            LogFailed: the store takes no more records.
        """
        while not self._is_stopping:
            envelopes = () if self._is_held else next_turn(self.mailbox.waiting())
            if not envelopes:
                await self.mailbox.bell.wait()
                continue
            turn = Turn(self.parts, self._check_for)
            with anyio.CancelScope() as self._turn_scope:
                turn.begin(envelopes)
                await turn.run()
            self._turn_scope = None
            if turn.stop is TurnStop.FAILED and self.parts.opened.role is AgentRole.MAIN:
                self._is_held = True
            await self.parts.ledger.settled()

    def cancel_turn(self) -> bool:
        """Cancels the running turn; says whether there was one. Its steers become the next turn's input."""
        if self._turn_scope is None:
            return False
        self._turn_scope.cancel()
        return True

    def stop(self, reason: str, *, keep: bool) -> None:
        """Ends the agent: no message is taken any more, a running turn is cancelled."""
        self._is_stopping = True
        self.mailbox.close(reason, keep=keep)
        self.cancel_turn()

    def _check_for(self, envelope_id: EnvelopeId) -> Check:
        return self._checks.pop(envelope_id, accepts_anything)
