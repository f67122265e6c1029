from collections.abc import Sequence

import anyio
import pytest

from providers.errors import IllegalRequest, RateLimited, ScriptExhausted, ServerFailed, StreamBroken
from providers.model import (
    Answered,
    AnswerStarted,
    CallCompleted,
    CallStarted,
    Dialect,
    Message,
    ModelEvent,
    ReasoningBlock,
    ReasoningDelta,
    Request,
    Role,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from providers.scripted import (
    SCRIPTED_PROFILE,
    Answer,
    ScriptedProvider,
    always,
    begin,
    call,
    cut_call,
    fail,
    otherwise,
    record,
    report,
    routes,
    say,
    stop,
    think,
    wait,
    wait_for,
)

TOOLS = (ToolSpec("Read", "Reads.", {"type": "object"}),)


def asked(text: str = "Hello?", system: str = "You help.") -> Request:
    return Request("m1", (Message(Role.SYSTEM, system), Message(Role.USER, text)), tools=TOOLS)


async def events_of(provider: ScriptedProvider, request: Request | None = None) -> list[ModelEvent]:
    async with provider.stream(request or asked()) as stream:
        return [event async for event in stream]


async def answer_of(provider: ScriptedProvider, request: Request | None = None) -> Answered:
    last = (await events_of(provider, request))[-1]
    assert isinstance(last, Answered)
    return last


def kinds(events: Sequence[ModelEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


async def test_a_string_is_said_and_ends_the_turn() -> None:
    events = await events_of(ScriptedProvider(["Hi."]))
    assert kinds(events) == ["AnswerStarted", "TextDelta", "Answered"]
    last = events[-1]
    assert isinstance(last, Answered)
    assert last.message == Message(Role.ASSISTANT, "Hi.")
    assert last.stop is StopReason.END_TURN
    assert last.model == "m1"


async def test_text_streams_in_its_pieces_and_is_one_block() -> None:
    events = await events_of(ScriptedProvider([[say("Hel", "lo"), wait(1), say(" there")]]))
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Hel", "lo", " there"]
    assert isinstance(events[-1], Answered)
    assert events[-1].message.content == "Hello there"


async def test_calls_begin_and_complete_while_the_answer_goes_on() -> None:
    answer: Answer = [
        think("Hm."),
        say("One."),
        call("Read", {"path": "a"}),
        say("Two."),
        call("Read", call_id="x"),
    ]
    events = await events_of(ScriptedProvider([answer]))
    assert kinds(events) == [
        "AnswerStarted",
        "ReasoningDelta",
        "TextDelta",
        "CallStarted",
        "CallCompleted",
        "TextDelta",
        "CallStarted",
        "CallCompleted",
        "Answered",
    ]
    last = events[-1]
    assert isinstance(last, Answered)
    assert last.stop is StopReason.TOOL_USE
    assert isinstance(last.message.content, tuple)
    thought, *said = last.message.content
    assert isinstance(thought, ReasoningBlock)
    assert (thought.text, thought.model) == ("Hm.", "m1")
    assert thought.signature
    assert said == [TextBlock("One."), TextBlock("Two.")]
    first, second = last.message.tool_calls
    assert (first.name, first.input, first.after_block) == ("Read", {"path": "a"}, 2)
    assert second == ToolCall("x", "Read", {})


async def test_an_answer_of_calls_alone_has_no_content() -> None:
    answer = await answer_of(ScriptedProvider([call("Read", {"path": "a"})]))
    assert answer.message.content is None
    assert len(answer.message.tool_calls) == 1


async def test_made_up_call_ids_differ_within_and_between_answers() -> None:
    provider = ScriptedProvider([[call("Read"), call("Read")], [call("Read")]])
    calls = [*(await answer_of(provider)).message.tool_calls, *(await answer_of(provider)).message.tool_calls]
    assert len({made.id for made in calls}) == 3


@pytest.mark.parametrize("raw", ['{"path": ', "[1]", "null"])
async def test_arguments_that_are_no_object_are_kept_as_text(raw: str) -> None:
    made = (await answer_of(ScriptedProvider([call("Read", raw=raw)]))).message.tool_calls[0]
    assert (made.input, made.invalid_json) == ({}, raw)


async def test_a_cut_call_never_completes_and_stops_by_the_limit() -> None:
    events = await events_of(ScriptedProvider([[call("Read"), cut_call("Read", '{"pa', call_id="cut")]]))
    assert kinds(events) == ["AnswerStarted", "CallStarted", "CallCompleted", "CallStarted", "Answered"]
    last = events[-1]
    assert isinstance(last, Answered)
    assert (last.stop, last.cut_calls) == (StopReason.MAX_TOKENS, ("cut",))


async def test_a_text_can_be_cut_by_the_limit() -> None:
    assert (await answer_of(ScriptedProvider([["Once upon", stop(StopReason.MAX_TOKENS)]]))).stop is (
        StopReason.MAX_TOKENS
    )


async def test_usage_is_reported_as_scripted_or_estimated_from_the_request() -> None:
    scripted = await answer_of(ScriptedProvider([["Hi.", report(100, 7, cache_read_tokens=50)]]))
    assert scripted.usage == Usage(100, cache_read_tokens=50, output_tokens=7)
    short = (await answer_of(ScriptedProvider(["Hi."]))).usage
    long = (await answer_of(ScriptedProvider(["Hi."]), asked("x" * 300))).usage
    assert long.total_input_tokens - short.total_input_tokens == pytest.approx(100, abs=3)
    assert short.output_tokens == 1


async def test_a_record_is_json_text() -> None:
    assert (await answer_of(ScriptedProvider([record({"title": "Türen"})]))).message.content == (
        '{"title": "Türen"}'
    )


async def test_an_empty_answer_is_an_answer() -> None:
    events = await events_of(ScriptedProvider([[]]))
    assert kinds(events) == ["AnswerStarted", "Answered"]
    assert isinstance(events[-1], Answered)
    assert events[-1].message.content == ""


async def test_a_wait_at_the_head_passes_before_the_request_is_accepted() -> None:
    provider = ScriptedProvider([[wait(30), say("Late.")]])
    start = anyio.current_time()
    async with provider.stream(asked()) as stream:
        assert anyio.current_time() - start == pytest.approx(30)
        assert isinstance(await anext(stream), AnswerStarted)


async def test_a_wait_in_the_middle_passes_between_the_events() -> None:
    provider = ScriptedProvider([[say("One."), wait(30), call("Read", takes_s=12)]])
    start = anyio.current_time()
    at: dict[str, float] = {}
    async with provider.stream(asked()) as stream:
        async for event in stream:
            at[type(event).__name__] = anyio.current_time() - start
    assert at["TextDelta"] == pytest.approx(0)
    assert at["CallStarted"] == pytest.approx(30)
    assert at["CallCompleted"] == pytest.approx(42)


async def test_an_answer_can_begin_long_before_its_first_word() -> None:
    async with ScriptedProvider([[begin(), wait(60), say("At last.")]]).stream(asked()) as stream:
        start = anyio.current_time()
        await anext(stream)
        assert anyio.current_time() == start
        await anext(stream)
        assert anyio.current_time() - start == pytest.approx(60)


async def test_an_answer_stands_still_until_the_test_goes_on() -> None:
    gate = anyio.Event()
    seen: list[ModelEvent] = []

    async def read() -> None:
        async with ScriptedProvider([[say("One."), wait_for(gate), say("Two.")]]).stream(asked()) as stream:
            seen.extend([event async for event in stream if isinstance(event, TextDelta)])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.sleep(100)
        assert seen == []
        gate.set()
    assert len(seen) == 2


async def test_a_failure_at_the_head_comes_instead_of_an_answer() -> None:
    provider = ScriptedProvider([[wait(2), fail(RateLimited("slow down", retry_after_s=9))], "Now."])
    with pytest.raises(RateLimited, match="slow down") as caught:
        await events_of(provider)
    assert caught.value.retry_after_s == 9
    assert (await answer_of(provider)).message.content == "Now."


async def test_a_failure_in_the_middle_comes_after_what_was_said() -> None:
    async with ScriptedProvider([[say("Half"), fail(StreamBroken("gone"))]]).stream(asked()) as stream:
        assert kinds([await anext(stream), await anext(stream)]) == ["AnswerStarted", "TextDelta"]
        with pytest.raises(StreamBroken, match="gone"):
            await anext(stream)


async def test_one_scripted_error_raised_twice_is_two_errors() -> None:
    provider = ScriptedProvider(always(fail(ServerFailed("down", status=529))))
    caught = []
    for _ in range(2):
        with pytest.raises(ServerFailed) as info:
            await events_of(provider)
        caught.append(info.value)
    assert caught[0] is not caught[1]
    assert caught[1].status == 529


async def test_nothing_can_stand_behind_a_failure() -> None:
    with pytest.raises(ValueError, match="ends with its failure"):
        await events_of(ScriptedProvider([[fail(StreamBroken("x")), say("never")]]))


async def test_a_script_that_is_used_up_says_so() -> None:
    provider = ScriptedProvider(["One.", "Two."], name="fake")
    await answer_of(provider)
    await answer_of(provider)
    with pytest.raises(ScriptExhausted, match=r"fake: .*2 answers.*request 3"):
        await events_of(provider)


def test_one_text_is_not_a_script() -> None:
    with pytest.raises(TypeError, match="sequence of answers"):
        ScriptedProvider("Hello")


async def test_a_function_answers_by_the_request() -> None:
    def echo(request: Request) -> str:
        return f"You said {request.messages[-1].content}"

    assert (await answer_of(ScriptedProvider(echo), asked("no"))).message.content == "You said no"


async def test_one_answer_of_many_can_be_made_from_its_request() -> None:
    provider = ScriptedProvider(["One.", lambda request: f"{len(request.messages)} messages", "Three."])
    said = [(await answer_of(provider)).message.content for _ in range(3)]
    assert said == ["One.", "2 messages", "Three."]


async def test_a_test_can_wait_for_a_request() -> None:
    provider = ScriptedProvider(always([wait(5), say("Yes.")]))
    first, second = asked("1"), asked("2")
    seen: list[Request] = []

    async def watch() -> None:
        seen.append(await provider.until_asked(2))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        await answer_of(provider, first)
        assert seen == []
        await answer_of(provider, second)
        assert seen == [second]
    assert await provider.until_asked() is first


async def test_agents_that_share_a_provider_follow_their_own_routes() -> None:
    provider = ScriptedProvider(
        routes(
            ("page on doors", [[wait(5), say("Doors open.")]]),
            ("page on windows", [[wait(1), say("Windows shut.")]]),
            (lambda request: request.model == "big", ["I am big."]),
            (otherwise, always("Yes.")),
        )
    )
    said: list[object] = []

    async def ask(request: Request) -> None:
        said.append((await answer_of(provider, request)).message.content)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, asked("Read the page on doors"))
        tasks.start_soon(ask, asked(system="You read the page on windows"))
        tasks.start_soon(ask, asked("Both?"))
        tasks.start_soon(ask, Request("big", (Message(Role.USER, "Hello"),)))
    assert set(said[:2]) == {"Yes.", "I am big."}
    assert said[2:] == ["Windows shut.", "Doors open."]


async def test_what_a_model_or_tool_says_chooses_no_route() -> None:
    called = ToolCall("c1", "Read", {"path": "page on doors"})
    request = Request(
        "m1",
        (
            Message(Role.USER, "Go."),
            Message(Role.ASSISTANT, "the page on doors", (called,)),
            Message(Role.TOOL, "page on doors", tool_call_id="c1", tool_name="Read"),
        ),
        tools=TOOLS,
    )
    provider = ScriptedProvider(routes(("page on doors", ["wrong"]), (otherwise, ["right"])))
    assert (await answer_of(provider, request)).message.content == "right"


async def test_a_request_without_a_route_names_the_routes() -> None:
    with pytest.raises(ScriptExhausted, match=r"no route fits.*Hello\?.*'doors'"):
        await events_of(ScriptedProvider(routes(("doors", ["x"]))))


async def test_a_route_that_is_used_up_is_named() -> None:
    with pytest.raises(ScriptExhausted, match=r"route 'Hello'.*0 answers"):
        await events_of(ScriptedProvider(routes(("Hello", []))))


async def test_every_request_is_recorded() -> None:
    provider = ScriptedProvider(always("Yes."))
    first, second = asked("1"), asked("2")
    await answer_of(provider, first)
    await answer_of(provider, second)
    assert provider.requests == (first, second)


def unanswered_call() -> Request:
    made = ToolCall("c1", "Read", {"path": "a"})
    return Request(
        "m1",
        (Message(Role.USER, "Go."), Message(Role.ASSISTANT, None, (made,)), Message(Role.USER, "And?")),
        tools=TOOLS,
    )


@pytest.mark.parametrize("dialect", list(Dialect))
async def test_an_illegal_request_is_refused_in_every_dialect(dialect: Dialect) -> None:
    provider = ScriptedProvider(["never"], dialects=[dialect])
    with pytest.raises(IllegalRequest, match=rf"request 1; {dialect}: .+ at message \d"):
        await events_of(provider, unanswered_call())
    assert len(provider.requests) == 1


async def test_a_refused_request_takes_no_answer() -> None:
    provider = ScriptedProvider(["The first."])
    with pytest.raises(IllegalRequest):
        await events_of(provider, unanswered_call())
    assert (await answer_of(provider)).message.content == "The first."


async def test_what_it_answers_can_be_sent_back() -> None:
    provider = ScriptedProvider(
        [[think("Hm."), say("One."), call("Read"), say("Two."), call("Read")], "Done."]
    )
    first = asked()
    answer = (await answer_of(provider, first)).message
    results = [
        Message(Role.TOOL, "text", tool_call_id=made.id, tool_name=made.name) for made in answer.tool_calls
    ]
    again = Request("m1", (*first.messages, answer, *results), tools=TOOLS)
    assert (await answer_of(provider, again)).message.content == "Done."


async def test_leaving_early_or_by_cancellation_leaves_nothing_open() -> None:
    provider = ScriptedProvider(always([say("One."), wait(1_000), say("Two.")]))
    async with provider.stream(asked()) as stream:
        await anext(stream)
        assert provider.n_open == 1
    assert provider.n_open == 0
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    with anyio.move_on_after(10) as scope:
        await events_of(provider)
    assert scope.cancelled_caught
    assert provider.n_open == 0


async def test_cancelling_before_the_first_event_leaves_nothing_open() -> None:
    provider = ScriptedProvider([[wait(1_000), say("Late.")]])
    with anyio.move_on_after(10) as scope:
        await events_of(provider)
    assert scope.cancelled_caught
    assert provider.n_open == 0


async def test_every_event_is_a_place_to_be_cancelled() -> None:
    provider = ScriptedProvider(always(say(*"abcdef")))
    n_events = len(await events_of(provider))
    for stop_after in range(n_events):
        seen = 0
        with anyio.CancelScope() as scope:
            async with provider.stream(asked()) as stream:
                async for _ in stream:
                    if seen == stop_after:
                        scope.cancel()
                    seen += 1
        assert seen == stop_after + 1, "the stream went on after it was cancelled"
        assert provider.n_open == 0


def test_the_profile_of_the_fake_takes_everything() -> None:
    assert SCRIPTED_PROFILE.tools
    assert SCRIPTED_PROFILE.mid_conversation_system


async def test_events_of_a_call_carry_its_id() -> None:
    events = await events_of(ScriptedProvider([call("Read", {"path": "a"}, call_id="c7")]))
    assert CallStarted("c7", "Read") in events
    assert CallCompleted(ToolCall("c7", "Read", {"path": "a"})) in events
    assert not any(isinstance(event, ReasoningDelta) for event in events)
