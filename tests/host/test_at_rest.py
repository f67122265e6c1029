"""Sessions that are resumed to be looked at or taken back: nothing of them begins by itself."""

import anyio

from actors import builtin_tools
from actors.agent import Agent
from actors.history import MessageEntry
from actors.ports import SpawnOrder
from actors.records import AgentState
from host.host import Host
from host.session import Session
from providers.model import text_of
from providers.scripted import ScriptedProvider, always, call, otherwise, routes, say, wait
from tests.host.test_cut_off import Person, Shed, World


def said(session: Session) -> list[str]:
    return [text_of(e.message.content) for e in session.history if isinstance(e, MessageEntry)]


async def _cut_off_with_mail(world: World) -> str:
    """A session killed in its second turn, with a message that waits behind it."""
    provider = ScriptedProvider(["One.", [say("Tw"), wait(1000)]])
    async with world.life(provider, is_killed=True) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        await session.post("Second.")
        await anyio.sleep(5)
        await session.tell("Third.")
    return session.id


async def test_what_waits_begins_no_turn_and_is_still_there_behind_a_rewind() -> None:
    world = World()
    session_id = await _cut_off_with_mail(world)
    silent = ScriptedProvider([])
    async with world.life(silent) as host:
        session = await host.resume(session_id, at_rest=True)
        await anyio.sleep(600)
        report = await session.rewind()
        await anyio.sleep(600)
        assert (report.text, said(session)) == ("Second.", ["First.", "One."])
    assert silent.requests == ()
    async with world.life(ScriptedProvider(["Three."])) as host:
        session = await host.resume(session_id)
        await anyio.sleep(1)
        assert said(session) == ["First.", "One.", "Third.", "Three."]


async def test_told_to_go_on_it_takes_what_waits() -> None:
    world = World()
    session_id = await _cut_off_with_mail(world)
    async with world.life(ScriptedProvider(["Three."])) as host:
        session = await host.resume(session_id, at_rest=True)
        session.go_on()
        session.go_on()
        await anyio.sleep(1)
        assert said(session)[-1] == "Three."
        await session.rewind()
        assert said(session)[-1] != "Three."


async def test_no_question_is_asked_again() -> None:
    world, shed, person = World(), Shed(), Person()
    session_id = await world.cut_off(shed, [say("I burn it."), call("burn", {"what": "x"})])
    async with world.life(ScriptedProvider([]), person=person) as host:
        await host.resume(session_id, tools=shed.tools(), at_rest=True)
        await anyio.sleep(600)
    assert (person.asked, shed.done) == ([], [])


async def test_an_agent_whose_type_restarts_waits_too() -> None:
    world = World()
    provider = ScriptedProvider(
        routes(("count the doors", always([wait(1000)])), (otherwise, always("Yes.")))
    )

    async def begin(host: Host) -> str:
        session = await host.start(Agent("main", tools=list(builtin_tools().values())))
        order = SpawnOrder("doors", "count the doors", type="explore", is_background=True)
        await host.spawn(session, order)
        await anyio.sleep(5)
        return session.id

    async with world.life(provider, is_killed=True) as host:
        session_id = await begin(host)
    again = ScriptedProvider(routes(("count the doors", always("Seven.")), (otherwise, always("I see."))))
    async with world.life(again) as host:
        session = await host.resume(session_id, tools=list(builtin_tools().values()), at_rest=True)
        await anyio.sleep(600)
        assert again.requests == ()
        session.go_on()
        await anyio.sleep(600)
        assert again.requests
        assert all(agent.state in (AgentState.IDLE, AgentState.COMPLETED) for agent in host.agents())
