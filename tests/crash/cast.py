"""A cast that tells what it was promised, until it is killed."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from actors.envelope import ReceiptState
from actors.errors import ActorError, NotDelivered
from actors.events import TurnFinished
from actors.permission import PermissionClass
from actors.ports import SpawnOrder
from actors.receipt import Receipt
from actors.records import TurnEnded
from actors.tools import Tool, ToolContext, builtin_tools, tool
from host.errors import HostError
from host.host import Host
from host.permissions.surfaces import HumanAnswer, OpenQuestion
from host.session import Session
from providers.model import Request
from providers.script import Call
from providers.scripted import Answer, call
from tests.crash.saying import digest
from tests.crash.told import Answered, Forked, GoalSet, Heard, Ran, Sent, Spawned, TakenBack, Teller
from tests.host.programs import Cast, is_root, look

N_ROOTS = 5


@dataclass(slots=True)
class LifeIds:
    """Ids that no other life gives, and that are the same when a seed is played again."""

    life: int
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def new(self, prefix: str) -> str:
        return f"{prefix}_{self.life}_{next(self.numbers)}"


class Tools:
    """The tools of every life, made once. A run with effects is told when it has had them, before its result.

    `begin` says to whom, and in which life.
    """

    def __init__(self) -> None:
        self.begin(None, 0)

        @tool
        async def change(context: ToolContext, for_s: float = 0) -> str:
            """Changes something."""
            self._tell(context)
            await anyio.sleep(for_s)
            return "changed"

        @tool(permission=PermissionClass.EXECUTE)
        async def risk(context: ToolContext, for_s: float = 0) -> str:
            """Runs something that a person is asked about."""
            self._tell(context)
            await anyio.sleep(for_s)
            return "ran"

        built_in = builtin_tools()
        self.all: list[Tool] = [
            look,
            change,
            risk,
            *(built_in[name] for name in ("Agent", "SendMessage", "Write")),
        ]

    def begin(self, teller: Teller | None, life: int) -> None:
        self._teller, self._life = teller, life

    def _tell(self, context: ToolContext) -> None:
        assert self._teller is not None, "tools run in a life"
        self._teller.tell(Ran(self._life, context.call_id))


@dataclass(kw_only=True)
class TellingCast(Cast):
    """One life of a cast."""

    teller: Teller
    life: int
    folder: Path

    # The model

    def answer(self, request: Request) -> Answer:
        self.teller.tell(Sent(self.life, digest(request.messages)))
        return super().answer(request)

    def some_call(self) -> Call:
        kind = self.dice.randrange(10)
        if kind < 1:
            name = f"{self.folder}/{self.ids.new('file')}"
            return call("Write", {"path": name, "content": f"text of {name}"})
        if kind < 4:
            return call("risk", {"for_s": self.pause_s()})
        if kind < 5:
            task = {"description": "a task", "prompt": "Look.", "type": "explore"}
            return call("Agent", {**task, "run_in_background": self.chance(60)})
        return super().some_call()

    # People

    async def ask(self, host: Host) -> None:
        session = self.anybody(host)
        receipt = await session.post(f"question {self.ids.new('text')}")
        with anyio.move_on_after(self.pause_s() if self.chance(40) else None):
            self._answered(session, await receipt.answered())

    def _answered(self, session: Session, turn: TurnEnded | TurnFinished) -> None:
        self.teller.tell(Answered(self.life, session.id, turn.turn_id, turn.text))

    async def follow(self, host: Host) -> None:
        session = self.anybody(host)
        async for event in session.stream("Go on."):
            if isinstance(event, TurnFinished) and event.agent == session.name:
                self._answered(session, event)

    async def tell(self, host: Host) -> None:
        session = self.anybody(host)
        await self._hear_all(await session.post(f"steer {self.ids.new('text')}"))
        receipt = await session.tell(f"steer {self.ids.new('text')}")
        await self._hear_all(receipt)

    async def _hear_all(self, receipt: Receipt) -> None:
        with anyio.move_on_after(self.pause_s() if self.chance(50) else None):
            await receipt.accepted()
            self._heard(receipt, ReceiptState.ACCEPTED)
            await receipt.taken()
            self._heard(receipt, ReceiptState.TAKEN)
            await receipt.presented()
            self._heard(receipt, ReceiptState.PRESENTED)

    def _heard(self, receipt: Receipt, state: ReceiptState) -> None:
        self.teller.tell(Heard(self.life, receipt.envelope.id, state.value))

    async def take_back(self, host: Host) -> None:
        receipt = await self.anybody(host).post("never mind")
        await anyio.sleep(self.pause_s() / 4)
        if receipt.withdraw():
            try:
                await receipt.answered()
            except NotDelivered:
                self._heard(receipt, ReceiptState.WITHDRAWN)

    async def spawn(self, host: Host) -> None:
        kind = self.dice.choice((None, "explore"))
        order = SpawnOrder("a task", "Do it.", type=kind, is_background=self.chance(60))
        report = await host.spawn(self.anybody(host), order)
        self.teller.tell(Spawned(self.life, report.agent_id))

    async def send(self, host: Host) -> None:
        receipt = await host.send(self.anybody(host), self.somebody(), f"letter {self.ids.new('text')}")
        self._heard(receipt, ReceiptState.ACCEPTED)

    def deeds(self) -> tuple[Callable[[Host], Awaitable[None]], ...]:
        return (*super().deeds(), self.set_goal)

    async def rewind(self, host: Host) -> None:
        session = self.some_root(host)
        before = self.dice.choice((None, None, *(mark.turn_id for mark in session.turns)))
        report = await session.rewind(before, overwrite=True)
        self.teller.tell(TakenBack(self.life, session.id, report.turns))

    async def fork(self, host: Host) -> None:
        session = self.some_root(host)
        if sum(map(is_root, host.agents())) < N_ROOTS:
            copy = await host.fork(session)
            self.teller.tell(Forked(self.life, copy.id, len(copy.history)))

    async def set_goal(self, host: Host) -> None:
        session, text = self.some_root(host), f"goal {self.ids.new('text')}"
        await session.set_goal(text)
        self.teller.tell(GoalSet(self.life, session.id, text))

    async def person(self, host: Host) -> None:
        """Goes on until the end of the process."""
        while True:
            await anyio.sleep(self.pause_s())
            try:
                await self.dice.choice(self.deeds())(host)
            except (ActorError, HostError):
                pass  # stopped, refused, cancelled, failed: all of it is an answer
            except IndexError:
                return  # nobody lives here any more


@dataclass(frozen=True, slots=True)
class SlowPerson:
    """A permission surface that answers after a while, one way or the other."""

    cast: TellingCast

    async def ask(self, question: OpenQuestion) -> HumanAnswer:
        thinks = 1 if self.cast.is_resting else self.cast.dice.choice((1, 50, 200))
        await anyio.sleep(self.cast.pause_s() * thinks)
        return HumanAnswer(is_allowed=self.cast.chance(60), reason="no")
