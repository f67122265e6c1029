"""The agents of one run: named, started within the run's limits, told about, stopped."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio

from actors.agent import Agent
from actors.context import Snapshot
from actors.records import AgentState
from host.errors import AgentTimedOut, NameTaken, RunOver, TooManyAgents
from host.host import Host
from host.session import Session
from host.workflows.events import AgentEnded, AgentStarted, RunEvent
from host.workflows.limits import RunLimits
from host.workflows.naming import stem_of
from providers.model import Usage

T = TypeVar("T")
PREVIEW_CHARACTERS = 200

phase_path: ContextVar[tuple[str, ...]] = ContextVar("phase_path", default=())
"""The phases around the running code. Tasks inherit it, so that parallel branches know their phase."""


@dataclass(slots=True)
class Member:
    """One agent of a run, started with its first prompt. `agent.name` is what its address begins with."""

    label: str
    agent: Agent
    session: Session | None = None
    n_asks: int = 0


class Cast:
    """Who plays in a run. `tell` hears of every prompt."""

    def __init__(
        self, host: Host, snapshot: Snapshot, tell: Callable[[RunEvent], None], limits: RunLimits
    ) -> None:
        self._host = host
        self._snapshot = snapshot
        self._tell = tell
        self._limits = limits
        self._slots = anyio.Semaphore(limits.at_once)
        self._names: set[str] = set()
        self._n_of_stem: dict[str, int] = {}
        self._members: dict[int, Member] = {}
        self._began_s = anyio.current_time()
        self._is_over = False
        self.n_agents = 0
        self.usage = Usage()

    def at_s(self) -> float:
        """Seconds since the run began."""
        return anyio.current_time() - self._began_s

    def enrol(self, label: str, agent: Agent) -> Member:
        """A place in the run for an agent; it is started with its first prompt.

        Raises:
            RunOver: the run has ended.
            TooManyAgents: the run has had as many as it may.
            NoModel, ModelNotFound, AuthenticationFailed: its model cannot be had.
        """
        self.check_open()
        if self.n_agents >= self._limits.agents:
            raise TooManyAgents(
                f"this run has started {self._limits.agents:,} agents, which is its limit; "
                f"{label!r} was not started"
            )
        self._host.model_name(agent.model)
        self.n_agents += 1
        return Member(label, agent)

    def check_open(self) -> None:
        if self._is_over:
            raise RunOver("this run has ended; what it started cannot be used any more")

    async def ask(self, member: Member, text: str, returns: type[T], timeout_s: float | None) -> T:
        """One prompt and its answer, when a slot is free."""
        async with self._slots:
            self.check_open()
            session = member.session or await self._start(member)
            return await self._told(member, session, text, returns, timeout_s)

    async def dismiss(self, member: Member) -> None:
        """Stops the agent; nothing of it runs afterwards."""
        session, member.session = member.session, None
        self._members.pop(id(member), None)
        if session is not None:
            await session.stop()

    async def close(self) -> None:
        """Ends the run: no agent of it runs afterwards, none can be started."""
        self._is_over = True
        with anyio.CancelScope(shield=True):
            for member in tuple(self._members.values()):
                await self.dismiss(member)

    async def _start(self, member: Member) -> Session:
        while True:
            name = self._free_name(stem_of(member.label))
            try:
                agent = replace(member.agent, name=name)
                member.session = await self._host.start_actor(agent, snapshot=self._snapshot)
            except NameTaken:  # by another run, between looking and claiming
                continue
            self._members[id(member)] = member
            return member.session

    def _free_name(self, stem: str) -> str:
        """The stem with the next number behind it, the first without one. No name comes twice in a run."""
        while True:
            n = self._n_of_stem[stem] = self._n_of_stem.get(stem, 0) + 1
            name = stem if n == 1 else f"{stem}-{n}"
            if name not in self._names and self._host.unused_name(name) == name:
                self._names.add(name)
                return name

    async def _told(
        self, member: Member, session: Session, text: str, returns: type[T], timeout_s: float | None
    ) -> T:
        began_s, before = self.at_s(), session.spent
        member.n_asks += 1
        phase = phase_path.get()
        state, error = AgentState.FAILED, None
        self._tell(
            AgentStarted(
                agent=session.name,
                label=member.label,
                phase=phase,
                model=self._host.model_name(member.agent.model),
                n_ask=member.n_asks,
                preview=text[:PREVIEW_CHARACTERS],
                at_s=began_s,
            )
        )
        try:
            value = await self._in_time(member, session, text, returns, timeout_s)
            state = AgentState.COMPLETED
            return value
        except anyio.get_cancelled_exc_class():
            state = AgentState.CANCELLED
            raise
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
            raise
        finally:
            usage = _difference(session.spent, before)
            self.usage = self.usage + usage
            now_s = self.at_s()
            self._tell(
                AgentEnded(session.name, member.label, phase, state, usage, now_s - began_s, error, now_s)
            )

    async def _in_time(
        self, member: Member, session: Session, text: str, returns: type[T], timeout_s: float | None
    ) -> T:
        with anyio.move_on_after(timeout_s):
            return await session.ask(text, returns=returns)
        raise AgentTimedOut(f"{member.label} did not answer within {timeout_s:g} s; its turn was cancelled")


def _difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.input_tokens - before.input_tokens,
        after.cache_read_tokens - before.cache_read_tokens,
        after.cache_write_tokens - before.cache_write_tokens,
        after.output_tokens - before.output_tokens,
        after.reasoning_tokens - before.reasoning_tokens,
        after.is_estimated,
    )
