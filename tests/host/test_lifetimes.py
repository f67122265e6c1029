"""What ends with what: turns, children, sessions and hosts, and who hears of it."""

import asyncio

import anyio
import anyio.lowlevel
import pytest

from actors.agent import Agent
from actors.errors import ActorStopped, BadInput, NotDelivered, TurnCancelled, TurnFailed
from actors.events import TurnFinished, WarningRaised
from actors.history import MessageEntry, Presentation, ResultStatus
from actors.ports import SpawnOrder
from actors.records import AgentState
from actors.tools import builtin_tools, tool
from host.config import Config
from host.errors import HostClosed, SpawnRefused
from host.hub import Subscription
from host.ids import CountingIds
from host.limits import SpawnLimits
from host.permissions import PermissionMode
from host.session import Session
from host.store.memory import MemoryStore
from providers.model import text_of
from providers.scripted import ScriptedProvider, always, call, otherwise, routes, say, wait
from tests.host.hosts import scripted_host
from tests.host.lagging import CrashingStore, LaggingStore

TALKING = [builtin_tools()[name] for name in ("Agent", "SendMessage")]
DOORS = SpawnOrder("doors", "count the doors", name="counter")
IN_BACKGROUND = SpawnOrder("doors", "count the doors", name="counter", is_background=True)


def reports(session: Session) -> list[str]:
    """The notifications that an agent has taken."""
    kinds = (Presentation.TASK_NOTIFICATION, Presentation.TASK_NOTIFICATION_STEER)
    entries = [e for e in session.history if isinstance(e, MessageEntry)]
    return [text_of(e.message.content) for e in entries if e.presentation in kinds]


async def test_stopping_a_child_ends_it_and_those_below_and_nobody_else() -> None:
    provider = ScriptedProvider(always([wait(100), say("Late.")]))
    async with scripted_host(provider) as host:
        chief = await host.start(Agent("chief"))
        await host.spawn(chief, IN_BACKGROUND)
        counter = host.find("counter")
        await host.spawn(counter, SpawnOrder("x", "y", name="helper", is_background=True))
        asked = await chief.post("Are you there?")
        await anyio.sleep(1)
        await counter.stop()
        assert provider.n_open == 1
        assert [s.state for s in host.agents()] == [
            AgentState.RUNNING,
            AgentState.CANCELLED,
            AgentState.CANCELLED,
        ]
        with pytest.raises(ActorStopped, match="was stopped"):
            await host.send(chief, "counter", "Go on.")
        assert (await asked.answered()).text == "Late."
        await anyio.sleep(200)
        assert len(reports(chief)) == 1
        assert "<status>cancelled</status>" in reports(chief)[0]


@pytest.mark.parametrize("lag_s", [0.0, 0.1])
async def test_what_waits_for_a_stopped_child_is_dead_and_its_coordinator_hears(lag_s: float) -> None:
    provider = ScriptedProvider(always([wait(100), say("Late.")]))
    store = LaggingStore(MemoryStore(), lag_s)
    async with scripted_host(provider, store=store) as host, anyio.create_task_group() as tasks:
        chief = await host.start(Agent("chief"))
        tasks.start_soon(host.spawn, chief, DOORS)
        await anyio.sleep(1)
        receipt = await host.send(chief, "counter", "And the cellar?")
        question = await host.find("counter").post("And you?")
        await host.find("counter").stop()
        for waiting in (receipt, question):
            with pytest.raises(NotDelivered, match="is dead: its session was stopped"):
                await waiting.answered()
        await anyio.sleep(500)
        assert len(reports(chief)) == 1


async def test_a_child_and_its_session_can_be_stopped_at_the_same_moment() -> None:
    warnings: list[str] = []

    async def watch(events: Subscription) -> None:
        async for event in events:
            warnings.extend([event.text] if isinstance(event, WarningRaised) else [])

    async def stop_later(session: Session, n_checkpoints: int) -> None:
        for _ in range(n_checkpoints):
            await anyio.lowlevel.checkpoint()
        await session.stop()

    for n_checkpoints in range(12):
        store = LaggingStore(MemoryStore(), 0.1)
        provider = ScriptedProvider([])
        async with anyio.create_task_group() as people, scripted_host(provider, store=store) as host:
            people.start_soon(watch, host.watch())
            chief = await host.start(Agent("chief"))
            with anyio.move_on_after(0.15):  # the child is there, its prompt is taken back: it has not worked
                await host.spawn(chief, DOORS)
            await anyio.sleep(1)
            people.start_soon(stop_later, host.find("counter"), n_checkpoints)
            people.start_soon(chief.stop)
            await anyio.sleep(1)
            assert host.agents() == ()
    assert warnings == []


async def test_a_stream_that_is_over_cancels_no_other_turn() -> None:
    async with scripted_host(ScriptedProvider(always([wait(5), say("Yes.")]))) as host:
        session = await host.start(Agent("main"))
        stream = session.stream("First?")
        async for _ in stream:
            pass
        second = await session.post("Second?")
        await anyio.sleep(1)
        stream.cancel()
        assert (await second.answered()).text == "Yes."


async def test_a_stream_cancelled_before_its_events_were_read_ends_its_turn() -> None:
    async with scripted_host(ScriptedProvider(always([wait(5), say("Yes.")]))) as host:
        session = await host.start(Agent("main"))
        stream = session.stream("First?")
        await anext(stream)
        await anyio.sleep(1)
        stream.cancel()
        events = [event async for event in stream]
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].stop == "cancelled"


@pytest.mark.parametrize("lag_s", [0.0, 0.2, 0.6])
async def test_a_child_whose_spawn_was_cancelled_never_works_on(lag_s: float) -> None:
    provider = ScriptedProvider(always([wait(10), say("Seven.")]))
    for tenths in range(12):
        async with scripted_host(provider, store=LaggingStore(MemoryStore(), lag_s)) as host:
            chief = await host.start(Agent("chief"))
            with anyio.move_on_after(tenths / 10):
                await host.spawn(chief, DOORS)
            await anyio.sleep(2)
            assert provider.n_open == 0
            assert {s.state for s in host.agents()} <= {AgentState.IDLE, AgentState.CANCELLED}
            assert chief.state is AgentState.IDLE


@pytest.mark.parametrize("asks_again", [False, True])
async def test_a_background_child_whose_host_ended_is_reported_once_by_the_next(asks_again: bool) -> None:
    store, ids = MemoryStore(), CountingIds()
    provider = ScriptedProvider(always([wait(60), say("Seven.")]))
    async with scripted_host(provider, store=store, ids=ids) as host:
        chief = await host.start(Agent("chief"))
        await host.spawn(chief, IN_BACKGROUND)
        await anyio.sleep(1)
    for _ in range(3):
        async with scripted_host(ScriptedProvider(always("I see.")), store=store, ids=ids) as host:
            again = await host.resume(chief.id)
            await anyio.sleep(5)
            if asks_again:
                await again.ask("Well?")
            assert len(reports(again)) == 1
            assert "doors: cancelled" in reports(again)[0]


async def test_a_background_child_that_has_not_begun_works_and_reports_after_a_restart() -> None:
    store, ids = MemoryStore(), CountingIds()
    provider = ScriptedProvider(always([wait(60), say("Seven.")]))
    async with scripted_host(provider, store=store, ids=ids) as host:
        chief = await host.start(Agent("chief"))
        await host.spawn(chief, IN_BACKGROUND)
    async with scripted_host(ScriptedProvider(always("Seven.")), store=store, ids=ids) as host:
        again = await host.resume(chief.id)
        await anyio.sleep(60)
        assert len(reports(again)) == 1
        assert "doors: completed" in reports(again)[0]


async def test_a_session_comes_back_though_another_agent_has_its_childs_name() -> None:
    store, ids = MemoryStore(), CountingIds()
    async with scripted_host(ScriptedProvider(always("Seven.")), store=store, ids=ids) as host:
        chief = await host.start(Agent("chief"))
        await host.spawn(chief, DOORS)
    async with scripted_host(ScriptedProvider(always("Fine.")), store=store, ids=ids) as host:
        other = await host.start(Agent("other"))
        await host.spawn(other, DOORS)
        again = await host.resume(chief.id)
        assert [s.name for s in host.agents()] == ["other", "counter", "chief", "counter-2"]
        receipt = await host.send(again, "counter", "And the cellar?")
        assert receipt.envelope.recipient == "counter-2"
        assert (await receipt.answered()).text == "Fine."


async def test_stopped_sessions_free_their_names_and_refuse_to_be_used() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main"))
        await host.spawn(session, DOORS)
        await session.stop()
        await session.stop()
        for use in (session.ask("There?"), session.tell("There?"), anext(session.stream("There?"))):
            with pytest.raises(ActorStopped, match="its session was stopped"):
                await use
        again = await host.resume(session.id)
        assert await again.ask("There?") == "Yes."
        assert [s.name for s in host.agents()] == ["main", "counter"]


async def test_an_agent_cannot_wait_for_itself_from_inside_its_own_turn() -> None:
    sessions: list[Session] = []

    @tool
    async def ask_myself() -> str:
        """Asks the agent itself."""
        return await sessions[0].ask("Who am I?")

    @tool
    async def stop_myself() -> str:
        """Stops the agent itself."""
        await sessions[0].stop()
        return "stopped"

    provider = ScriptedProvider([[call("ask_myself"), call("stop_myself")], "I cannot.", "Fine."])
    async with scripted_host(provider) as host:
        sessions.append(await host.start(Agent("main", tools=[ask_myself, stop_myself])))
        assert await sessions[0].ask("Try.") == "I cannot."
        results = [e for e in sessions[0].history if isinstance(e, MessageEntry) and e.status]
        assert [e.status for e in results] == [ResultStatus.ERROR, ResultStatus.ERROR]
        assert all("wait for itself" in text_of(e.message.content) for e in results)
        assert await sessions[0].ask("And now?") == "Fine."


async def test_a_tool_may_ask_another_agent() -> None:
    sessions: list[Session] = []

    @tool
    async def ask_two() -> str:
        """Asks the other one."""
        return await sessions[1].ask("What is it?")

    provider = ScriptedProvider(
        routes(("You are two.", ["It is blue."]), (otherwise, [[call("ask_two")], "So."]))
    )
    async with scripted_host(provider) as host:
        sessions.append(await host.start(Agent("one", tools=[ask_two])))
        sessions.append(await host.start(Agent("two", instructions="You are two.")))
        assert await sessions[0].ask("Try.") == "So."


async def test_an_agent_that_cannot_be_leaves_nothing_behind() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        with pytest.raises(BadInput):
            await host.start_actor(Agent("main", instructions="a", system_prompt="b"))
        with pytest.raises(BadInput, match="no permission mode 'lenient'; there are: plan, default"):
            await host.start(Agent("main", permission_mode="lenient"))
        assert await host.sessions() == ()
        await host.start(Agent("main"))


async def test_a_narrower_mode_holds_below_at_once_and_a_wider_one_never() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        chief = await host.start(Agent("chief", permission_mode=PermissionMode.BYPASS))
        await host.spawn(chief, DOORS)
        counter = host.find("counter")
        assert counter.mode is PermissionMode.BYPASS
        host.set_mode(chief, PermissionMode.PLAN)
        assert host.mode_of(counter) is PermissionMode.PLAN
        host.set_mode(counter, PermissionMode.BYPASS)
        assert host.mode_of(counter) is PermissionMode.PLAN


@pytest.mark.parametrize("limits", [SpawnLimits(at_work=2), SpawnLimits(in_all=2)])
async def test_spawns_at_the_same_moment_do_not_pass_a_limit_together(limits: SpawnLimits) -> None:
    provider = ScriptedProvider(always([wait(10), say("Seven.")]))
    config = Config(store="unused", spawn=limits)
    refused: list[str] = []
    async with scripted_host(provider, store=LaggingStore(MemoryStore(), 0.1), config=config) as host:
        chief = await host.start(Agent("chief"))

        async def spawn() -> None:
            try:
                await host.spawn(chief, SpawnOrder("x", "y", is_background=True))
            except SpawnRefused as error:
                refused.append(str(error))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(spawn)
        assert len(host.agents()) == 3
    assert len(refused) == 3


async def test_two_children_keep_their_parent_waiting_until_the_last_is_done() -> None:
    provider = ScriptedProvider(
        routes(
            ("quick", [[wait(1), say("Quick.")]]),
            ("slow", [[wait(9), say("Slow.")]]),
            (
                otherwise,
                [
                    [
                        call("Agent", {"description": "a", "prompt": "quick"}),
                        call("Agent", {"description": "b", "prompt": "slow"}),
                    ],
                    [wait(1), say("Both.")],
                ],
            ),
        )
    )
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        chief = await host.start(Agent("chief", tools=TALKING))
        tasks.start_soon(chief.ask, "Begin.")
        states = []
        for _ in range(3):
            await anyio.sleep(4.6)
            states.append(chief.state)
    assert states == [AgentState.WAITING, AgentState.RUNNING, AgentState.IDLE]


@pytest.mark.parametrize("text", ["\ud800 doors", "\U0001f6aa" * 60_000, "<&" * 90_000])
async def test_no_text_of_a_child_is_too_odd_to_be_reported(text: str) -> None:
    provider = ScriptedProvider(
        routes(("count the doors", [[wait(1), say(text)]]), (otherwise, always("Ah.")))
    )
    async with scripted_host(provider) as host:
        chief = await host.start(Agent("chief"))
        await host.spawn(chief, SpawnOrder(text, "count the doors", is_background=True))
        await anyio.sleep(10)
        assert len(reports(chief)) == 1
        assert chief.fold.last_turn is not None
        assert chief.fold.last_turn.text == "Ah."


class Trouble(Exception):
    """What a program raises in its block."""


async def test_an_error_of_the_block_comes_out_bare_and_askers_hear_of_the_end() -> None:
    heard: list[BaseException] = []

    async def ask(session: Session) -> None:
        try:
            await session.ask("Are you there?")
        except (TurnFailed, ActorStopped) as error:
            heard.append(error)

    async with anyio.create_task_group() as people:
        with pytest.raises(Trouble):  # noqa: PT012 - the block raises
            async with scripted_host(ScriptedProvider(always([wait(100), say("Late.")]))) as host:
                session = await host.start(Agent("main"))
                people.start_soon(ask, session)
                people.start_soon(ask, session)
                await anyio.sleep(1)
                raise Trouble
    assert {type(error) for error in heard} == {TurnCancelled, ActorStopped}
    with pytest.raises(HostClosed):
        await host.start(Agent("late"))


async def test_an_outer_cancellation_ends_the_host_and_stays_inside_its_scope() -> None:
    provider = ScriptedProvider(always([wait(100), say("Late.")]))
    store = MemoryStore()
    with anyio.move_on_after(3) as scope:
        async with scripted_host(provider, store=LaggingStore(store, 0.5)) as host:
            session = await host.start(Agent("main"))
            await session.ask("Are you there?")
    assert scope.cancelled_caught
    assert provider.n_open == 0
    await anyio.sleep(1)
    async with scripted_host(ScriptedProvider(always("Yes.")), store=store) as host:
        again = await host.resume(session.id)
        assert again.fold.turn is None
        assert not again.was_cut_off


def test_a_native_timeout_of_asyncio_ends_the_host_too() -> None:
    async def main() -> None:
        provider = ScriptedProvider(always([wait(100), say("Late.")]))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), scripted_host(provider) as host:
                await (await host.start(Agent("main"))).ask("Are you there?")
        assert provider.n_open == 0
        await asyncio.sleep(0)

    asyncio.run(main())


async def test_a_start_that_the_end_of_the_host_overtakes_is_refused() -> None:
    refused: list[BaseException] = []
    memory = MemoryStore()

    async def start() -> None:
        try:
            await host.start(Agent("late"))
        except HostClosed as error:
            refused.append(error)

    async with memory, anyio.create_task_group() as people:
        async with scripted_host(ScriptedProvider([]), store=LaggingStore(memory, 0.5)) as host:
            session = await host.start(Agent("main"))
            await session.tell("There?")
            people.start_soon(start)
            await anyio.sleep(0.4)
        await anyio.sleep(1)
        assert len(refused) == 1
        for row in await memory.agents():
            await (await memory.lease(row.agent_id)).release()


async def test_when_the_store_fails_in_a_turn_everybody_hears_and_the_host_goes_on() -> None:
    provider = ScriptedProvider(always([wait(5), say("Yes.")]))
    heard: list[BaseException] = []

    async def ask(session: Session) -> None:
        try:
            await session.ask("Are you there?")
        except (TurnFailed, ActorStopped, NotDelivered) as error:
            heard.append(error)

    async def follow(session: Session) -> None:
        try:
            async for _ in session.stream("Are you there?"):
                pass
        except (ActorStopped, NotDelivered) as error:
            heard.append(error)

    store = CrashingStore(MemoryStore(), 0.1)
    async with anyio.create_task_group() as people, scripted_host(provider, store=store) as host:
        session = await host.start(Agent("main"))
        for who in (ask, ask, follow, follow):
            people.start_soon(who, session)
        await anyio.sleep(2)
        store.crash()
        people.start_soon(ask, session)
        await anyio.sleep(20)
        assert len(heard) == 5
        assert session.state is AgentState.FAILED
        with pytest.raises(ActorStopped, match="the store takes no more records"):
            await session.ask("Still there?")
