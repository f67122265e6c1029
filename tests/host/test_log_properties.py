"""What holds for any log: any beginning of it is a session, and the fold is the live state."""

import random
from collections.abc import Mapping, Sequence

import anyio
import pytest
from pydantic import JsonValue

from actors.address import AgentId
from actors.agent import Agent
from actors.errors import ActorError, ActorStopped
from actors.ports import SpawnOrder
from actors.records import Record
from actors.state import folded
from host.ids import CountingIds
from host.permissions import PermissionMode
from host.store.memory import MemoryStore
from providers.model import Message, ReasoningBlock, Request, Role
from providers.scripted import Answer, ScriptedProvider, always, call, say, think, wait
from tests.host.hosts import scripted_host
from tests.host.judging import envelopes, faults, records_of, untold
from tests.host.lagging import LaggingStore
from tests.host.logs import alone, ends_of_commits, opened_of, store_with, up_to, written
from tests.host.programs import TOOLS

REST_S = 1000.0
PATIENCE_S = 20_000.0


class LaterIds(CountingIds):
    """None that a program has given."""

    def new(self, prefix: str) -> str:
        return f"{super().new(prefix)}_later"


async def check_usable(
    logs: Mapping[AgentId, Sequence[Record]], *, is_whole: bool = True, is_in_order: bool = True
) -> None:
    """Resumes what is there, asks every root, and lets all come to rest. The model refuses what any would.

    Only behind whole commits is a log without fault, and only where all logs
    end at one moment do children and parents know the same.
    """
    store = await store_with(logs)
    roots = [opened_of(log).agent_id for log in logs.values() if opened_of(log).parent_id is None]
    provider = ScriptedProvider(always("Fine."))
    alive: dict[AgentId, list[Record]] = {}
    with anyio.fail_after(PATIENCE_S):
        async with scripted_host(provider, store=store, ids=LaterIds()) as host:
            for root_id in roots:
                session = await host.resume(root_id, tools=TOOLS)
                assert await session.ask("And now?") == "Fine."
            await anyio.sleep(REST_S)
            for session in host.agents():
                assert session.fold.turn is None
                assert not session.waiting
                log = alive[session.id] = await records_of(store, session.id)
                assert folded(log) == session.fold
            if is_in_order:
                rows = await store.agents()
                assert (
                    untold(rows, {row.agent_id: await records_of(store, row.agent_id) for row in rows}) == []
                )
    if is_whole:
        assert [fault for log in alive.values() for fault in faults(log)] == []


async def check_every_beginning(seed: int, *, step: int = 1) -> None:
    program = await written(seed)
    assert not program.problems
    commits = ends_of_commits(program.commits)
    for agent_id, log in program.logs.items():
        for n_records in range(1, len(log) + 1, step):
            is_whole = n_records in commits[agent_id]
            await check_usable({agent_id: alone(log[:n_records])}, is_whole=is_whole)


async def check_every_moment(seed: int, *, step: int = 1) -> None:
    program = await written(seed)
    for n_commits in range(1, len(program.commits) + 1, step):
        await check_usable(up_to(program.commits[:n_commits]))


async def check_cuts_apart(seed: int, n_cuts: int) -> None:
    program = await written(seed)
    commits = ends_of_commits(program.commits)
    dice = random.Random(seed)
    for _ in range(n_cuts):
        logs: dict[AgentId, tuple[Record, ...]] = {}
        for agent_id, log in program.logs.items():
            parent_id = opened_of(log).parent_id
            if parent_id is None or (parent_id in logs and dice.randrange(10)):
                logs[agent_id] = tuple(log[: dice.choice(commits[agent_id])])
        await check_usable(logs, is_in_order=False)


async def test_every_beginning_of_a_log_is_a_session_that_answers() -> None:
    """Cut between the records of one commit too, which no crash does."""
    await check_every_beginning(0, step=4)


async def test_a_store_as_it_was_at_any_moment_goes_on_without_a_fault() -> None:
    await check_every_moment(1, step=25)


async def test_logs_of_one_tree_that_end_at_different_moments_go_on_each_without_a_fault() -> None:
    """No crash does that either. What a parent was told and a child has forgotten stays told."""
    await check_cuts_apart(2, n_cuts=6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 106))
async def test_every_beginning_of_many_programs_goes_on(seed: int) -> None:
    await check_every_beginning(seed)
    await check_every_moment(seed)
    await check_cuts_apart(seed, n_cuts=30)


@pytest.mark.parametrize("seed", range(5))
async def test_behind_every_commit_an_agent_is_what_its_log_says(seed: int) -> None:
    """The program itself compares; the records went through the codec."""
    program = await written(200 + seed, n_lives=3)
    assert not program.problems
    assert program.n_compared > 20


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1300, 30))
async def test_nor_do_they_differ_in_hundreds_of_programs(first: int) -> None:
    for seed in range(first, first + 30):
        assert not (await written(seed, n_lives=3)).problems


async def test_who_spawns_in_the_background_hears_of_it_when_the_task_is_stored() -> None:
    memory = MemoryStore()
    host = scripted_host(ScriptedProvider(always("Fine.")), store=LaggingStore(memory, 0.5))
    async with host:
        session = await host.start(Agent("main"))
        report = await host.spawn(session, SpawnOrder("a task", "Do it.", is_background=True))
        assert [e.body for e in envelopes(await records_of(memory, report.agent_id))] == ["Do it."]


async def test_a_session_that_was_stopped_cannot_be_taken_back_nor_changed() -> None:
    async with scripted_host(ScriptedProvider(always("Fine."))) as host:
        session = await host.start(Agent("main"))
        await session.ask("Hello?")
        await session.stop()
        with anyio.fail_after(PATIENCE_S), pytest.raises(ActorStopped):
            await session.rewind(restore_files=False)
        with pytest.raises(ActorError):
            host.set_mode(session, PermissionMode.PLAN)


async def test_a_fork_leaves_thinking_out_behind_a_reminder_that_stays_with_its_process() -> None:
    """The reminder is gone from what the thinking was bound to."""
    provider = ScriptedProvider([[think("hm"), say("Fine.")], "Here too.", "And here."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        host.set_mode(session, PermissionMode.PLAN)
        await session.ask("Hello?")
        await (await host.fork(session)).ask("And here?")
        await session.ask("And here?")
    blocks = [
        [block for m in request.messages if isinstance(m.content, tuple) for block in m.content]
        for request in provider.requests[1:]
    ]
    thoughts = [sum(isinstance(block, ReasoningBlock) for block in sent) for sent in blocks]
    assert thoughts == [0, 1]


async def test_a_rewind_leaves_a_child_alone_whose_call_had_the_same_id_as_a_removed_one() -> None:
    """Some servers count their calls anew in each answer."""
    prompt = "Count the doors."
    task: dict[str, JsonValue] = {"description": "doors", "prompt": prompt, "run_in_background": True}

    def answer(request: Request) -> Answer:
        if any(message.content == prompt for message in request.messages):
            return [wait(500), say("Seven.")]
        match request.messages[-1]:
            case Message(Role.USER, "Begin."):
                return [call("Agent", task, call_id="call_0")]
            case Message(Role.USER, "Look."):
                return [call("look", {}, call_id="call_0")]
            case _:
                return [say("Done.")]

    provider = ScriptedProvider(answer)
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=TOOLS))
        await session.ask("Begin.")
        (child,) = [one for one in host.agents() if one.id != session.id]
        await session.ask("Look.")
        assert (await session.rewind(restore_files=False)).stopped == ()
        assert child.id in {one.id for one in host.agents()}
