"""Sessions that begin with a copy of another one."""

import anyio
import pytest

from actors.agent import Agent
from actors.errors import BadInput
from actors.history import MessageEntry, ReminderEntry
from actors.ports import SpawnOrder
from actors.state import folded
from actors.tools import tool
from host.errors import NameTaken, UnknownSession
from host.ids import CountingIds
from host.permissions import PermissionMode
from host.session import Session
from host.store.memory import MemoryStore
from providers.model import Role, text_of
from providers.scripted import ScriptedProvider, always, call, say, think, wait
from tests.host.hosts import scripted_host
from tests.host.lagging import LaggingStore
from tests.host.stepping import cancelled_after


@tool(is_read_only=True)
async def look() -> str:
    """Looks."""
    return "seen"


def said(session: Session) -> list[str]:
    return [text_of(e.message.content) for e in session.history if isinstance(e, MessageEntry)]


async def test_a_fork_holds_what_was_said_up_to_the_end_of_a_turn_and_a_notice() -> None:
    async with scripted_host(ScriptedProvider(["One.", "Two.", "Three."])) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        first = session.turns[0].turn_id
        await session.ask("Second.")
        fork = await host.fork(session, after=first)
        assert said(fork) == ["First.", "One."]
        notice = fork.history[-1]
        assert isinstance(notice, ReminderEntry)
        assert notice.source == "conversation_fork"
        assert "main's" in notice.body
        assert said(session) == ["First.", "One.", "Second.", "Two."]


async def test_without_a_turn_it_copies_up_to_the_last_finished_one() -> None:
    provider = ScriptedProvider(["One.", [wait(60), say("Two.")]])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        await session.post("Second.")
        await anyio.sleep(5)
        fork = await host.fork(session)
        assert said(fork) == ["First.", "One."]
        assert session.state.value == "running"


async def test_both_go_on_by_themselves() -> None:
    provider = ScriptedProvider(["One.", "In the fork.", "In the first."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        fork = await host.fork(session)
        assert fork.name == "main-2"
        assert await fork.ask("Go on.") == "In the fork."
        assert await session.ask("And you?") == "In the first."
        assert "In the fork." not in said(session)
        assert "And you?" not in said(fork)


async def test_the_fork_sends_the_same_up_to_the_cut_so_that_cache_and_thinking_stay() -> None:
    provider = ScriptedProvider([[think("hm", "sig"), call("look", {})], "One.", "Fork.", "Live."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[look]))
        await session.ask("First.")
        fork = await host.fork(session)
        await fork.ask("Next.")
        await session.ask("Next.")
    of_fork, of_session = provider.requests[-2].messages, provider.requests[-1].messages
    n_common = len(provider.requests[1].messages) + 1
    assert of_fork[:n_common] == of_session[:n_common]
    assert of_fork[n_common:] != of_session[n_common:]


async def test_entries_and_turns_get_fresh_ids_and_calls_keep_theirs() -> None:
    provider = ScriptedProvider([[call("look", {})], "One."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[look]))
        await session.ask("First.")
        fork = await host.fork(session)
        assert not {e.id for e in fork.history} & {e.id for e in session.history}
        assert not {t.turn_id for t in fork.turns} & {t.turn_id for t in session.turns}
        results = [
            [
                e.message.tool_call_id
                for e in s.history
                if isinstance(e, MessageEntry) and e.message.role is Role.TOOL
            ]
            for s in (fork, session)
        ]
        assert results[0] == results[1] != []


async def test_what_belongs_to_a_process_stays_behind_and_so_does_what_was_spent() -> None:
    provider = ScriptedProvider(always("One."))
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        host.set_mode(session, PermissionMode.PLAN)
        await session.ask("First.")
        assert any(e.source == "runtime_mode" for e in session.history)
        fork = await host.fork(session)
        assert not any(e.source == "runtime_mode" for e in fork.history)
        assert session.spent.output_tokens > 0
        assert fork.spent.output_tokens == 0
        assert fork.mode is PermissionMode.PLAN


async def test_a_fork_can_be_resumed_and_its_log_says_where_it_comes_from() -> None:
    store, ids = MemoryStore(), CountingIds()
    async with scripted_host(ScriptedProvider(["One."]), store=store, ids=ids) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        fork = await host.fork(session)
        source = fork.fold.opened.forked_from if fork.fold.opened else None
        assert source is not None
        assert (source.agent_id, source.turn_id) == (session.id, session.turns[-1].turn_id)
        log = await store.load(fork.id)
        assert folded(stored.record for stored in log.records) == fork.fold
        fork_id = fork.id
    async with scripted_host(ScriptedProvider(["Two."]), store=store, ids=ids) as host:
        fork = await host.resume(fork_id)
        assert await fork.ask("Go on.") == "Two."
        assert said(fork) == ["First.", "One.", "Go on.", "Two."]


async def test_a_fork_is_listed_under_what_its_first_message_says() -> None:
    async with scripted_host(ScriptedProvider(["One."])) as host:
        session = await host.start(Agent("main"))
        await session.ask("Count the doors.")
        await host.fork(session)
        assert [row.title for row in await host.sessions()] == ["Count the doors."] * 2


async def test_a_stored_session_is_forked_without_being_resumed() -> None:
    store, ids = MemoryStore(), CountingIds()
    async with scripted_host(ScriptedProvider(["One."]), store=store, ids=ids) as host:
        session = await host.start(Agent("main", tools=[look]))
        await session.ask("First.")
        session_id = session.id
    provider = ScriptedProvider([[call("look", {})], "Two."])
    async with scripted_host(provider, store=store, ids=ids) as host:
        fork = await host.fork(session_id, name="other", tools=[look])
        assert await fork.ask("Go on.") == "Two."
        assert [s.id for s in host.agents()] == [fork.id]


async def test_tools_that_a_living_session_has_may_be_given_again() -> None:
    provider = ScriptedProvider(["One.", [call("look", {})], "Two."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[look]))
        await session.ask("First.")
        fork = await host.fork(session, tools=[look])
        assert await fork.ask("Look.") == "Two."


async def test_agents_of_the_copied_turns_stay_with_the_first_session() -> None:
    provider = ScriptedProvider(always([wait(60), say("Late.")]))
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        await host.spawn(session, SpawnOrder("a task", "Do it.", is_background=True))
        fork = await host.fork(session)
        await anyio.sleep(600)
        assert any(e.presentation == "task_notification" for e in session.history)
        assert not any(e.presentation == "task_notification" for e in fork.history)


async def test_what_cannot_be_forked_is_refused() -> None:
    provider = ScriptedProvider(always([wait(60), say("Late.")]))
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(BadInput, match="no finished turn yet"):
            await host.fork(session)
        with pytest.raises(UnknownSession):
            await host.fork("nobody")
        await session.ask("First.")
        with pytest.raises(BadInput, match="no turn turn-99; it has 1 turns"):
            await host.fork(session, after="turn-99")
        with pytest.raises(NameTaken):
            await host.fork(session, name="main")
        receipt = await session.post("Second.")
        await receipt.taken()
        with pytest.raises(BadInput, match="has not ended"):
            await host.fork(session, after=session.turns[-1].turn_id)
        child = await host.spawn(session, SpawnOrder("a task", "Do it.", is_background=True))
        with pytest.raises(BadInput, match="is a subagent"):
            await host.fork(child.agent_id)
        assert len(await host.sessions()) == 1


async def test_a_fork_that_is_cancelled_at_any_step_is_whole_or_not_there() -> None:
    async def is_cancelled_after(n_steps: int) -> bool:
        store = LaggingStore(MemoryStore(), 0.0)
        async with scripted_host(ScriptedProvider(always("Yes.")), store=store) as host:
            session = await host.start(Agent("main"))
            await session.ask("First.")
            was_cancelled = await cancelled_after(n_steps, lambda: host.fork(session, name="other"))
            stored = [row.agent_id for row in await host.sessions() if row.agent_id != session.id]
            living = [one for one in host.agents() if one.id != session.id]
            if not living:  # its name is free, and what was stored can be taken up
                await (await host.start(Agent("other"))).stop()
                living = [await host.resume(one) for one in stored]
            assert [one.id for one in living] == stored
            for fork in living:
                assert said(fork) == ["First.", "Yes."]
                assert await fork.ask("Go on.") == "Yes."
        return was_cancelled

    were_cancelled = [await is_cancelled_after(n) for n in range(25)]
    assert were_cancelled[0]
    assert not were_cancelled[-1]
