"""Runs of workflows on a scripted host."""

from dataclasses import dataclass
from enum import StrEnum

import anyio
import anyio.lowlevel
import pytest

from actors import Agent, tool
from actors.errors import BadInput, ResultInvalid, TurnFailed
from actors.history import MessageEntry, Origin
from actors.records import AgentRole, AgentState
from host import Run, workflow
from host.errors import AgentTimedOut, RunOver, SpawnRefused, TooManyAgents, WorkflowError
from host.workflows import Done, Failed, RunLimits, run_workflow
from host.workflows.events import (
    AgentEnded,
    AgentStarted,
    Logged,
    PhaseEnded,
    PhaseStarted,
    Reported,
    RunEnded,
    RunEvent,
    RunStarted,
    run_event_to_json,
)
from providers.errors import ModelNotFound, RequestRejected
from providers.model import Role, text_of
from providers.scripted import ScriptedProvider, always, fail, otherwise, record, report, routes, say, wait
from tests.host.hosts import scripted_host
from tests.host.stepping import cancelled_after


class Verdict(StrEnum):
    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True)
class Notes:
    verdict: Verdict
    lines: tuple[int, ...]


@tool
async def look_up(word: str) -> str:
    """The meaning of a word."""
    return f"{word} is a word"


async def test_an_agent_gives_its_answer_and_is_gone_afterwards() -> None:
    @workflow
    async def one(run: Run) -> str:
        return await run.agent("How many doors?")

    async with scripted_host(ScriptedProvider(["Three."])) as host:
        outcome = await run_workflow(host, one, {})
        assert host.agents() == ()
    assert outcome.state is AgentState.COMPLETED
    assert outcome.value == outcome.result == "Three."
    assert outcome.n_agents == 1


async def test_an_answer_can_be_a_value_of_a_type() -> None:
    @workflow
    async def one(run: Run) -> Notes:
        return await run.agent("Judge a.md", returns=Notes)

    provider = ScriptedProvider([record({"verdict": "drop", "lines": [3, 7]})])
    async with scripted_host(provider) as host:
        outcome = await run_workflow(host, one, {})
    assert outcome.value == Notes(Verdict.DROP, (3, 7))
    assert outcome.result == {"verdict": "drop", "lines": [3, 7]}


async def test_an_agent_is_a_workflow_actor_whom_the_script_addresses_as_its_coordinator() -> None:
    roles: list[AgentRole] = []
    origins: list[Origin] = []

    @workflow
    async def one(run: Run) -> None:
        actor = run.actor("reader", persona="You read slowly.")
        await actor.ask("What is it?")
        living = host.find("reader")
        roles.append(living._living.role)
        origins.extend(e.origin for e in living.history if isinstance(e, MessageEntry))

    provider = ScriptedProvider(["A door."])
    async with scripted_host(provider) as host:
        assert (await run_workflow(host, one, {})).error is None
    assert roles == [AgentRole.WORKFLOW_ACTOR]
    assert Origin.COORDINATOR in origins
    assert Origin.USER not in origins
    system = " ".join(text_of(m.content) for m in provider.requests[0].messages if m.role is Role.SYSTEM)
    assert "A script created you" in system
    assert "You read slowly." in system


async def test_an_actor_keeps_its_conversation_and_answers_its_asks_one_after_the_other() -> None:
    @workflow
    async def two(run: Run) -> list[str]:
        actor = run.actor("reader")
        return await run.parallel([actor.ask("first"), actor.ask("second")])

    provider = ScriptedProvider([[wait(5.0), say("one")], "two"])
    async with scripted_host(provider) as host:
        outcome = await run_workflow(host, two, {})
        assert host.agents() == ()
    assert outcome.value == ["one", "two"]
    assert outcome.n_agents == 1
    assert [text_of(m.content) for m in provider.requests[1].messages][-3:] == ["first", "one", "second"]


async def test_a_system_prompt_replaces_the_contract_and_excludes_a_persona() -> None:
    @workflow
    async def custom(run: Run) -> str:
        return await run.actor("judge", system_prompt="You are a judge.").ask("Well?")

    @workflow
    async def both(run: Run) -> None:
        run.actor("judge", persona="You are fair.", system_prompt="You are a judge.")

    provider = ScriptedProvider(["Yes."])
    async with scripted_host(provider) as host:
        assert (await run_workflow(host, custom, {})).value == "Yes."
        outcome = await run_workflow(host, both, {})
    system = " ".join(text_of(m.content) for m in provider.requests[0].messages if m.role is Role.SYSTEM)
    assert "You are a judge." in system
    assert "A script created you" not in system
    assert isinstance(outcome.failure, BadInput)
    assert "'judge' takes a persona or a system prompt" in (outcome.error or "")


async def test_names_are_made_of_what_the_script_says_and_are_unique_on_the_host() -> None:
    @workflow
    async def named(run: Run) -> None:
        await run.parallel(run.agent("x", name=name) for name in ("docs/a b.md", "docs/a b.md", "user", "…"))
        await run.agent("x")

    events: list[RunEvent] = []
    async with scripted_host(ScriptedProvider(always("yes"))) as host:
        await run_workflow(host, named, {}, events.append)
    started = {e.agent: e.label for e in events if isinstance(e, AgentStarted)}
    assert started == {
        "docs-a-b.md": "docs/a b.md",
        "docs-a-b.md-2": "docs/a b.md",
        "agent-user": "user",
        "agent": "…",
        "agent-2": "agent",
    }


async def test_two_runs_on_one_host_share_its_names_without_a_clash() -> None:
    @workflow
    async def many(run: Run) -> list[str]:
        return await run.parallel(run.agent("x", name="reader") for _ in range(8))

    async with scripted_host(ScriptedProvider(always([wait(1.0), say("yes")]))) as host:
        errors: list[str | None] = []

        async def one() -> None:
            errors.append((await run_workflow(host, many, {})).error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
            tasks.start_soon(one)
    assert errors == [None, None]


async def test_two_actors_of_one_name_end_the_run_with_that_reason() -> None:
    @workflow
    async def twins(run: Run) -> None:
        run.actor("judge")
        run.actor("judge")

    async with scripted_host(ScriptedProvider([])) as host:
        outcome = await run_workflow(host, twins, {})
    assert outcome.state is AgentState.FAILED
    assert "an actor named 'judge' already" in (outcome.error or "")
    assert f"({__file__.rpartition('/')[2]}, line" in (outcome.error or "")


async def test_as_many_agents_work_at_once_as_the_run_allows() -> None:
    at_work = [0]

    @workflow
    async def many(run: Run) -> None:
        await run.parallel(run.agent(str(n)) for n in range(40))

    provider = ScriptedProvider(always([wait(1.0), say("yes")]))
    async with scripted_host(provider) as host:

        def saw(event: RunEvent) -> None:
            at_work.append(at_work[-1] + isinstance(event, AgentStarted) - isinstance(event, AgentEnded))

        began = anyio.current_time()
        assert (await run_workflow(host, many, {}, saw)).error is None
        assert anyio.current_time() - began == pytest.approx(3.0)
    assert max(at_work) == 16


async def test_one_agent_too_many_is_refused_and_ends_the_run() -> None:
    @workflow
    async def greedy(run: Run) -> None:
        await run.parallel(run.agent(str(n)) for n in range(10_000))

    provider = ScriptedProvider(always([wait(1.0), say("yes")]))
    async with scripted_host(provider) as host:
        outcome = await run_workflow(host, greedy, {})
        assert host.agents() == ()
    assert outcome.state is AgentState.FAILED
    assert outcome.n_agents == 1_000
    assert "this run has started 1,000 agents, which is its limit" in (outcome.error or "")
    assert "parallel calls failed" in (outcome.error or "")
    assert len(provider.requests) <= 16


async def test_a_refused_agent_is_an_outcome_where_outcomes_were_asked_for() -> None:
    @workflow
    async def greedy(run: Run) -> None:
        outcomes = await run.parallel((run.agent(str(n)) for n in range(3)), failures="return")
        assert [type(outcome) for outcome in outcomes] == [Done, Done, Failed]
        assert isinstance(outcomes[2], Failed)
        assert isinstance(outcomes[2].error, TooManyAgents)

    async with scripted_host(ScriptedProvider(always("yes"))) as host:
        outcome = await run_workflow(host, greedy, {}, limits=RunLimits(agents=2))
    assert outcome.error is None


async def test_a_failed_agent_cancels_the_others_and_comes_out_as_a_group() -> None:
    @workflow
    async def some(run: Run) -> None:
        await run.parallel([run.agent("slow"), run.agent("bad"), run.agent("slow")])

    provider = ScriptedProvider(
        routes(
            ("bad", [fail(RequestRejected("no such thing"))]), (otherwise, always([wait(60.0), say("late")]))
        )
    )
    events: list[RunEvent] = []
    async with scripted_host(provider) as host:
        outcome = await run_workflow(host, some, {}, events.append)
        assert anyio.current_time() < 60
        assert provider.n_open == 0
    assert isinstance(outcome.failure, ExceptionGroup)
    assert [type(e) for e in outcome.failure.exceptions] == [TurnFailed]
    assert "1 of 3 parallel calls failed" in (outcome.error or "")
    assert "no such thing" in (outcome.error or "")
    states = sorted(e.state for e in events if isinstance(e, AgentEnded))
    assert states == [AgentState.CANCELLED, AgentState.CANCELLED, AgentState.FAILED]


async def test_a_wrong_value_is_a_failure_of_its_type() -> None:
    @workflow
    async def one(run: Run) -> object:
        return await run.agent("Judge", returns=Notes)

    async with scripted_host(ScriptedProvider(always("no JSON at all"))) as host:
        outcome = await run_workflow(host, one, {})
    assert isinstance(outcome.failure, ResultInvalid)


async def test_a_pipeline_takes_each_item_through_the_stages_on_its_own() -> None:
    finished: list[tuple[int, float]] = []

    @workflow
    async def chain(run: Run) -> list[str]:
        async def first(n: int) -> int:
            await anyio.sleep(n)
            return n * 10

        async def second(n: int) -> str:
            finished.append((n, anyio.current_time()))
            return await run.agent(f"item {n}")

        return await run.pipeline([3, 1, 2], first, second)

    provider = ScriptedProvider(
        routes(("item 10", ["ten"]), ("item 20", ["twenty"]), ("item 30", ["thirty"]))
    )
    async with scripted_host(provider) as host:
        began = anyio.current_time()
        outcome = await run_workflow(host, chain, {})
    assert outcome.value == ["thirty", "ten", "twenty"]
    assert [n for n, _ in finished] == [10, 20, 30]
    assert [at - began for _, at in finished] == pytest.approx([1, 2, 3])


async def test_an_agent_that_takes_too_long_is_cancelled() -> None:
    @workflow
    async def slow(run: Run) -> str:
        try:
            await run.agent("Think", name="thinker", timeout=5)
        except AgentTimedOut as error:
            return str(error)
        return "in time"

    events: list[RunEvent] = []
    provider = ScriptedProvider([[wait(60.0), say("late")]])
    async with scripted_host(provider) as host:
        outcome = await run_workflow(host, slow, {}, events.append)
        assert provider.n_open == 0
    assert outcome.value == "thinker did not answer within 5 s; its turn was cancelled"
    ended = [e for e in events if isinstance(e, AgentEnded)]
    assert [e.state for e in ended] == [AgentState.FAILED]
    assert [e.seconds for e in ended] == pytest.approx([5])


async def test_a_run_that_waits_for_ever_can_be_cancelled_and_says_so() -> None:
    @workflow
    async def stuck(run: Run) -> None:
        actor = run.actor("reader")
        await actor.ask("hello")
        async with run.phase("Wait"):
            await anyio.sleep_forever()

    events: list[RunEvent] = []
    async with scripted_host(ScriptedProvider(["hi"])) as host:
        with anyio.move_on_after(100) as scope:
            await run_workflow(host, stuck, {}, events.append)
        assert scope.cancelled_caught
        assert host.agents() == ()
    assert isinstance(events[-2], PhaseEnded)
    assert events[-2].state is AgentState.CANCELLED
    assert isinstance(events[-1], RunEnded)
    assert events[-1].state is AgentState.CANCELLED


async def test_cancelling_a_run_cancels_the_turns_of_its_agents() -> None:
    @workflow
    async def many(run: Run) -> None:
        await run.parallel(run.agent(str(n)) for n in range(20))

    events: list[RunEvent] = []
    provider = ScriptedProvider(always([say("I "), wait(60.0), say("am late")]))
    async with scripted_host(provider) as host:
        with anyio.move_on_after(10):
            await run_workflow(host, many, {}, events.append)
        assert provider.n_open == 0
        assert host.agents() == ()
    assert {e.state for e in events if isinstance(e, AgentEnded)} == {AgentState.CANCELLED}
    assert len([e for e in events if isinstance(e, AgentEnded)]) == 16


async def test_what_a_script_raises_is_told_with_its_line() -> None:
    @workflow
    async def broken(run: Run) -> None:
        raise KeyError("door")

    @workflow
    async def leaving(run: Run) -> None:
        raise SystemExit(3)

    async with scripted_host(ScriptedProvider([])) as host:
        outcome = await run_workflow(host, broken, {})
        left = await run_workflow(host, leaving, {})
    assert outcome.state is left.state is AgentState.FAILED
    assert (outcome.error or "").startswith("KeyError: 'door' (test_run.py, line ")
    assert (left.error or "").startswith("SystemExit: 3 (test_run.py, line ")


async def test_a_result_that_the_function_does_not_promise_is_a_failure() -> None:
    @workflow
    async def wrong(run: Run) -> list[int]:
        return ["a"]  # type: ignore[list-item]  # the point of the test

    @workflow
    async def unspeakable(run: Run) -> object:
        return object()

    async with scripted_host(ScriptedProvider([])) as host:
        outcome = await run_workflow(host, wrong, {})
        other = await run_workflow(host, unspeakable, {})
    assert "the workflow wrong promises list[int] and returned list" in (outcome.error or "")
    assert "- 0: Input should be a valid integer" in (outcome.error or "")
    assert "returned object, which has no JSON form" in (other.error or "")


async def test_events_tell_phases_agents_tokens_and_time_in_order() -> None:
    @workflow
    async def told(run: Run, paths: list[str]) -> int:
        async with run.phase("Read"):
            run.log("two pages")
            async with run.phase("First"):
                await run.parallel(run.agent(path, name=path) for path in paths)
        run.report(Notes(Verdict.KEEP, (1,)))
        return len(paths)

    provider = ScriptedProvider(always([wait(2.0), say("yes"), report(100, 3, cache_read_tokens=40)]))
    events: list[RunEvent] = []
    async with scripted_host(provider) as host:
        outcome = await run_workflow(host, told, {"paths": ["a.md", "b.md"]}, events.append)
    kinds = [type(event) for event in events]
    assert kinds == [
        RunStarted,
        PhaseStarted,
        Logged,
        PhaseStarted,
        *[AgentStarted] * 2,
        *[AgentEnded] * 2,
        *[PhaseEnded] * 2,
        Reported,
        RunEnded,
    ]
    assert events[0] == RunStarted("told", {"paths": ["a.md", "b.md"]}, 0.0)
    agents = [e for e in events if isinstance(e, AgentEnded)]
    assert {e.phase for e in agents} == {("Read", "First")}
    assert [(e.usage.input_tokens, e.usage.cache_read_tokens, e.usage.output_tokens) for e in agents] == [
        (100, 40, 3)
    ] * 2
    assert [e.seconds for e in agents] == pytest.approx([2.0, 2.0])
    assert outcome.usage.output_tokens == 6
    last = run_event_to_json(events[-1])
    assert (last["event"], last["state"], last["result"]) == ("run_ended", "completed", 2)
    assert run_event_to_json(events[-2])["phase"] == []
    assert run_event_to_json(events[-2])["item"] == {"verdict": "keep", "lines": [1]}


async def test_what_has_no_json_form_is_not_reported() -> None:
    @workflow
    async def told(run: Run) -> None:
        run.report(object())

    async with scripted_host(ScriptedProvider([])) as host:
        outcome = await run_workflow(host, told, {})
    assert "object has none" in (outcome.error or "")


async def test_a_run_cannot_be_used_after_its_end() -> None:
    kept: list[Run] = []

    @workflow
    async def keep(run: Run) -> None:
        kept.append(run)

    async with scripted_host(ScriptedProvider([])) as host:
        await run_workflow(host, keep, {})
        with pytest.raises(RunOver):
            await kept[0].agent("Still there?")
        with pytest.raises(RunOver):
            kept[0].log("Still there?")


async def test_an_unknown_type_or_model_is_an_error_and_never_something_else_instead() -> None:
    @workflow
    async def strange_type(run: Run) -> str:
        return await run.agent("x", type="wizard")

    @workflow
    async def strange_model(run: Run) -> str:
        return await run.agent("x", model="gpt-0")

    async with scripted_host(ScriptedProvider([])) as host:
        assert isinstance((await run_workflow(host, strange_type, {})).failure, SpawnRefused)
        assert isinstance((await run_workflow(host, strange_model, {})).failure, ModelNotFound)


async def test_without_tools_of_its_own_an_agent_has_those_that_only_read() -> None:
    @workflow
    async def offered(run: Run) -> None:
        await run.agent("x")
        await run.agent("y", tools=[look_up])
        await run.agent("z", tools=())

    provider = ScriptedProvider(always("yes"))
    async with scripted_host(provider) as host:
        assert (await run_workflow(host, offered, {})).error is None
    names = [{spec.name for spec in request.tools} for request in provider.requests]
    assert names == [{"Glob", "Grep", "Read", "ReadArtifact"}, {"look_up"}, set()]


async def test_a_phase_that_raises_has_failed() -> None:
    @workflow
    async def failing(run: Run) -> None:
        async with run.phase("Read"):
            raise WorkflowError("no")

    events: list[RunEvent] = []
    async with scripted_host(ScriptedProvider([])) as host:
        await run_workflow(host, failing, {}, events.append)
    assert [e.state for e in events if isinstance(e, PhaseEnded)] == [AgentState.FAILED]


async def test_a_run_cancelled_at_any_step_leaves_nothing_behind() -> None:
    @workflow
    async def some(run: Run) -> None:
        actor = run.actor("reader")
        async with run.phase("Read"):
            await run.parallel([actor.ask("a"), actor.ask("b"), run.agent("c", timeout=50)])

    async def is_cancelled_after(n_steps: int) -> bool:
        events: list[RunEvent] = []
        provider = ScriptedProvider(always([say("I ", "see")]))
        async with scripted_host(provider) as host:
            was_cancelled = await cancelled_after(
                n_steps, lambda: run_workflow(host, some, {}, events.append)
            )
            assert host.agents() == ()
            assert provider.n_open == 0
            # what is left of an agent would still hold its name
            for name in ("reader", "agent"):
                await host.start(Agent(name))
        assert not events or isinstance(events[-1], RunEnded)
        began = sum(isinstance(event, AgentStarted) for event in events)
        assert began == sum(isinstance(event, AgentEnded) for event in events)
        return was_cancelled

    were_cancelled = [await is_cancelled_after(n) for n in range(0, 120, 2)]
    assert were_cancelled[0]
    assert not were_cancelled[-1]
