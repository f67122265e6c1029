"""Random programs of agents, people and hosts, by seed: nothing is lost, doubled or left open.

A program is a few lives of a host on one store. In each life people ask, tell,
withdraw, cancel, spawn, send and stop at random moments, while a model answers
at random speed with texts, calls, failures and broken streams. A life ends by
leaving the block, by an outer cancellation, or by a crash: from one moment on
the store takes nothing more. The last life is left to come to rest, and then
the logs are judged.

A failing seed is in the test's name; replay it with `-k "seed and 123 and trio"`.
"""

import contextlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskGroup

from actors.address import AgentId
from actors.agent import Agent
from actors.envelope import Envelope, EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import ActorError
from actors.events import AgentChanged, WarningRaised
from actors.history import MessageEntry
from actors.ports import SpawnOrder
from actors.receipt import Receipt
from actors.records import (
    AgentState,
    EnvelopeAccepted,
    EnvelopeDropped,
    EnvelopesTaken,
    Record,
    TurnEnded,
    TurnStop,
)
from actors.state import AgentFold
from actors.tools import builtin_tools, tool
from host.config import Config
from host.errors import HostError
from host.host import Host
from host.hub import Subscription
from host.ids import CountingIds
from host.limits import SpawnLimits
from host.permissions import PermissionMode
from host.session import Session
from host.store.memory import MemoryStore
from host.store.ports import Store
from host.store.sqlite import SqliteStore
from providers.errors import AuthenticationFailed, StreamBroken
from providers.model import Request, Role, StopReason
from providers.scripted import Answer, Piece, ScriptedProvider, call, cut_call, fail, say, stop, think, wait
from tests.host.hosts import scripted_host
from tests.host.lagging import CrashingStore

N_LIVES = 3
N_PEOPLE = 3
N_DEEDS = 5
REST_S = 20_000.0
NAMES = ("ann", "bob")


@dataclass
class Program:
    """One seed: its dice, its store, and what it was promised on the way."""

    dice: random.Random
    store: Callable[[float], Store]
    pace: float = 1.0
    ids: CountingIds = field(default_factory=CountingIds)
    acknowledged: set[EnvelopeId] = field(default_factory=set)
    roots: list[AgentId] = field(default_factory=list)
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
        return [*pieces, *(self.some_call() for _ in range(self.dice.randint(1, 3)))]

    def some_call(self) -> Piece:
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
        children = [session for session in host.agents() if session.name not in NAMES]
        if children and self.chance(40):
            await self.dice.choice(children).stop()

    async def set_mode(self, host: Host) -> None:
        host.set_mode(self.anybody(host), self.dice.choice(tuple(PermissionMode)))

    async def person(self, host: Host) -> None:
        for _ in range(N_DEEDS):
            await anyio.sleep(self.pause_s())
            try:
                await self.dice.choice(self.deeds())(host)
            except (ActorError, HostError):
                pass  # stopped, refused, cancelled, failed: all of it is an answer
            except IndexError:
                return  # nobody lives here any more

    # Lives of a host

    def host(self, store: Store) -> tuple[Host, ScriptedProvider]:
        provider = ScriptedProvider(self.answer)
        config = Config(store="unused", spawn=SpawnLimits(depth=2, at_work=4, in_all=6))
        return scripted_host(provider, store=store, config=config, ids=self.ids), provider

    async def open_agents(self, host: Host) -> None:
        for root in self.roots:
            await host.resume(root, tools=TOOLS)
        for name in NAMES[len(self.roots) :]:
            self.roots.append((await host.start(Agent(name, tools=TOOLS))).id)

    async def live(self) -> None:
        """One life, left in the middle; everybody who waited for the host must hear of its end."""
        store = self.store(self.dice.choice((0.0, 0.001, 0.05, 0.3)))
        host, provider = self.host(store)
        with anyio.move_on_after(REST_S * self.pace) as patience:
            async with anyio.create_task_group() as people:
                with contextlib.suppress(ZeroDivisionError):
                    await self.block(host, store, people)
        if patience.cancelled_caught:
            self.problems.append("somebody waits for ever for a host that is gone")
        if provider.n_open:
            self.problems.append(f"{provider.n_open} streams are open behind the end of a host")

    async def block(self, host: Host, store: Store, people: TaskGroup) -> None:
        with anyio.CancelScope() as outer:
            async with host:
                people.start_soon(self.watch, host.watch())
                await self.open_agents(host)
                for _ in range(N_PEOPLE):
                    people.start_soon(self.person, host)
                await anyio.sleep(self.dice.random() * 40 * self.pace)
                match self.dice.randrange(4):
                    case 0 if isinstance(store, CrashingStore):
                        store.crash()
                        await anyio.sleep(self.dice.choice((0.0, 1.0)))
                    case 1:
                        outer.cancel()
                        await anyio.sleep(1)
                    case 2:
                        raise ZeroDivisionError("a bug in the block")

    async def rest(self) -> None:
        """The last life: everything that was left over is worked off."""
        self.is_resting = True
        store = self.store(0.05)
        host, provider = self.host(store)
        async with anyio.create_task_group() as people, host:
            people.start_soon(self.watch, host.watch())
            await self.open_agents(host)
            await anyio.sleep(REST_S * self.pace)
            for session in host.agents():
                is_busy = session.state in (AgentState.RUNNING, AgentState.WAITING)
                self.blame(is_busy, f"{session.name} still works")
                last = session.fold.last_turn
                is_held = last is not None and last.stop is TurnStop.FAILED and session.name in NAMES
                self.blame(bool(session.waiting) and not is_held, f"a message lies before {session.name}")
                folded = folded_from(await records_of(store, session.id))
                self.blame(folded != session.fold, f"{session.name}: the log folds into another state")
        self.blame(provider.n_open > 0, "streams are open behind the last host")

    async def watch(self, events: Subscription) -> None:
        async for event in events:
            if isinstance(event, AgentChanged) and event.state is AgentState.FAILED:
                self.blame(not is_expected(event.reason), f"{event.agent} failed: {event.reason}")
            if isinstance(event, WarningRaised):
                self.blame("has crashed" not in event.text, f"{event.agent}: {event.text}")

    def blame(self, is_wrong: bool, problem: str) -> None:
        if is_wrong:
            self.problems.append(problem)

    # Judging

    async def judge(self) -> None:
        async with self.store(0.0) as store:
            rows = await store.agents()
            logs = {row.agent_id: await records_of(store, row.agent_id) for row in rows}
        accepted = {e.id for log in logs.values() for e in envelopes(log)}
        self.blame(not self.acknowledged <= accepted, f"lost: {self.acknowledged - accepted}")
        for row in rows:
            log = logs[row.agent_id]
            self.problems.extend(f"{row.name}: {problem}" for problem in faults(log))
            if row.parent_id is not None:
                wanted = sorted(reports_due(log))
                told = sorted(e.id for e in envelopes(logs[row.parent_id]) if e.task_id == row.agent_id)
                self.blame(len(wanted) != len(told), f"{row.name}: due {wanted}, told {told}")


def is_expected(error: str) -> bool:
    return (
        error.startswith(("AuthenticationFailed", "StreamBroken", "output_limit")) or "has crashed" in error
    )


async def records_of(store: Store, agent_id: AgentId) -> list[Record]:
    return [stored.record for stored in (await store.load(agent_id)).records]


def folded_from(log: list[Record]) -> AgentFold:
    fold = AgentFold()
    for record in log:
        fold.apply(record)
    return fold


def envelopes(log: list[Record]) -> list[Envelope]:
    return [record.envelope for record in log if isinstance(record, EnvelopeAccepted)]


def faults(log: list[Record]) -> list[str]:
    """What is wrong with a log by itself."""
    fold = folded_from(log)
    problems = [] if fold.turn is None else ["a turn is open at the end"]
    accepted = [e.id for e in envelopes(log)]
    taken = [envelope_id for r in log if isinstance(r, EnvelopesTaken) for envelope_id in r.envelope_ids]
    dropped = [r.envelope_id for r in log if isinstance(r, EnvelopeDropped)]
    fates = Counter((*taken, *dropped, *fold.waiting))
    if len(set(accepted)) < len(accepted):
        problems.append("an envelope was accepted twice")
    if fates != Counter(accepted):
        problems.append(f"fates {fates - Counter(accepted)} too many, {Counter(accepted) - fates} too few")
    messages = [e for e in fold.history if isinstance(e, MessageEntry)]
    if [e.envelope_id for e in messages if e.envelope_id] != taken:
        problems.append("what was taken is not what stands in the history")
    problems.extend(disorder(log, taken))
    problems.extend(unpaired(messages))
    failed = [r.error or "" for r in log if isinstance(r, TurnEnded) and r.stop is TurnStop.FAILED]
    problems.extend(f"a turn failed: {error}" for error in failed if not is_expected(error))
    return problems


def disorder(log: list[Record], taken: list[EnvelopeId]) -> list[str]:
    """Of one sender, a later message stands before an earlier one."""
    by_id = {e.id: e for e in envelopes(log)}
    last: dict[str, int] = {}
    problems = []
    for envelope in map(by_id.__getitem__, taken):
        if envelope.sequence <= last.get(envelope.sender, 0):
            problems.append(f"{envelope.id} of {envelope.sender} came late")
        last[envelope.sender] = envelope.sequence
    return problems


def unpaired(messages: list[MessageEntry]) -> list[str]:
    """Calls without exactly one result right behind their answer, and results without a call."""
    problems = []
    open_ids: list[str] = []
    for entry in messages:
        message = entry.message
        if message.role is Role.TOOL:
            if message.tool_call_id not in open_ids:
                problems.append(f"a result for {message.tool_call_id}, which is not open")
            else:
                open_ids.remove(message.tool_call_id)
        elif open_ids:
            problems.append(f"{open_ids} have no result when {message.role} speaks")
            open_ids = []
        open_ids.extend(made.id for made in message.tool_calls)
    return [*problems, *([f"{open_ids} have no result"] if open_ids else [])]


def reports_due(log: list[Record]) -> set[str]:
    """Turns that a parent has to be told of, once each, and messages of it that died."""
    wanted = {
        e.id
        for e in envelopes(log)
        if e.sender_role is SenderRole.COORDINATOR and e.kind is EnvelopeKind.TELL
    }
    due: set[str] = {r.envelope_id for r in log if isinstance(r, EnvelopeDropped) and r.envelope_id in wanted}
    takers = {
        r.turn_id for r in log if isinstance(r, EnvelopesTaken) and not wanted.isdisjoint(r.envelope_ids)
    }
    for record in log:
        if isinstance(record, TurnEnded) and (record.turn_id in takers or record.stop is TurnStop.LOST):
            due.add(record.turn_id)
    return due


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


async def run(seed: int) -> None:
    memory = MemoryStore()
    await run_program(seed, Program(random.Random(seed), lambda lag_s: CrashingStore(memory, lag_s)))


async def run_program(seed: int, program: Program) -> None:
    for _ in range(N_LIVES - 1):
        await program.live()
    await program.rest()
    await program.judge()
    assert not program.problems, f"seed {seed}: " + "\n".join(program.problems)


@pytest.mark.parametrize("seed", range(75))
async def test_whatever_happens_nothing_is_lost_doubled_or_left_open(seed: int) -> None:
    await run(seed)


@pytest.mark.parametrize("seed", range(2))
def test_nor_with_the_store_on_disk(seed: int, real_backend: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    program = Program(random.Random(seed), lambda _: SqliteStore(path, durability="normal"), pace=0.00005)
    anyio.run(run_program, seed, program, backend=real_backend)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 100))
async def test_thousands_of_programs_lose_double_and_leave_nothing(first: int) -> None:
    for seed in range(first, first + 100):
        await run(seed)
