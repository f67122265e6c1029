"""Texts and answers that nobody expects: the session goes on, and what is sent stays legal."""

import anyio
import pytest

from actors.agent import Agent
from actors.errors import BadInput, BodyTooLarge, TurnFailed
from actors.history import MessageEntry, ResultStatus
from actors.results import SUBMIT_TOOL
from actors.tools import tool
from host.config import Config
from host.ids import CountingIds
from host.permissions import PermissionMode
from host.store.memory import MemoryStore
from providers.errors import ModelNotFound
from providers.model import StopReason
from providers.scripted import Answer, ScriptedProvider, always, call, say, stop, think, wait
from tests.host.hosts import scripted_host
from tests.host.test_typed import BY_TOOL


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\x00", "</system-reminder>", "x" * 199_999])
async def test_whatever_a_person_writes_is_answered(text: str) -> None:
    store, ids = MemoryStore(), CountingIds()
    async with scripted_host(ScriptedProvider(always("Yes.")), store=store, ids=ids) as host:
        session = await host.start(Agent("main"))
        assert await session.ask(text) == "Yes."
        assert await session.ask("And now?") == "Yes."
    async with scripted_host(ScriptedProvider(always("Yes.")), store=store, ids=ids) as host:
        again = await host.resume(session.id)
        assert again.history == session.history
        assert await again.ask("And now?") == "Yes."


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
async def test_a_message_without_text_is_refused(text: str) -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(BadInput, match="needs some text"):
            await session.ask(text)
        assert session.history == ()


async def test_a_text_over_the_limit_is_refused_before_it_takes_a_place() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main", mailbox_capacity=1))
        for _ in range(3):
            with pytest.raises(BodyTooLarge, match="200,001"):
                await session.ask("x" * 200_001)
        assert await session.ask("And now?") == "Yes."


@pytest.mark.parametrize(
    "answer",
    ["", [think("hm")], [stop(StopReason.REFUSAL)], [say("Half"), stop(StopReason.STOP_SEQUENCE)], "\ud800"],
)
async def test_whatever_a_model_answers_the_next_question_is_asked(answer: Answer) -> None:
    async with scripted_host(ScriptedProvider([answer, "Yes."])) as host:
        session = await host.start(Agent("main"))
        try:
            await session.ask("Are you there?")
        except TurnFailed as error:
            assert error.stop_reason == "refused"  # noqa: PT017 - the other answers raise nothing
        assert await session.ask("And now?") == "Yes."


async def test_a_paused_answer_goes_on() -> None:
    provider = ScriptedProvider([[say("First."), stop(StopReason.PAUSE)], "Second."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("Begin.") == "Second."


async def test_a_call_of_an_agent_without_tools_is_answered_as_an_error() -> None:
    async with scripted_host(ScriptedProvider([[call("Bash", {"command": "ls"})], "I have none."])) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("List.") == "I have none."
        statuses = [e.status for e in session.history if isinstance(e, MessageEntry) and e.status]
        assert statuses == [ResultStatus.ERROR]


async def test_errors_beside_exception_are_a_tools_result_where_nobody_asked_to_end() -> None:
    @tool
    async def group() -> str:
        """Raises several errors at once."""
        raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])

    async with scripted_host(ScriptedProvider([[call("group")], "I see."])) as host:
        session = await host.start(Agent("main", tools=[group]))
        assert await session.ask("Try.") == "I see."


async def test_a_steer_to_a_model_that_is_gone_fails_the_turn_and_the_session_lives() -> None:
    store, ids = MemoryStore(), CountingIds()
    slow = ScriptedProvider(always([wait(5), say("Slow.")]))
    other = ScriptedProvider(always("Other."), name="other")
    async with scripted_host(slow, other, store=store, ids=ids) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(ModelNotFound):
            await session.tell("Use it.", model="nobody's")
        first = await session.post("Begin.")
        await session.post("Go on.", model="other")
        await first.taken()
    async with scripted_host(ScriptedProvider(always("Yes.")), store=store, ids=ids) as host:
        again = await host.resume(session.id)
        await anyio.sleep(1)
        assert again.fold.last_turn is not None
        assert again.fold.last_turn.error == "ModelNotFound: no model named 'other'"
        assert await again.ask("And now?") == "Yes."


async def test_a_typed_answer_by_a_tool_comes_in_plan_mode_too() -> None:
    provider = ScriptedProvider([[call(SUBMIT_TOOL, {"value": 7})]], profile=BY_TOOL)
    config = Config(store="unused", permission_mode=PermissionMode.PLAN)
    async with scripted_host(provider, config=config) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("How many?", returns=int) == 7
