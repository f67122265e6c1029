from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue

from actors.errors import BadInput, LogFailed, ToolInputInvalid
from actors.history import ResultStatus
from actors.ports import PermissionAnswer
from actors.tools import Batch, CallPhase, CallResult, Tool, ToolContext, ToolOutput, builtin_tools, run_calls
from providers.model import ImageBlock, TextBlock, ToolCall
from tests.actors.tools.fakes import FakeHost, context_in

OK, ERROR, DENIED = ResultStatus.OK, ResultStatus.ERROR, ResultStatus.DENIED
NOT_STARTED, INTERRUPTED = ResultStatus.NOT_STARTED, ResultStatus.INTERRUPTED
CANCELLED = ResultStatus.CANCELLED


@dataclass
class World:
    """Fake tools that take virtual time, and everything that the scheduler did with them."""

    lines: list[str] = field(default_factory=list)
    host: FakeHost | None = None
    n_running: int = 0
    most_running: int = 0

    def tool(self, name: str, *, reads: bool = False, joins: bool = False) -> Tool:
        async def run(context: ToolContext, sent: JsonValue) -> ToolOutput:
            assert isinstance(sent, dict)
            self.n_running += 1
            self.most_running = max(self.most_running, self.n_running)
            try:
                await anyio.sleep(float(str(sent.get("s", 1))))
            finally:
                self.n_running -= 1
            if "raise" in sent:
                raise {"bad": BadInput("there is no such file"), "bug": KeyError("x")}[str(sent["raise"])]
            return ToolOutput(str(sent.get("say", context.call_id)))

        return Tool(name, "", {"type": "object"}, run, is_read_only=reads, is_parallel_safe=joins)

    @property
    def tools(self) -> dict[str, Tool]:
        return {
            "read": self.tool("read", reads=True),
            "write": self.tool("write"),
            "spawn": self.tool("spawn", joins=True),
        }

    async def decide(self, call: ToolCall, tool: Tool) -> PermissionAnswer:
        assert isinstance(call.input, dict)
        if "ask_s" in call.input:
            await anyio.sleep(float(str(call.input["ask_s"])))
        return PermissionAnswer("deny" not in call.input, str(call.input.get("deny", "")))

    async def on_started(self, call_ids: tuple[str, ...]) -> None:
        await anyio.sleep(0.001)
        self.lines.append(f"logged {','.join(call_ids)}")

    def on_event(self, call: ToolCall, phase: CallPhase, result: CallResult | None) -> None:
        assert (result is None) == (phase is CallPhase.BEGAN)
        self.lines.append(f"{call.id} {phase}")

    def batch(
        self,
        calls: Iterable[ToolCall] = (),
        *,
        closed: bool = True,
        tools: dict[str, Tool] | None = None,
        deadline_s: float | None = None,
    ) -> Batch:
        batch = Batch(
            tools or self.tools,
            context_for=self.context_for,
            decide=self.decide,
            on_started=self.on_started,
            on_event=self.on_event,
            deadline_s=deadline_s,
        )
        for call in calls:
            batch.add(call)
        if closed:
            batch.close()
        return batch

    def context_for(self, call: ToolCall) -> ToolContext:
        context = context_in(Path("/"), self.host)
        context.call_id = call.id
        return context


def calls(*given: tuple[str, dict[str, JsonValue]]) -> list[ToolCall]:
    return [ToolCall(f"c{number}", name, sent) for number, (name, sent) in enumerate(given, 1)]


def statuses(results: Iterable[CallResult]) -> list[ResultStatus]:
    return [result.status for result in results]


async def test_parallel_calls_that_finish_4_2_3_1_give_results_in_call_order() -> None:
    world = World()
    results = await world.batch(
        calls(("read", {"s": 4}), ("read", {"s": 2}), ("read", {"s": 3}), ("read", {"s": 1}))
    ).run()
    finished = [line for line in world.lines if line.endswith("finished")]
    assert finished == ["c4 finished", "c2 finished", "c3 finished", "c1 finished"]
    assert [result.content for result in results] == ["c1", "c2", "c3", "c4"]
    assert [result.duration_s for result in results] == pytest.approx([4, 2, 3, 1])
    assert world.most_running == 4


async def test_a_failed_and_a_denied_call_do_not_stop_the_others() -> None:
    world = World()
    results = await world.batch(
        calls(
            ("read", {"raise": "bug"}),
            ("read", {"deny": "not on Sundays"}),
            ("read", {"raise": "bad"}),
            ("read", {}),
            ("write", {"raise": "bug"}),
            ("write", {}),
        )
    ).run()
    assert statuses(results) == [ERROR, DENIED, ERROR, OK, ERROR, OK]
    assert results[0].content == "KeyError: 'x'"
    assert "denied: not on Sundays" in str(results[1].content)
    assert results[2].content == "there is no such file"
    assert "c2 began" not in world.lines
    assert "c2 finished" in world.lines


async def test_calls_with_effects_are_alone_and_in_order() -> None:
    world = World()
    began = anyio.current_time()
    await world.batch(
        calls(("read", {}), ("read", {}), ("write", {}), ("write", {}), ("read", {}), ("read", {}))
    ).run()
    assert anyio.current_time() - began == pytest.approx(4, abs=0.1)
    middle = [line for line in world.lines if line[:2] in ("c3", "c4", "lo")]
    assert middle == [
        "logged c3",
        "c3 began",
        "c3 finished",
        "logged c4",
        "c4 began",
        "c4 finished",
    ]
    assert world.lines.index("c3 began") > world.lines.index("c2 finished")
    assert world.lines.index("c5 began") > world.lines.index("c4 finished")


async def test_at_most_ten_run_at_once_in_a_window_that_slides() -> None:
    world = World()
    began = anyio.current_time()
    short: list[tuple[str, dict[str, JsonValue]]] = [("read", {"s": 1})]
    await world.batch(calls(("read", {"s": 10}), *short * 18)).run()
    assert world.most_running == 10
    assert world.lines[:10] == [f"c{number} began" for number in range(1, 11)]
    # Groups of ten would take 11 s: the second would wait for the slowest of the first.
    assert anyio.current_time() - began == pytest.approx(10, abs=0.1)


async def test_a_call_declared_safe_joins_others_and_is_logged_first() -> None:
    world = World()
    began = anyio.current_time()
    await world.batch(calls(("spawn", {}), ("read", {}), ("spawn", {}))).run()
    assert anyio.current_time() - began == pytest.approx(1, abs=0.1)
    assert {"logged c1", "logged c3"} <= set(world.lines)
    assert "logged c2" not in world.lines
    assert world.lines.index("logged c1") < world.lines.index("c1 began")


async def test_waiting_for_permission_takes_no_place_from_calls_that_need_none() -> None:
    world = World()
    asking: list[tuple[str, dict[str, JsonValue]]] = [("read", {"ask_s": 100})] * 12
    batch = world.batch(calls(*asking, *[("read", {})] * 3))
    async with anyio.create_task_group() as group:
        group.start_soon(batch.run)
        await anyio.sleep(5)
        assert {"c13 finished", "c14 finished", "c15 finished"} <= set(world.lines)
        assert "c1 began" not in world.lines


async def test_what_cannot_run_is_told_in_words_that_help() -> None:
    world = World()

    def picky(sent: JsonValue) -> None:
        raise ToolInputInvalid("- path: expected a value")

    fussy = Tool("fussy", "", {}, world.tools["read"].run, check=picky)
    results = await world.batch(
        [
            ToolCall("c1", "raed", {}),
            ToolCall("c2", "read", {}, invalid_json='{"path": "a'),
            ToolCall("c3", "fussy", {}),
            ToolCall("c4", "write", {}, invalid_json="[1]"),
            ToolCall("c5", "read", {}, invalid_json="x" * 100_000),
        ],
        tools={**world.tools, "fussy": fussy},
    ).run()
    assert statuses(results) == [ERROR] * 5
    texts = [str(result.content) for result in results]
    assert "no tool named 'raed'. Did you mean read? The tools are: fussy, read, spawn, write." in texts[0]
    assert "not valid JSON: Unterminated string" in texts[1]
    assert '{"path": "a' in texts[1]
    assert texts[2] == "- path: expected a value"
    assert "expected one JSON object" in texts[3]
    assert len(texts[4]) < 1_000
    assert not [line for line in world.lines if "began" in line or "logged" in line]


async def test_nobody_is_asked_about_a_call_that_cannot_run() -> None:
    world = World()

    async def decide(call: ToolCall, tool: Tool) -> PermissionAnswer:
        raise AssertionError("asked")

    results = await run_calls(
        [ToolCall("c1", "read", {}, invalid_json="{"), ToolCall("c2", "gone", {})],
        world.tools,
        context_for=world.context_for,
        decide=decide,
        on_started=world.on_started,
    )
    assert statuses(results) == [ERROR, ERROR]


MIXED: tuple[tuple[str, dict[str, JsonValue]], ...] = (
    ("read", {"s": 1}),
    ("read", {"s": 3}),
    ("read", {"s": 2, "ask_s": 1}),
    ("write", {"s": 2, "ask_s": 1}),
    ("spawn", {"s": 2}),
    ("read", {"s": 1}),
)


@pytest.mark.parametrize("at_s", [number / 4 for number in range(36)])
async def test_cancelled_at_any_time_every_call_has_one_truthful_result(at_s: float) -> None:
    world = World()
    batch = world.batch(calls(*MIXED))
    with anyio.move_on_after(at_s + 0.0005):
        await batch.run()
    assert world.n_running == 0
    results = batch.results_after_cancel()
    assert [result.call.id for result in results] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    for result in results:
        began = f"{result.call.id} began" in world.lines
        finished = f"{result.call.id} finished" in world.lines
        reads = result.call.name == "read"
        stopped = CANCELLED if reads else INTERRUPTED
        assert result.status is (OK if finished else stopped if began else NOT_STARTED)
        assert result.content
        if began and not reads:
            assert f"logged {result.call.id}" in world.lines


async def test_cancelled_before_it_ran_nothing_was_started() -> None:
    world = World()
    batch = world.batch(calls(*MIXED))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await batch.run()
    assert statuses(batch.results_after_cancel()) == [NOT_STARTED] * 6


async def test_a_call_cancelled_while_its_start_is_logged_has_not_begun() -> None:
    world = World()
    batch = world.batch(calls(("write", {})))
    with anyio.move_on_after(0.0005):
        await batch.run()
    assert statuses(batch.results_after_cancel()) == [NOT_STARTED]


async def test_an_error_raised_by_a_tool_while_it_is_cancelled_does_not_hide_the_cancellation() -> None:
    async def untidy(context: ToolContext, sent: JsonValue) -> ToolOutput:
        async with anyio.create_task_group() as group:
            group.start_soon(_fail_when_cancelled)
            await anyio.sleep_forever()
        raise AssertionError

    async def _fail_when_cancelled() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError("while closing")

    batch = World().batch(calls(("untidy", {})), tools={"untidy": Tool("untidy", "", {}, untidy)})
    with anyio.move_on_after(1) as scope:
        await batch.run()
        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert batch.results_after_cancel()[0].status in (INTERRUPTED, ERROR)


async def test_errors_of_a_tools_own_tasks_are_told_one_by_one() -> None:
    async def fail(context: ToolContext, sent: JsonValue) -> ToolOutput:
        raise ExceptionGroup("two", [KeyError("x"), BadInput("no such file")])

    results = await World().batch(calls(("f", {})), tools={"f": Tool("f", "", {}, fail)}).run()
    assert (results[0].status, results[0].content) == (ERROR, "KeyError: 'x'\nno such file")


async def test_a_call_over_its_deadline_is_stopped_and_the_next_runs() -> None:
    world = World()
    results = await world.batch(
        calls(("read", {"s": 9}), ("write", {"s": 9}), ("write", {"s": 1})), deadline_s=2
    ).run()
    assert statuses(results) == [CANCELLED, INTERRUPTED, OK]
    assert "Not finished after 2 s" in str(results[1].content)


async def test_there_is_no_deadline_by_default() -> None:
    assert statuses(await World().batch(calls(("read", {"s": 10_000_000}))).run()) == [OK]


async def test_a_log_that_fails_ends_the_run_with_its_own_error() -> None:
    world = World()

    async def refuse(call_ids: tuple[str, ...]) -> None:
        raise LogFailed("disk full")

    batch = Batch(world.tools, context_for=world.context_for, decide=world.decide, on_started=refuse)
    for call in calls(("read", {}), ("write", {}), ("read", {})):
        batch.add(call)
    batch.close()
    with pytest.raises(LogFailed, match="disk full"):
        await batch.run()
    assert statuses(batch.results_after_cancel()) == [OK, NOT_STARTED, NOT_STARTED]


async def test_reading_calls_begin_while_the_answer_is_still_written() -> None:
    world = World()
    batch = world.batch(closed=False)
    given = calls(("read", {}), ("spawn", {}), ("write", {}), ("read", {}))
    results: list[CallResult] = []

    async def run() -> None:
        results.extend(await batch.run())

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        for call in given:
            await anyio.sleep(2)
            batch.add(call)
        await anyio.sleep(2)
        # An early start is logged; what has effects waits for the end, and all behind it too.
        assert world.lines == ["logged c1", "c1 began", "c1 finished"]
        batch.close()
    assert statuses(results) == [OK] * 4
    assert world.lines.index("c3 began") > world.lines.index("c2 finished")


async def test_an_answer_that_breaks_off_leaves_only_what_had_begun() -> None:
    world = World()
    batch = world.batch(calls(("read", {"s": 1}), ("read", {"s": 9}), ("write", {})), closed=False)
    with anyio.move_on_after(3):
        await batch.run()
    assert statuses(batch.results_after_cancel()) == [OK, CANCELLED, NOT_STARTED]


async def test_a_batch_without_calls_ends_when_it_is_closed() -> None:
    assert await World().batch().run() == ()


async def test_a_call_after_the_end_of_the_answer_is_refused() -> None:
    batch = World().batch()
    with pytest.raises(RuntimeError, match="'c9'"):
        batch.add(ToolCall("c9", "read", {}))


async def test_two_calls_with_one_id_have_two_results() -> None:
    results = await World().batch([ToolCall("c", "read", {"say": word}) for word in ("a", "b")]).run()
    assert [result.content for result in results] == ["a", "b"]


async def test_a_long_result_goes_to_the_artifact_store_if_it_can_be_read_there() -> None:
    world = World(host=FakeHost())
    assert world.host is not None
    long = calls(("read", {"say": "x" * 40_000}))
    whole = await world.batch(long).run()
    assert whole[0].content == "x" * 40_000
    short = await world.batch(long, tools=builtin_tools() | world.tools).run()
    assert len(str(short[0].content)) < 15_000
    assert list(world.host.artifacts.values()) == [b"x" * 40_000]


@pytest.mark.parametrize("is_block", [False, True])
async def test_half_a_surrogate_pair_in_a_result_is_replaced(is_block: bool) -> None:
    image = ImageBlock("image/png", "data:")

    async def odd(context: ToolContext, sent: JsonValue) -> ToolOutput:
        text = "a\ud800b \ud83d\ude00"
        return ToolOutput((TextBlock(text), image) if is_block else text)

    results = await World().batch(calls(("odd", {})), tools={"odd": Tool("odd", "", {}, odd)}).run()
    wanted = "a\N{REPLACEMENT CHARACTER}b 😀"
    assert results[0].content == ((TextBlock(wanted), image) if is_block else wanted)


async def test_a_tool_that_cancels_itself_is_told_as_interrupted(anyio_backend_name: str) -> None:
    if anyio_backend_name != "asyncio":
        pytest.skip("trio has no way to do this")
    import asyncio

    async def odd(context: ToolContext, sent: JsonValue) -> ToolOutput:
        raise asyncio.CancelledError

    world = World()
    tools = {"odd": Tool("odd", "", {}, odd), **world.tools}
    batch = world.batch(calls(("odd", {}), ("read", {})), tools=tools)
    assert statuses(await batch.run()) == [INTERRUPTED, OK]
    assert "c1 finished" in world.lines
