"""What of a session's work is still to come, told from its events."""

import anyio

from actors.events import AgentChanged, MessageDropped, MessageTaken, SessionEvent, TurnBegan, TurnFinished
from actors.records import AgentState, TurnStop


class Turns:
    """Follows the turns of one main agent. Feed it every event in order, after it was shown.

    `broken_because` is set when the agent itself has failed: no turn will end
    or begin any more.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._unanswered: set[str] = set()
        self._in_this_turn: set[str] = set()
        self._done: set[str] = set()
        self._changed = anyio.Event()
        self.is_in_turn = False
        self.n_finished = 0
        self.last: TurnFinished | None = None
        self.broken_because: str | None = None

    def sent(self, envelope_id: str) -> None:
        """This message waits for its turn, unless its turn has passed by already."""
        if envelope_id not in self._done:
            self._unanswered.add(envelope_id)

    def saw(self, event: SessionEvent) -> None:
        if event.agent != self._agent:
            return
        match event:
            case MessageTaken():
                self._in_this_turn.add(event.envelope_id)
                self.is_in_turn = True
            case TurnBegan():
                self.is_in_turn = True
            case TurnFinished():
                self.is_in_turn = False
                self.n_finished += 1
                self.last = event
                self._close(self._in_this_turn)
                self._in_this_turn = set()
            case MessageDropped():
                self._close({event.envelope_id})
            case AgentChanged(state=AgentState.FAILED):
                self.broken_because = event.reason
            case _:
                return
        self._changed.set()
        self._changed = anyio.Event()

    @property
    def is_idle(self) -> bool:
        """Nothing runs, and nothing will by itself: behind a failed turn messages wait for a person."""
        is_held = self.last is not None and self.last.stop is TurnStop.FAILED
        return not self.is_in_turn and (not self._unanswered or is_held)

    async def idle(self) -> None:
        """Returns when nothing runs or is waiting to."""
        while not self.is_idle and self.broken_because is None:
            await self._changed.wait()

    async def answered(self, envelope_id: str) -> None:
        """Returns when the turn that took this message is over, or the message will never be taken."""
        while envelope_id not in self._done and self.broken_because is None:
            await self._changed.wait()

    async def finished_behind(self, n_finished: int) -> None:
        """Returns when more turns than these have finished."""
        while self.n_finished <= n_finished and self.broken_because is None:
            await self._changed.wait()

    def _close(self, envelope_ids: set[str]) -> None:
        self._done |= envelope_ids
        self._unanswered -= envelope_ids
