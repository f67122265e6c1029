"""Turns that a killed host left open: what goes on by itself, and what is lost."""

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from actors.agent import Agent
from actors.history import MessageEntry, ResultStatus
from actors.permission import PermissionClass
from actors.ports import Ids, SpawnOrder
from actors.records import AgentState, EnvelopeAccepted, TurnEnded, TurnStop
from actors.state import folded
from actors.tools import Tool, tool
from host.host import Host
from host.ids import CountingIds
from host.permissions import HumanAnswer, OpenQuestion
from host.recovery import MAX_RESTARTS
from host.session import Session
from host.store.memory import MemoryStore
from providers.model import Role, text_of
from providers.scripted import Answer, ScriptedProvider, always, call, otherwise, routes, say, wait
from tests.host.hosts import scripted_host
from tests.host.lagging import CrashingStore


@dataclass
class Person:
    """Answers every question after so many seconds, and remembers what it was asked."""

    is_kind: bool = True
    after_s: float = 0.0
    asked: list[str] = field(default_factory=list)

    async def ask(self, question: OpenQuestion) -> HumanAnswer:
        self.asked.append(question.question.tool)
        await anyio.sleep(self.after_s)
        return HumanAnswer(self.is_kind, reason="not now")


@dataclass
class Shed:
    """Tools with effects that can be counted."""

    done: list[str] = field(default_factory=list)

    def tools(self) -> list[Tool]:
        @tool(permission=PermissionClass.EXECUTE)
        async def burn(what: str) -> str:
            """Burns something, which nobody may do unasked."""
            self.done.append(what)
            return f"burnt {what}"

        @tool(permission=PermissionClass.EXECUTE)
        async def smoulder() -> str:
            """Burns something slowly."""
            await anyio.sleep(100)
            return "burnt"

        @tool
        async def sweep() -> str:
            """Sweeps."""
            self.done.append("swept")
            return "clean"

        return [burn, smoulder, sweep]


@dataclass
class World:
    """One store, and hosts that live on it one after the other; each life can end by a kill."""

    memory: MemoryStore = field(default_factory=MemoryStore)
    ids: Ids = field(default_factory=CountingIds)

    @asynccontextmanager
    async def life(
        self, provider: ScriptedProvider, *, person: Person | None = None, is_killed: bool = False
    ) -> AsyncIterator[Host]:
        store = CrashingStore(self.memory, 0.0)
        async with scripted_host(provider, store=store, ids=self.ids) as host:
            with contextlib.nullcontext() if person is None else host.attach(person):
                yield host
                if is_killed:
                    await anyio.sleep(1)
                    store.crash()

    async def cut_off(self, shed: Shed, answer: Answer) -> str:
        """A session that a kill found 20 s into its first turn, a person being asked and not answering."""
        provider = ScriptedProvider([answer])
        async with self.life(provider, person=Person(after_s=1000), is_killed=True) as host:
            session = await host.start(Agent("main", tools=shed.tools()))
            await session.post("Clear the shed.")
            await anyio.sleep(20)
        return session.id


def results(session: Session) -> list[tuple[ResultStatus | None, str]]:
    return [
        (entry.status, text_of(entry.message.content))
        for entry in session.history
        if isinstance(entry, MessageEntry) and entry.message.role is Role.TOOL
    ]


async def test_a_question_that_was_open_is_asked_again_and_its_turn_goes_on() -> None:
    world, shed, person = World(), Shed(), Person(after_s=5)
    session_id = await world.cut_off(shed, [say("I burn it."), call("burn", {"what": "x"})])
    provider = ScriptedProvider(["Burnt."])
    async with world.life(provider) as host:
        with host.attach(person):
            session = await host.resume(session_id, tools=shed.tools())
            assert not session.was_cut_off
            await anyio.sleep(1)
            assert session.state is AgentState.WAITING
            assert shed.done == []
            await anyio.sleep(10)
        assert person.asked == ["burn"]
        assert shed.done == ["x"]
        last = session.fold.last_turn
        assert last is not None
        assert (last.stop, last.text, last.n_steps) == (TurnStop.DONE, "Burnt.", 2)
        assert [mark.turn_id for mark in session.turns] == [last.turn_id]
        assert results(session) == [(ResultStatus.OK, "burnt x")]
        log = await world.memory.load(session.id)
        assert folded(stored.record for stored in log.records) == session.fold


async def test_the_turn_that_goes_on_counts_what_it_had_used_before() -> None:
    world, shed = World(), Shed()
    session_id = await world.cut_off(shed, [call("burn", {"what": "x"})])
    async with world.life(ScriptedProvider(["Burnt."])) as host:
        with host.attach(Person()):
            session = await host.resume(session_id, tools=shed.tools())
            await anyio.sleep(10)
        answers = [e.usage for e in session.history if isinstance(e, MessageEntry) and e.usage is not None]
        assert len(answers) == 2
        assert session.spent == answers[0] + answers[1]


async def test_a_no_goes_to_the_model_and_nothing_was_run() -> None:
    world, shed = World(), Shed()
    session_id = await world.cut_off(shed, [call("burn", {"what": "x"})])
    async with world.life(ScriptedProvider(["Then not."])) as host:
        with host.attach(Person(is_kind=False)):
            session = await host.resume(session_id, tools=shed.tools())
            await anyio.sleep(10)
        ((status, text),) = results(session)
        assert status is ResultStatus.DENIED
        assert "not now" in text
        assert shed.done == []


async def test_a_call_before_the_question_that_had_begun_is_not_run_again() -> None:
    world, shed = World(), Shed()
    session_id = await world.cut_off(shed, [call("sweep", {}), call("burn", {"what": "x"})])
    async with world.life(ScriptedProvider(["Done."])) as host:
        with host.attach(Person()):
            session = await host.resume(session_id, tools=shed.tools())
            await anyio.sleep(10)
        (swept, text), burnt = results(session)
        assert swept is ResultStatus.INTERRUPTED
        assert "may have had effects" in text
        assert burnt == (ResultStatus.OK, "burnt x")
        assert shed.done == ["swept", "x"]


async def test_where_nobody_can_be_asked_the_turn_is_lost_and_the_model_reads_that_nothing_was_run() -> None:
    world, shed = World(), Shed()
    session_id = await world.cut_off(shed, [call("burn", {"what": "x"})])
    async with world.life(ScriptedProvider(["I see."])) as host:
        session = await host.resume(session_id, tools=shed.tools())
        await anyio.sleep(10)
        assert session.was_cut_off
        ((status, text),) = results(session)
        assert status is ResultStatus.NOT_STARTED
        assert "while a person was being asked" in text
        assert shed.done == []
        assert await session.ask("And now?") == "I see."


async def test_a_program_can_say_that_a_person_will_be_there() -> None:
    world, shed = World(), Shed()
    session_id = await world.cut_off(shed, [call("burn", {"what": "x"})])
    async with world.life(ScriptedProvider(["Burnt."])) as host:
        session = await host.resume(session_id, tools=shed.tools(), asks_again=True)
        with host.attach(Person(), session):
            await anyio.sleep(10)
        assert shed.done == ["x"]


async def test_a_message_that_came_before_the_kill_is_taken_behind_the_call_that_goes_on() -> None:
    world, shed = World(), Shed()
    provider = ScriptedProvider([[call("burn", {"what": "x"})]])
    async with world.life(provider, person=Person(after_s=1000), is_killed=True) as host:
        session = await host.start(Agent("main", tools=shed.tools()))
        await session.post("Clear the shed.")
        await anyio.sleep(20)
        await session.tell("Mind the cat.")
    provider = ScriptedProvider(["Burnt, the cat is well."])
    async with world.life(provider) as host:
        with host.attach(Person()):
            again = await host.resume(session.id, tools=shed.tools())
            await anyio.sleep(10)
        assert again.fold.n_turns == 1
        assert "Mind the cat." in text_of(provider.requests[0].messages[-1].content)


async def test_if_its_model_is_gone_the_turn_fails_and_its_calls_are_closed() -> None:
    world, shed = World(), Shed()
    session_id = await world.cut_off(shed, [call("burn", {"what": "x"})])
    other = ScriptedProvider(["Yes."], name="other")
    async with world.life(other) as host:
        with host.attach(Person()):
            session = await host.resume(session_id, tools=shed.tools())
            await anyio.sleep(10)
        assert session.fold.last_turn is not None
        assert session.fold.last_turn.stop is TurnStop.FAILED
        assert [status for status, _ in results(session)] == [ResultStatus.NOT_STARTED]
        assert shed.done == []


async def test_a_turn_that_goes_on_can_be_cancelled_while_the_person_is_asked() -> None:
    world, shed = World(), Shed()
    session_id = await world.cut_off(shed, [call("sweep", {}), call("burn", {"what": "x"})])
    async with world.life(ScriptedProvider(["Yes."])) as host:
        with host.attach(Person(after_s=1000)):
            session = await host.resume(session_id, tools=shed.tools())
            await anyio.sleep(10)
            session.cancel()
            assert await session.ask("What now?") == "Yes."
        (swept, _), _ = results(session)
        assert swept is ResultStatus.INTERRUPTED
        assert shed.done == ["swept"]


async def test_a_question_that_was_settled_is_not_open_any_more() -> None:
    world, shed = World(), Shed()
    provider = ScriptedProvider([[call("smoulder", {})]])
    async with world.life(provider, person=Person(), is_killed=True) as host:
        session = await host.start(Agent("main", tools=shed.tools()))
        await session.post("Clear the shed.")
        await anyio.sleep(20)
    async with world.life(ScriptedProvider([])) as host:
        with host.attach(Person()):
            again = await host.resume(session.id, tools=shed.tools())
            assert again.was_cut_off
            await anyio.sleep(1)
            assert [status for status, _ in results(again)] == [ResultStatus.INTERRUPTED]


# --- agents that start again


def explorer(is_background: bool = True) -> SpawnOrder:
    return SpawnOrder("doors", "count the doors", type="explore", name="counter", is_background=is_background)


async def kill_at_work(world: World, order: SpawnOrder, at_s: float = 20) -> str:
    provider = ScriptedProvider(
        routes(("count the doors", always([wait(50), say("Late.")])), (otherwise, []))
    )
    async with world.life(provider, is_killed=True) as host:
        session = await host.start(Agent("main"))
        await host.spawn(session, order)
        await anyio.sleep(at_s)
    return session.id


async def test_an_agent_whose_type_restarts_finishes_its_task_and_reports_once() -> None:
    world = World()
    session_id = await kill_at_work(world, explorer())
    provider = ScriptedProvider(routes(("count the doors", ["Seven."]), (otherwise, always("I see."))))
    async with world.life(provider) as host:
        session = await host.resume(session_id)
        await anyio.sleep(60)
        child = host.find("counter")
        assert child.state is AgentState.COMPLETED
        assert [mark.ended.stop for mark in child.turns if mark.ended] == [TurnStop.LOST, TurnStop.DONE]
        told = [e for e in session.history if e.presentation == "task_notification"]
        assert len(told) == 1
        assert isinstance(told[0], MessageEntry)
        assert "Seven." in text_of(told[0].message.content)
        assert "lost" not in text_of(told[0].message.content)


async def test_one_whose_type_does_not_is_lost_and_its_parent_is_told() -> None:
    world = World()
    order = SpawnOrder("doors", "count the doors", name="counter", is_background=True)
    session_id = await kill_at_work(world, order)
    async with world.life(ScriptedProvider(routes((otherwise, always("I see."))))) as host:
        session = await host.resume(session_id)
        await anyio.sleep(60)
        assert host.find("counter").state is AgentState.LOST
        told = [e for e in session.history if e.presentation == "task_notification"]
        assert len(told) == 1
        assert isinstance(told[0], MessageEntry)
        assert "lost" in text_of(told[0].message.content)


async def test_an_agent_that_is_lost_again_and_again_is_given_up_and_that_is_told_once() -> None:
    world = World()
    session_id = await kill_at_work(world, explorer())
    n_lives = 0
    child_id = ""
    while n_lives <= MAX_RESTARTS + 1:
        n_lives += 1
        provider = ScriptedProvider(
            routes(("count the doors", always([wait(50), say("Late.")])), (otherwise, always("I see.")))
        )
        async with world.life(provider, is_killed=True) as host:
            session = await host.resume(session_id)
            child = host.find("counter")
            child_id = child.id
            await anyio.sleep(10)
            if child.state is AgentState.LOST:
                break
    assert n_lives == MAX_RESTARTS + 1
    async with world.memory as store:
        log = [stored.record for stored in (await store.load(child.id)).records]
        lost = [record for record in log if isinstance(record, TurnEnded) and record.stop is TurnStop.LOST]
        assert len(lost) == MAX_RESTARTS + 1
        mothers = [stored.record for stored in (await store.load(session.id)).records]
        told = [r for r in mothers if isinstance(r, EnvelopeAccepted) and r.envelope.task_id == child_id]
        assert len(told) == 1
