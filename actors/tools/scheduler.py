"""Runs the calls of one answer: reading ones side by side, any other alone, one result for each.

A call goes through: checked → allowed → announced → run. Only the last step
can have effects, so a call that was stopped before it is told as not started.
"""

import difflib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import anyio
from anyio.abc import TaskGroup, TaskStatus

from actors.history import ResultStatus
from actors.ports import PermissionAnswer
from actors.tools.model import Tool, ToolContext, ToolOutput
from actors.tools.outcome import failure_text, stopped_content, well_formed
from actors.tools.result import LIMIT_CHARACTERS, READER_NAME, bounded
from providers.model import Block, ToolCall

MAX_PARALLEL = 10
_SHOWN_CHARACTERS = 300


class CallPhase(StrEnum):
    """`began`: the tool runs now. `finished`: there is a result, whether or not it ran."""

    BEGAN = "began"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call. `duration_s` counts from its permission to its end."""

    call: ToolCall
    status: ResultStatus
    content: str | tuple[Block, ...]
    duration_s: float = 0.0


ContextFor: TypeAlias = Callable[[ToolCall], ToolContext]
Decide: TypeAlias = Callable[[ToolCall, Tool], Awaitable[PermissionAnswer]]
OnStarted: TypeAlias = Callable[[tuple[str, ...]], Awaitable[None]]
OnEvent: TypeAlias = Callable[[ToolCall, CallPhase, CallResult | None], None]


@dataclass(slots=True)
class _Slot:
    """One call on its way. `began_at` is None until its tool runs."""

    call: ToolCall
    tool: Tool | None
    began_at: float | None = None
    result: CallResult | None = None

    @property
    def may_join(self) -> bool:
        """Beside others: it reads, is declared safe, or names no tool and so cannot run."""
        return self.tool is None or self.tool.is_read_only or self.tool.is_parallel_safe


class Batch:
    """The calls of one answer, taken one by one while the model may still write.

    `add` each call, `close` when the answer is whole and stored, and `run`
    meanwhile or afterwards. Before `close` only read-only calls begin.
    `on_started` is awaited before a call begins that may have effects, or
    that begins before `close`; what it raises ends the run. `decide` is asked
    once for every call whose arguments fit; neighbours that may run side by
    side do not wait for each other's answers. `on_event` must not block.

    Results over `limit_characters` go to the artifact store, where the
    context has one and ReadArtifact is among the tools.

    When `run` is cancelled or raises, `results_after_cancel` gives the same
    list that it would have returned.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        context_for: ContextFor,
        decide: Decide,
        on_started: OnStarted,
        on_event: OnEvent = lambda call, phase, result: None,
        max_parallel: int = MAX_PARALLEL,
        deadline_s: float | None = None,
        limit_characters: int = LIMIT_CHARACTERS,
    ) -> None:
        self._tools = tools
        self._context_for = context_for
        self._decide = decide
        self._on_started = on_started
        self._on_event = on_event
        self._deadline_s = deadline_s
        self._limit_characters = limit_characters
        self._running = anyio.Semaphore(max_parallel)
        self._slots: list[_Slot] = []
        self._n_dealt_out = 0
        self._bell = anyio.Event()
        self._closed = anyio.Event()
        self._failure: Exception | None = None

    def add(self, call: ToolCall) -> None:
        """One more call, behind those already there."""
        if self._closed.is_set():
            raise RuntimeError(f"the call {call.id!r} came after its batch was closed")
        self._slots.append(_Slot(call, self._tools.get(call.name)))
        self._ring()

    def close(self) -> None:
        """No call comes any more, and those with effects may begin."""
        self._closed.set()
        self._ring()

    async def run(self) -> tuple[CallResult, ...]:
        """The results in call order, once the batch is closed and every call has ended.

        Raises:
            Exception: what the host's part raised (`decide`, `on_started`, the artifact store);
                never what a tool raised.
        """
        while (slot := await self._peek()) is not None:
            async with anyio.create_task_group() as group:
                if slot.may_join:
                    await self._start_neighbours(group)
                else:
                    await self._closed.wait()
                    await self._start_next(group)
            if self._failure is not None:
                raise self._failure
        for slot in self._slots:
            if slot.result is None:  # a tool cancelled itself (asyncio lets it)
                self._finish(slot, _stopped(slot))
        return self.results_after_cancel()

    def results_after_cancel(self) -> tuple[CallResult, ...]:
        """One result for every call, now that nothing of the batch runs any more.

        What had ended keeps its result. What ran is `interrupted`, or
        `cancelled` if it only reads; what had not begun is `not_started`.
        """
        return tuple(slot.result or _stopped(slot) for slot in self._slots)

    def _ring(self) -> None:
        self._bell.set()
        self._bell = anyio.Event()

    async def _peek(self) -> _Slot | None:
        """The next call to start; None when there is none and none can come."""
        while self._n_dealt_out == len(self._slots):
            if self._closed.is_set():
                return None
            await self._bell.wait()
        return self._slots[self._n_dealt_out]

    async def _start_neighbours(self, group: TaskGroup) -> None:
        while (slot := await self._peek()) is not None and slot.may_join:
            await self._start_next(group)

    async def _start_next(self, group: TaskGroup) -> None:
        slot = self._slots[self._n_dealt_out]
        self._n_dealt_out += 1
        # Not start_soon: trio begins tasks in no order, and the window slides in call order.
        await group.start(self._bring_to_end, slot, group, name=f"tool call {slot.call.name}")

    async def _bring_to_end(self, slot: _Slot, group: TaskGroup, *, task_status: TaskStatus[None]) -> None:
        task_status.started()
        try:
            self._finish(slot, await self._result(slot))
        except Exception as exc:  # noqa: BLE001 - of the host, not of a tool: `run` raises it, bare
            self._failure = self._failure or exc
            group.cancel_scope.cancel()

    def _finish(self, slot: _Slot, result: CallResult) -> None:
        slot.result = result
        self._on_event(slot.call, CallPhase.FINISHED, result)

    async def _result(self, slot: _Slot) -> CallResult:
        call, tool = slot.call, slot.tool
        complaint = self._complaint(call, tool)
        if tool is None or complaint is not None:
            return CallResult(call, ResultStatus.ERROR, complaint or "")
        if not tool.is_read_only:
            await self._closed.wait()
        answer = await self._decide(call, tool)
        if not answer.is_allowed:
            return CallResult(call, ResultStatus.DENIED, _denial(call, answer))
        async with self._running:
            if not (tool.is_read_only and self._closed.is_set()):
                await self._on_started((call.id,))
            context = self._context_for(call)
            slot.began_at = began_at = anyio.current_time()
            self._on_event(call, CallPhase.BEGAN, None)
            output = await self._output(tool, context, call)
            with anyio.CancelScope(shield=True):  # the call has had its effects: its result counts
                content = await self._kept(well_formed(output.content), context)
            return CallResult(call, output.status, content, anyio.current_time() - began_at)

    async def _kept(self, content: str | tuple[Block, ...], context: ToolContext) -> str | tuple[Block, ...]:
        """What the history keeps of it; all of it for an agent that could not open a reference."""
        if context.services is None or READER_NAME not in self._tools:
            return content
        return await bounded(content, context.services.artifacts, limit_characters=self._limit_characters)

    def _complaint(self, call: ToolCall, tool: Tool | None) -> str | None:
        """Why this call cannot run, in words for the model; None if it can."""
        if tool is None:
            return _unknown(call.name, self._tools)
        if call.invalid_json is not None:
            return _not_json(call.name, call.invalid_json)
        try:
            tool.check(call.input)
        except Exception as exc:  # noqa: BLE001 - a tool's own check may raise anything; the model is told
            return failure_text(exc)
        return None

    async def _output(self, tool: Tool, context: ToolContext, call: ToolCall) -> ToolOutput:
        with anyio.move_on_after(self._deadline_s) as scope:
            try:
                return await tool.run(context, call.input)
            except Exception as exc:  # noqa: BLE001 - a tool may raise anything; the model is told
                return ToolOutput(failure_text(exc), ResultStatus.ERROR)
            except BaseExceptionGroup as group:
                # Errors raised while a tool is being cancelled must not replace the cancellation.
                if group.subgroup((KeyboardInterrupt, SystemExit)) is not None:
                    raise
                await anyio.lowlevel.checkpoint()
                return ToolOutput(failure_text(group), ResultStatus.ERROR)
        if scope.cancelled_caught:
            return _overdue(tool, self._deadline_s)
        raise AssertionError("a call ends with an output, an error, or its deadline")


async def run_calls(
    calls: Iterable[ToolCall],
    tools: Mapping[str, Tool],
    *,
    context_for: ContextFor,
    decide: Decide,
    on_started: OnStarted,
    on_event: OnEvent = lambda call, phase, result: None,
    max_parallel: int = MAX_PARALLEL,
    deadline_s: float | None = None,
) -> tuple[CallResult, ...]:
    """The results of calls that are all known already; on cancellation they are lost (see Batch)."""
    batch = Batch(
        tools,
        context_for=context_for,
        decide=decide,
        on_started=on_started,
        on_event=on_event,
        max_parallel=max_parallel,
        deadline_s=deadline_s,
    )
    for call in calls:
        batch.add(call)
    batch.close()
    return await batch.run()


def _stopped(slot: _Slot) -> CallResult:
    if slot.began_at is None:
        status = ResultStatus.NOT_STARTED
    elif slot.tool is not None and slot.tool.is_read_only:
        status = ResultStatus.CANCELLED
    else:
        status = ResultStatus.INTERRUPTED
    return CallResult(slot.call, status, stopped_content(status))


def _overdue(tool: Tool, deadline_s: float | None) -> ToolOutput:
    status = ResultStatus.CANCELLED if tool.is_read_only else ResultStatus.INTERRUPTED
    return ToolOutput(f"Not finished after {deadline_s:g} s. {stopped_content(status)}", status)


def _denial(call: ToolCall, answer: PermissionAnswer) -> str:
    return (
        f"Permission to run {call.name} was denied: {answer.reason}\n"
        "The call did not run. Do not reach for the same effect in another way, and do not ask another agent "
        "to do it; go on without it, or say what you would need it for."
    )


def _unknown(name: str, tools: Mapping[str, Tool]) -> str:
    close = difflib.get_close_matches(name, tools, 1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"There is no tool named {name!r}.{hint} The tools are: {', '.join(sorted(tools)) or 'none'}."


def _not_json(name: str, text: str) -> str:
    try:
        json.loads(text)
        problem = "expected one JSON object"
    except ValueError as exc:
        problem = str(exc)
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return (
        f"The arguments of {name} are not valid JSON: {problem} ({len(text):,} characters came)."
        f" The call did not run; make it again with one JSON object. What came was:\n{shown}"
    )
