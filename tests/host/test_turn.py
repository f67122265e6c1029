"""Turns as a whole: a host in virtual time, a model from a script that refuses illegal requests."""

from collections.abc import Sequence
from itertools import dropwhile

import anyio
import pytest

from actors.agent import Agent, Limits
from actors.errors import LimitReached, TurnCancelled, TurnFailed
from actors.events import AnswerCommitted, AnswerDropped, RetryWaits, ToolFinished
from actors.history import Entry, MessageEntry, ReminderEntry, ResultStatus
from actors.permission import PermissionClass
from actors.records import AgentState, TurnStop
from actors.tools import tool
from host.config import Config
from host.permissions import HumanAnswer, OpenQuestion, PermissionMode
from host.store.memory import MemoryStore
from providers.errors import AuthenticationFailed, RateLimited, StreamBroken
from providers.model import Request, Role, StopReason, text_of
from providers.ports import Provider
from providers.retry import Retrying, RetryPolicy
from providers.scripted import (
    Answer,
    ScriptedProvider,
    always,
    call,
    cut_call,
    fail,
    say,
    stop,
    think,
    wait,
)
from tests.host.hosts import scripted_host
from tests.host.lagging import LaggingStore


@tool(is_read_only=True)
async def look(what: str) -> str:
    """Looks at something for a second."""
    await anyio.sleep(1)
    return f"saw {what}"


@tool
async def change(what: str) -> str:
    """Changes something, which takes ten seconds."""
    await anyio.sleep(10)
    return f"changed {what}"


def texts(request: Request) -> list[str]:
    """The conversation of a request, one line a message: role and text."""
    lines = [f"{message.role}: {text_of(message.content)}" for message in request.messages]
    return list(dropwhile(lambda line: line.startswith("system:"), lines))


def statuses(history: Sequence[Entry]) -> list[ResultStatus | None]:
    return [e.status for e in history if isinstance(e, MessageEntry) and e.message.role is Role.TOOL]


async def test_read_only_calls_run_side_by_side_and_results_come_in_call_order() -> None:
    provider = ScriptedProvider([[call("look", {"what": "a"}), call("look", {"what": "b"})], "Done."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[look]))
        before = anyio.current_time()
        await session.ask("Look at both.")
        assert anyio.current_time() - before == pytest.approx(1)
    results = [m.content for m in provider.requests[1].messages if m.role is Role.TOOL]
    assert results == ["saw a", "saw b"]


async def test_a_steer_during_a_tool_stands_behind_its_result_and_is_presented() -> None:
    provider = ScriptedProvider([[call("change", {"what": "x"})], "Stopped after page 3."])
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main", tools=[change]))
        tasks.start_soon(session.ask, "Go through the manual.")
        await anyio.sleep(5)
        receipt = await session.tell("Stop after page 3")
        await receipt.presented()
        turn = await receipt.answered()
        assert turn.text == "Stopped after page 3."
    lines = texts(provider.requests[1])
    assert lines[-2] == "tool: changed x", lines
    assert "Stop after page 3" in lines[-1]
    assert len(provider.requests) == 2


async def test_a_steer_during_a_text_only_step_keeps_the_turn_going() -> None:
    provider = ScriptedProvider([[wait(2), say("First.")], "Second."])
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main"))
        answers: list[str] = []

        async def ask() -> None:
            answers.append(await session.ask("Begin."))

        tasks.start_soon(ask)
        await anyio.sleep(1)
        receipt = await session.tell("And then?")
        assert (await receipt.answered()).text == "Second."
    assert answers == ["Second."]


async def test_a_steer_can_switch_the_model_of_a_running_turn() -> None:
    slow = ScriptedProvider([[wait(2), say("From the first.")]], name="first")
    other = ScriptedProvider(["From the second."], name="second")
    async with scripted_host(slow, other) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main"))
        tasks.start_soon(session.ask, "Begin.")
        await anyio.sleep(1)
        receipt = await session.tell("Use the other one.", model="second")
        assert (await receipt.answered()).text == "From the second."


@pytest.mark.parametrize("lag_s", [0.0, 0.3])
@pytest.mark.parametrize("tenths", range(42))
async def test_a_message_at_any_moment_is_taken_once_and_presented(lag_s: float, tenths: int) -> None:
    """The last step of a turn, and the moments around it: nothing may lie, nothing come twice."""
    memory = MemoryStore()
    store = LaggingStore(memory, lag_s) if lag_s else memory
    provider = ScriptedProvider(always([wait(1), say("One "), wait(1), say("two.")]))
    async with scripted_host(provider, store=store) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main"))
        tasks.start_soon(session.ask, "Begin.")
        await anyio.sleep(tenths / 10)
        receipt = await session.tell("late words")
        with anyio.fail_after(60):
            await receipt.presented()
            await receipt.answered()
    said = [e for e in session.history if isinstance(e, MessageEntry) and e.message.content == "late words"]
    assert len(said) == 1
    assert any("late words" in line for line in texts(provider.requests[-1]))


@pytest.mark.parametrize("tenths", range(1, 135, 3))
async def test_cancelled_at_any_moment_a_session_goes_on(tenths: int) -> None:
    """Stream, reading tools, changing tool, last answer: whenever cancelled, every call has its result."""
    provider = ScriptedProvider(
        [
            [say("I "), wait(0.5), say("look."), call("look", {"what": "a"}), call("change", {"what": "b"})],
            [think("hm"), wait(0.5), say("All "), wait(0.5), say("done.")],
            "Here again.",
            "Here again.",
            "Here again.",
        ]
    )
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main", tools=[look, change]))
        ends: list[str] = []

        async def ask() -> None:
            try:
                ends.append(await session.ask("Begin."))
            except TurnCancelled as cancelled:
                ends.append(cancelled.stop_reason)

        tasks.start_soon(ask)
        await anyio.sleep(tenths / 10)
        session.cancel()
        await anyio.sleep(0.01)
        assert len(ends) == 1
        assert session.state is AgentState.IDLE
        assert isinstance(await session.ask("Are you there?"), str)
    answered = {m.tool_call_id for m in provider.requests[-1].messages if m.role is Role.TOOL}
    called = {c.id for m in provider.requests[-1].messages for c in m.tool_calls}
    assert answered == called
    assert provider.n_open == 0


async def test_a_cancelled_batch_tells_the_truth_about_each_call() -> None:
    provider = ScriptedProvider(
        [[call("look", {"what": "a"}), call("change", {"what": "b"}), call("change", {"what": "c"})], "Hm."]
    )
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main", tools=[look, change]))

        async def ask() -> None:
            with pytest.raises(TurnCancelled):
                await session.ask("Begin.")

        tasks.start_soon(ask)
        await anyio.sleep(5)
        session.cancel()
        await anyio.sleep(0.01)
        assert statuses(session.history) == [
            ResultStatus.OK,
            ResultStatus.INTERRUPTED,
            ResultStatus.NOT_STARTED,
        ]
        await session.ask("And?")


async def test_every_call_that_began_is_told_to_have_ended_also_by_a_cancellation() -> None:
    provider = ScriptedProvider([[call("change", {"what": "b"}), call("change", {"what": "c"})]])
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main", tools=[change]))
        ends: list[ResultStatus] = []

        async def watch() -> None:
            async for event in session.stream("Begin."):
                ends.extend([event.status] if isinstance(event, ToolFinished) else [])

        tasks.start_soon(watch)
        await anyio.sleep(15)
        session.cancel()
    assert ends == [ResultStatus.OK, ResultStatus.INTERRUPTED]


async def test_partial_text_of_a_cancelled_answer_is_kept_as_such() -> None:
    provider = ScriptedProvider([[say("Half a "), wait(5), say("sentence.")], "Again."])
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main"))

        async def ask() -> None:
            with pytest.raises(TurnCancelled) as caught:
                await session.ask("Begin.")
            assert caught.value.text == "Half a "

        tasks.start_soon(ask)
        await anyio.sleep(1)
        session.cancel()
        await anyio.sleep(0.01)
        last = session.history[-1]
        assert isinstance(last, MessageEntry)
        assert last.is_partial
        assert last.message.content == "Half a "
        await session.ask("Go on.")


async def test_cancelling_an_ask_withdraws_it_or_cancels_its_turn() -> None:
    provider = ScriptedProvider([[wait(10), say("Late.")], "Fine."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        with anyio.move_on_after(1):
            await session.ask("Begin.")
        await anyio.sleep(0.01)
        assert session.state is AgentState.IDLE
        assert await session.ask("Are you there?") == "Fine."


async def test_an_answer_cut_at_the_output_limit_is_continued_three_times() -> None:
    cut: Answer = [say("more "), stop(StopReason.MAX_TOKENS)]
    provider = ScriptedProvider([cut, cut, cut, cut])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(LimitReached) as caught:
            await session.ask("Write a novel.")
    assert caught.value.stop_reason == TurnStop.OUTPUT_LIMIT
    assert len(provider.requests) == 4


async def test_a_call_cut_off_by_the_output_limit_is_not_run() -> None:
    ran: list[str] = []

    @tool
    async def write(text: str) -> str:
        """Writes."""
        ran.append(text)
        return "written"

    provider = ScriptedProvider([[cut_call("write", '{"text": "half')], "I see."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[write]))
        assert await session.ask("Write.") == "I see."
        assert statuses(session.history) == [ResultStatus.NOT_STARTED]
    assert ran == []


async def test_a_stream_that_breaks_after_its_first_words_starts_the_step_again() -> None:
    provider = ScriptedProvider([[say("Half"), fail(StreamBroken("the stream ended early"))], "Whole."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        events = [event async for event in session.stream("Begin.")]
        dropped = [event.text for event in events if isinstance(event, AnswerDropped)]
        assert dropped == ["Half"]
        said = [e.message.content for e in session.history if isinstance(e, MessageEntry)]
        assert said == ["Begin.", "Whole."]


def patient(provider: Provider) -> Provider:
    return Retrying(provider, RetryPolicy(), lambda: 1.0)


async def test_an_answer_is_told_of_when_it_is_stored() -> None:
    store = LaggingStore(MemoryStore(), 0.3)
    async with scripted_host(ScriptedProvider(["Yes."]), store=store) as host:
        session = await host.start(Agent("main"))
        async for event in session.stream("Begin."):
            if isinstance(event, AnswerCommitted):
                last = session.history[-1]
                assert isinstance(last, MessageEntry)
                assert last.message.content == "Yes."
                return
    raise AssertionError("nobody told of the answer")


async def test_a_retry_wait_can_be_cancelled() -> None:
    scripted = ScriptedProvider([[fail(RateLimited("slow down", retry_after_s=60))], "There."])

    async with scripted_host(scripted, wrap=patient) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main"))
        seen: list[float] = []

        async def ask() -> None:
            async for event in session.stream("Begin."):
                seen.extend([event.delay_s] if isinstance(event, RetryWaits) else [])

        tasks.start_soon(ask)
        await anyio.sleep(5)
        assert seen == [60]
        session.cancel()
        assert await session.ask("Now?") == "There."


async def test_a_wrong_key_ends_the_turn_with_its_reason_and_the_session_lives() -> None:
    provider = ScriptedProvider([[fail(AuthenticationFailed("anthropic: 401 invalid x-api-key"))], "Yes."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(TurnFailed, match="401 invalid x-api-key") as caught:
            await session.ask("Begin.")
        assert isinstance(caught.value.__cause__, AuthenticationFailed)
        assert await session.ask("Now?") == "Yes."


async def test_the_step_limit_ends_a_turn_with_its_own_reason() -> None:
    provider = ScriptedProvider(always([call("look", {"what": "a"})]))
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[look], limits=Limits(steps=3)))
        with pytest.raises(LimitReached) as caught:
            await session.ask("Begin.")
    assert caught.value.stop_reason == TurnStop.STEP_LIMIT
    assert len(provider.requests) == 3


async def test_calls_over_the_limit_of_a_turn_are_told_as_not_run() -> None:
    provider = ScriptedProvider([[call("look", {"what": w}) for w in "abc"]])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[look], limits=Limits(tool_calls=2)))
        with pytest.raises(LimitReached) as caught:
            await session.ask("Begin.")
        assert statuses(session.history) == [ResultStatus.OK, ResultStatus.OK, ResultStatus.NOT_STARTED]
    assert caught.value.stop_reason == TurnStop.TOOL_CALL_LIMIT


async def test_the_time_limit_closes_open_calls() -> None:
    provider = ScriptedProvider([[call("change", {"what": "a"})]])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[change], limits=Limits(time_s=5)))
        with pytest.raises(LimitReached) as caught:
            await session.ask("Begin.")
        assert statuses(session.history) == [ResultStatus.INTERRUPTED]
    assert caught.value.stop_reason == TurnStop.TIME_LIMIT


async def test_the_same_call_three_times_in_a_row_gives_a_reminder() -> None:
    same: Answer = [call("look", {"what": "a"})]
    provider = ScriptedProvider([same, same, same, "I give up."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main", tools=[look]))
        await session.ask("Begin.")
        reminders = [e for e in session.history if isinstance(e, ReminderEntry)]
    assert [reminder.source for reminder in reminders] == ["model_anomaly"]
    assert "look was called 3 times" in texts(provider.requests[3])[-1]


async def test_a_steer_between_equal_calls_starts_the_count_anew() -> None:
    same: Answer = [call("look", {"what": "a"})]
    provider = ScriptedProvider([same, same, same, "I give up."])
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main", tools=[look]))
        tasks.start_soon(session.ask, "Begin.")
        await anyio.sleep(1.5)
        receipt = await session.tell("Keep looking.")
        await receipt.answered()
        assert not any(isinstance(e, ReminderEntry) for e in session.history)


async def test_a_colleagues_message_between_equal_calls_starts_the_count_anew() -> None:
    same: Answer = [call("look", {"what": "a"})]
    provider = ScriptedProvider([same, same, same, "I give up."])
    async with scripted_host(provider) as host, anyio.create_task_group() as tasks:
        session = await host.start(Agent("main", tools=[look]))
        other = await host.start(Agent("other"))
        tasks.start_soon(session.ask, "Begin.")
        await anyio.sleep(1.5)
        receipt = await host.send(other, "main", "I look as well.")
        await receipt.answered()
        assert not any(isinstance(e, ReminderEntry) for e in session.history)


async def test_a_request_over_the_window_is_not_sent_and_names_every_figure() -> None:
    provider = ScriptedProvider(always("Go on."))
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        for _ in range(2):
            await session.ask("word " * 39_000)
        with pytest.raises(TurnFailed, match=r"window of 200,000 only .* are kept for the answer"):
            await session.ask("word " * 39_000)
    assert len(provider.requests) == 2


class Person:
    """Answers every question after a minute."""

    def __init__(self, *, is_allowed: bool) -> None:
        self.is_allowed = is_allowed

    async def ask(self, question: OpenQuestion) -> HumanAnswer:
        await anyio.sleep(60)
        return HumanAnswer(self.is_allowed, reason="not today")


@tool(name="Bash", permission=PermissionClass.EXECUTE, subject="command")
async def shell(command: str) -> str:
    """Runs a command."""
    return f"ran {command}"


@pytest.mark.parametrize(
    ("mode", "person", "wanted"),
    [
        (PermissionMode.DEFAULT, Person(is_allowed=True), ResultStatus.OK),
        (PermissionMode.DEFAULT, Person(is_allowed=False), ResultStatus.DENIED),
        (PermissionMode.DEFAULT, None, ResultStatus.DENIED),
        (PermissionMode.PLAN, Person(is_allowed=True), ResultStatus.DENIED),
        (PermissionMode.BYPASS, None, ResultStatus.OK),
    ],
)
async def test_the_mode_and_a_person_decide_what_runs(
    mode: PermissionMode, person: Person | None, wanted: ResultStatus
) -> None:
    provider = ScriptedProvider([[call("Bash", {"command": "ls"})], "Well."])
    config = Config(store="unused", permission_mode=mode)
    async with scripted_host(provider, config=config) as host:
        session = await host.start(Agent("main", tools=[shell]))
        if person is None:
            await session.ask("List.")
        else:
            with host.attach(person, session):
                await session.ask("List.")
        assert statuses(session.history) == [wanted]


async def test_plan_mode_is_told_in_full_then_in_a_sentence_and_its_end_once() -> None:
    provider = ScriptedProvider(always("Planned."))
    config = Config(store="unused", permission_mode=PermissionMode.PLAN)
    async with scripted_host(provider, config=config) as host:
        session = await host.start(Agent("main"))
        for _ in range(7):
            await session.ask("Plan.")
        host.set_mode(session, PermissionMode.DEFAULT)
        for _ in range(2):
            await session.ask("Do it.")
        reminders = [e for e in session.history if isinstance(e, ReminderEntry)]
    assert [r.source for r in reminders] == ["runtime_mode", "runtime_mode", "plan_mode_exit"]
    assert "four phases" in reminders[0].body
    assert "still on" in reminders[1].body
