"""What people, agents and their model do in a random program; every choice is one of its dice."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import anyio

from actors.address import AgentId
from actors.envelope import EnvelopeId
from actors.errors import ActorError
from actors.ports import Ids, SpawnOrder
from actors.receipt import Receipt
from actors.tools import builtin_tools, tool
from host.errors import HostError
from host.host import Host
from host.ids import CountingIds
from host.permissions import PermissionMode
from host.session import Session
from providers.errors import AuthenticationFailed, StreamBroken
from providers.model import Request, StopReason
from providers.script import Call
from providers.scripted import Answer, Piece, call, cut_call, fail, say, stop, think, wait

N_DEEDS = 5
N_FORKS = 3
NAMES = ("ann", "bob")


@tool(is_read_only=True)
async def look(for_s: float = 0) -> str:
    """Looks at something."""
    await anyio.sleep(for_s)
    return "seen"


@tool
async def change(for_s: float = 0) -> str:
    """Changes something."""
    await anyio.sleep(for_s)
    return "changed"


TOOLS = [look, change, builtin_tools()["Agent"], builtin_tools()["SendMessage"]]


def is_root(session: Session) -> bool:
    return session.fold.opened is not None and session.fold.opened.parent_id is None


@dataclass
class Cast:
    """Who takes part in a program, and what they were promised on the way."""

    dice: random.Random
    pace: float = 1.0
    ids: Ids = field(default_factory=CountingIds)
    acknowledged: set[EnvelopeId] = field(default_factory=set)
    roots: list[AgentId] = field(default_factory=list)
    forks: list[AgentId] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    n_asked: int = 0
    is_resting: bool = False

    def chance(self, of_100: int) -> bool:
        return self.dice.randrange(100) < of_100

    def pause_s(self) -> float:
        return self.dice.choice((0.0, 0.0, 0.1, 0.5, 1.0, 3.0, 10.0)) * self.pace

    # The model

    def answer(self, request: Request) -> Answer:
        self.n_asked += 1
        pieces: list[str | Piece] = []
        if self.chance(60):
            pieces.append(wait(self.pause_s()))
        if self.chance(4):
            return [*pieces, fail(AuthenticationFailed("the key is wrong"))]
        if self.chance(10):
            pieces.append(think("hm"))
        pieces.append(say("word ", "and ", "word"))
        if self.chance(40):
            pieces.append(wait(self.pause_s()))
        if self.pace == 1 and self.chance(5):  # going on after that takes seconds
            return [*pieces, fail(StreamBroken("the stream broke"))]
        if self.chance(3):
            return [*pieces, stop(StopReason.MAX_TOKENS)]
        if self.is_resting or self.n_asked > 80 or self.chance(55):
            return pieces
        if self.chance(5):
            return [*pieces, cut_call("look")]
        calls = [self.some_call() for _ in range(self.dice.randint(1, 3))]
        return [*pieces, *(replace(one, call_id=self.ids.new("call")) for one in calls)]

    def some_call(self) -> Call:
        kind = self.dice.randrange(10)
        if kind < 3:
            return call("look", {"for_s": self.pause_s()})
        if kind < 5:
            return call("change", {"for_s": self.pause_s()})
        if kind < 6:
            return call("nothing_of_this_name", {})
        if kind < 8:
            return call("SendMessage", {"to": self.somebody(), "body": f"note {self.n_asked}"})
        return call(
            "Agent",
            {"description": "a task", "prompt": "Do it.", "run_in_background": self.chance(60)},
        )

    def somebody(self) -> str:
        return self.dice.choice((*NAMES, "general-purpose", "general-purpose-2", "general-purpose-3"))

    # People

    def deeds(self) -> tuple[Callable[[Host], Awaitable[None]], ...]:
        return (
            self.ask,
            self.ask,
            self.tell,
            self.tell,
            self.take_back,
            self.cancel,
            self.spawn,
            self.send,
            self.stop_child,
            self.set_mode,
            self.follow,
            self.rewind,
            self.fork,
        )

    def anybody(self, host: Host) -> Session:
        return self.dice.choice(host.agents())

    async def ask(self, host: Host) -> None:
        with anyio.move_on_after(self.pause_s() if self.chance(40) else None):
            await self.anybody(host).ask(f"question {self.ids.new('text')}")

    async def follow(self, host: Host) -> None:
        stream = self.anybody(host).stream("Go on.")
        n_left = self.dice.randrange(1, 12)
        async for _ in stream:
            n_left -= 1
            if n_left == 0 and self.chance(50):
                stream.cancel()
                break

    async def tell(self, host: Host) -> None:
        receipt = await self.anybody(host).tell(f"steer {self.ids.new('text')}")
        self.acknowledged.add(receipt.envelope.id)
        await self.hear(receipt)

    async def hear(self, receipt: Receipt) -> None:
        with anyio.move_on_after(self.pause_s() if self.chance(50) else None):
            await self.dice.choice((receipt.taken, receipt.presented, receipt.answered))()

    async def take_back(self, host: Host) -> None:
        receipt = await self.anybody(host).post("never mind")
        await anyio.sleep(self.pause_s() / 4)
        receipt.withdraw()

    async def cancel(self, host: Host) -> None:
        self.anybody(host).cancel()

    async def spawn(self, host: Host) -> None:
        order = SpawnOrder("a task", "Do it.", is_background=self.chance(60))
        with anyio.move_on_after(self.pause_s() if self.chance(30) else None):
            await host.spawn(self.anybody(host), order)

    async def send(self, host: Host) -> None:
        with anyio.move_on_after(self.pause_s() if self.chance(30) else None):
            receipt = await host.send(self.anybody(host), self.somebody(), f"letter {self.ids.new('text')}")
            self.acknowledged.add(receipt.envelope.id)

    async def stop_child(self, host: Host) -> None:
        children = [session for session in host.agents() if not is_root(session)]
        if children and self.chance(40):
            await self.dice.choice(children).stop()

    async def set_mode(self, host: Host) -> None:
        host.set_mode(self.anybody(host), self.dice.choice(tuple(PermissionMode)))

    def some_root(self, host: Host) -> Session:
        return self.dice.choice([session for session in host.agents() if is_root(session)])

    async def rewind(self, host: Host) -> None:
        session = self.some_root(host)
        # The newest turns most of the time: of the others little would ever be left.
        before = self.dice.choice((None, None, *(mark.turn_id for mark in session.turns)))
        with anyio.move_on_after(self.pause_s() if self.chance(20) else None):
            # Files are put back in a thread, which would break a clock that jumps.
            await session.rewind(before, restore_files=self.pace != 1)

    async def fork(self, host: Host) -> None:
        if len(self.forks) < N_FORKS:
            session = self.some_root(host)
            after = self.dice.choice((None, *(mark.turn_id for mark in session.turns if mark.ended)))
            self.forks.append((await host.fork(session, after=after)).id)

    async def person(self, host: Host) -> None:
        for _ in range(N_DEEDS):
            await anyio.sleep(self.pause_s())
            try:
                await self.dice.choice(self.deeds())(host)
            except (ActorError, HostError):
                pass  # stopped, refused, cancelled, failed: all of it is an answer
            except IndexError:
                return  # nobody lives here any more
