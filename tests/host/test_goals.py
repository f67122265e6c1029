"""Goals of a session: the model is told of each move, and they outlive turns, rewinds and hosts."""

import anyio
import pytest

from actors.agent import Agent
from actors.errors import ActorStopped, BadInput
from actors.history import ReminderEntry
from actors.state import Goal, folded
from host.ids import CountingIds
from host.session import Session
from host.store.memory import MemoryStore
from providers.model import text_of
from providers.scripted import ScriptedProvider, always, say, wait
from tests.host.hosts import scripted_host


def told(session: Session) -> list[tuple[str, str]]:
    reminders = [e for e in session.history if isinstance(e, ReminderEntry)]
    return [(e.source, e.body) for e in reminders if "goal" in e.source]


async def test_the_model_is_told_of_a_goal_and_of_what_a_person_does_with_it() -> None:
    provider = ScriptedProvider(always("Yes."))
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        await session.set_goal("All tests pass.")
        assert session.goal == Goal("All tests pass.")
        await session.ask("Go.")
        assert any("All tests pass." in text_of(m.content) for m in provider.requests[0].messages)
        await session.pause_goal()
        assert session.goal == Goal("All tests pass.", is_paused=True)
        await session.resume_goal()
        await session.clear_goal()
        assert session.goal is None
        words = ("set a goal", "paused the goal", "resumed the goal", "taken back the goal")
        for wanted, (_, body) in zip(words, told(session), strict=True):
            assert wanted in body
        assert {source for source, _ in told(session)} == {"goal_state_change"}


async def test_a_move_in_a_turn_is_told_behind_it() -> None:
    async with scripted_host(ScriptedProvider([[wait(60), say("One.")], "Two."])) as host:
        session = await host.start(Agent("main"))
        receipt = await session.post("First.")
        await anyio.sleep(5)
        await session.set_goal("All tests pass.")
        assert session.goal == Goal("All tests pass.")
        assert told(session) == []
        await receipt.answered()
        await session.ask("Second.")
        assert [source for source, _ in told(session)] == ["goal_state_change"]
        assert session.turns[1].first_entry == 3


async def test_a_resumed_session_has_its_goal_and_its_model_is_told_once() -> None:
    store, ids = MemoryStore(), CountingIds()
    async with scripted_host(ScriptedProvider(always("Yes.")), store=store, ids=ids) as host:
        session = await host.start(Agent("main"))
        await session.ask("Go.")
        await session.set_goal("All tests pass.")
        for n_resumed in range(3):
            await session.stop()
            session = await host.resume(session.id)
            await anyio.sleep(1)
            assert session.goal == Goal("All tests pass.")
            again = [body for source, body in told(session) if source == "resume_goal_state"]
            assert len(again) == 1, n_resumed
            assert "All tests pass." in again[0]
        log = await store.load(session.id)
        assert folded(stored.record for stored in log.records) == session.fold


async def test_without_a_goal_a_resumed_model_is_told_of_none() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main"))
        await session.set_goal("All tests pass.")
        await session.clear_goal()
        await session.stop()
        session = await host.resume(session.id)
        await session.ask("Go.")
        assert "resume_goal_state" not in [source for source, _ in told(session)]


@pytest.mark.parametrize("is_cleared", [False, True])
async def test_behind_a_rewind_the_model_knows_the_goal_that_there_is(is_cleared: bool) -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main"))
        if is_cleared:
            await session.set_goal("All tests pass.")
        await session.ask("First.")
        await (session.clear_goal() if is_cleared else session.set_goal("All tests pass."))
        await session.ask("Second.")
        await session.rewind(session.turns[0].turn_id)
        assert (session.goal is None) is is_cleared
        source, body = told(session)[-1]
        assert source == "resume_goal_state"
        assert ("has no goal" in body) is is_cleared
        assert ("All tests pass." in body) is not is_cleared


async def test_a_fork_has_the_goal_that_its_history_knows_of() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        await session.ask("Second.")
        await session.set_goal("All tests pass.")
        await session.ask("Third.")
        await session.pause_goal()
        before, behind = await host.fork(session, after=session.turns[0].turn_id), await host.fork(session)
        assert before.goal is None
        assert behind.goal == Goal("All tests pass.", is_paused=True)


async def test_what_makes_no_sense_is_refused() -> None:
    async with scripted_host(ScriptedProvider([])) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(BadInput, match="needs some text"):
            await session.set_goal(" \n")
        for move in (session.pause_goal, session.resume_goal, session.clear_goal):
            with pytest.raises(BadInput, match="main has no goal"):
                await move()


async def test_a_session_that_was_stopped_takes_no_goal() -> None:
    async with scripted_host(ScriptedProvider([])) as host:
        session = await host.start(Agent("main"))
        await session.stop()
        with pytest.raises(ActorStopped):
            await session.set_goal("All tests pass.")
