"""One turn: from the messages that start it to its end, step by step.

It ends when the model stops asking for tools, when a limit holds, when it
fails or when it is cancelled. However it ends, every call has a result, and
the log holds a `TurnEnded`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import assert_never

import anyio

from actors.anomaly import RepetitionWatch
from actors.asking import Asking, Frozen
from actors.calling import Calling
from actors.envelope import Envelope, EnvelopeId
from actors.errors import LogFailed
from actors.events import StepBegan, TurnBegan, turn_finished
from actors.goals import change_reminder
from actors.history import ReminderEntry
from actors.intake import Intake
from actors.nudge import CONTINUE, CUT, GO_ON, OVER_LIMIT, nudge
from actors.parts import Parts
from actors.progress import Progress
from actors.records import (
    EntriesAppended,
    TurnEnded,
    TurnId,
    TurnStarted,
    TurnStop,
)
from actors.reminders.plan_mode import plan_mode_reminder
from actors.results import Check, WantedResult
from actors.state import OpenTurn, answers_of, open_calls
from actors.tools import Tool, tool_order
from providers.errors import CallboardError
from providers.model import Answered, StopReason, ToolCall, text_of

MAX_CONTINUATIONS = 3


class Turn:
    """One turn of one agent. `begin` takes its input; `run` does the work and returns at its end.

    An `open_turn` of the log, cut off between an answer and the results of its
    calls, is not begun but reopened: `run` begins with these calls.
    """

    def __init__(
        self, parts: Parts, check_for: Callable[[EnvelopeId], Check], open_turn: OpenTurn | None = None
    ) -> None:
        self._parts = parts
        self._check_for = check_for
        self._open = open_turn
        self.id = TurnId(parts.services.ids.new("turn")) if open_turn is None else open_turn.turn_id
        self._progress = Progress(parts.limits)
        self._watch = RepetitionWatch()
        self.intake = Intake(parts, self.id)
        self._model_name = parts.agent.model
        self._frozen: Frozen | None = None
        self._wanted: WantedResult | None = None
        self._result_request: Envelope | None = None
        self._calling: Calling | None = None
        self._asking: Asking | None = None
        self._is_going_on = False
        self._failure: Exception | None = None
        self._n_continuations = 0
        self._text = ""
        self.stop: TurnStop | None = None

    # The whole

    def begin(self, envelopes: Sequence[Envelope]) -> None:
        """Takes the input, in one synchronous step: out of the mailbox, into the log."""
        parts = self._parts
        model = next((e.model for e in envelopes if e.model is not None), None)
        self._model_name = model or self._model_name
        self._result_request = next((e for e in envelopes if e.result_schema is not None), None)
        parts.on_turn_began()
        name = self._full_model_name()
        parts.ledger.submit(TurnStarted(self.id, name, parts.now_s()))
        self.intake.take(tuple(envelopes), mid_turn=False)
        parts.emit(TurnBegan(parts.name, self.id, name))

    def reopen(self) -> None:
        """Instead of `begin`: goes on with what an earlier host had begun, as far as the log tells."""
        parts, open_turn = self._parts, self._open
        assert open_turn is not None, "only an open turn is reopened"
        self._model_name = open_turn.model or self._model_name
        self._result_request = next((e for e in open_turn.envelopes if e.result_schema is not None), None)
        parts.on_turn_began()
        self.intake.reopen(open_turn.envelopes)
        answers = answers_of(parts.ledger.fold)
        self._progress.n_steps = len(answers)
        self._progress.n_calls = sum(len(answer.message.tool_calls) for answer in answers)
        for answer in answers:
            self._text = text_of(answer.message.content) or self._text
        self._prepare_open_calls(open_turn, ())
        parts.emit(TurnBegan(parts.name, self.id, open_turn.model))

    def _full_model_name(self) -> str:
        """The model's name with its provider; as it was asked for where there is no such model."""
        try:
            return self._parts.services.models.resolve(self._model_name).name
        except CallboardError:
            return self._model_name or ""

    async def run(self) -> None:
        """Works until the turn has ended and its end is submitted.

        Cancelling ends the turn as cancelled: what was said is kept, every
        call gets a result, and the cancellation goes on.

        Raises:
            LogFailed: the store takes no more records; the agent cannot go on.
        """
        stop, error = TurnStop.TIME_LIMIT, None
        try:
            with anyio.move_on_after(self._parts.limits.time_s):
                stop = await self._work()
        except anyio.get_cancelled_exc_class():
            self._close()
            self._end(TurnStop.CANCELLED, None)
            raise
        except LogFailed:
            raise
        except CallboardError as failure:
            self._failure = failure
            stop, error = TurnStop.FAILED, f"{type(failure).__name__}: {failure}"
        self._close()
        self._end(stop, error)

    async def _work(self) -> TurnStop:
        self._freeze()
        if self._open is not None and (stop := await self._go_on(self._open)) is not None:
            return stop
        while (reached := self._progress.reached()) is None:
            self._progress.n_steps += 1
            if self._progress.n_steps > 1 and self.intake.take_arrivals():
                self._watch.reset()
            stop = await self._step()
            if stop is not None:
                return stop
        return reached

    def _freeze(self) -> None:
        """Fixes model, tools and prefix for the turn."""
        parts = self._parts
        model = parts.services.models.resolve(self._model_name)
        asked = self._result_request
        if asked is not None and asked.result_schema is not None:
            is_native = model.profile.structured_output
            self._wanted = self._wanted or WantedResult(
                asked.result_schema, self._check_for(asked.id), is_native
            )
            self._wanted.is_native = is_native
        submit = self._wanted.tool() if self._wanted is not None else None
        tools = tool_order(parts.agent.tools if submit is None else (*parts.agent.tools, submit))
        output = self._wanted.output if self._wanted is not None else None
        specs = tuple(tool.spec for tool in tools) if model.profile.tools else ()
        self._frozen = Frozen(model, tools, specs, parts.prefix(model, tools), output)

    def _end(self, stop: TurnStop, error: str | None) -> None:
        self.stop = stop
        parts = self._parts
        wanted = self._wanted
        progress = self._progress
        ended = TurnEnded(
            turn_id=self.id,
            stop=stop,
            text=self._text,
            usage=progress.usage,
            cost_usd=progress.cost_usd,
            n_steps=progress.n_steps,
            error=error,
            result=wanted.value if wanted is not None else None,
            has_result=wanted is not None and wanted.has_value,
            at=parts.now_s(),
        )

        def stored(failure: Exception | None) -> None:
            if failure is None:
                self.intake.answered(ended, self._failure)
                parts.on_turn_ended(ended, self.intake.owes_report)
                parts.emit(turn_finished(parts.name, ended))

        parts.ledger.submit(ended, then=stored)
        if parts.untold_goal is not None:
            told = change_reminder(parts.untold_goal, parts.new_entry_id())
            parts.untold_goal = None
            parts.ledger.submit(EntriesAppended((told,)))

    def _close(self) -> None:
        """Whatever was open gets a truthful end, without waiting."""
        if self._asking is not None:
            self._text = self._asking.close() or self._text
            self._asking = None
        if self._calling is not None:
            self._calling.close()
            self._calling = None

    # One step

    async def _step(self) -> TurnStop | None:
        answered = await self._ask()
        if answered.message.tool_calls:
            return await self._run_calls()
        return self._after_text(answered)

    def _after_text(self, answered: Answered) -> TurnStop | None:
        """What follows an answer without calls. No await from here to the end of the turn."""
        match answered.stop:
            case StopReason.MAX_TOKENS:
                if self._n_continuations >= MAX_CONTINUATIONS:
                    return TurnStop.OUTPUT_LIMIT
                self._n_continuations += 1
                self._is_going_on = True
                nudge(self._parts, CONTINUE)
                return None
            case StopReason.PAUSE:
                nudge(self._parts, GO_ON)
                return None
            case StopReason.REFUSAL:
                return TurnStop.REFUSED
            case StopReason.CONTEXT_EXCEEDED:
                return TurnStop.CONTEXT_EXCEEDED
            case StopReason.END_TURN | StopReason.TOOL_USE | StopReason.STOP_SEQUENCE:
                return self._after_end()
            case _:
                assert_never(answered.stop)

    def _after_end(self) -> TurnStop | None:
        if self._take_steer():
            return None
        wanted = self._wanted
        if wanted is not None and (problem := wanted.take_text(self._text)) is not None:
            if wanted.is_exhausted:
                return TurnStop.RESULT_INVALID
            nudge(self._parts, problem)
            return None
        return TurnStop.DONE

    async def _ask(self) -> Answered:
        """One answer, in the log; its calls are prepared, so that from here on a cancellation closes them."""
        parts = self._parts
        await parts.ledger.settled()
        await self._remind()
        parts.emit(StepBegan(parts.name, self.id, self._progress.n_steps))
        self._asking = Asking(parts, self.id, self._frozen_now, self.intake.presented)
        answered = await self._asking.run()
        self._asking = None
        self._text = text_of(answered.message.content) or self._text
        self._progress.add(answered.usage, self._frozen_now.model.profile)
        if calls := answered.message.tool_calls:
            self._prepare_calls(calls, self._frozen_now.tools, refused=self._refused(answered))
        await parts.ledger.settled()
        return answered

    async def _remind(self) -> None:
        """Reminders that are due before this request; an answer that only goes on gets none."""
        parts = self._parts
        if self._is_going_on:
            self._is_going_on = False
            return
        fold = parts.ledger.fold
        due = plan_mode_reminder(fold.history, fold.newest_of, is_plan_mode=parts.is_plan_mode())
        if due is not None:
            source, body = due
            entry = ReminderEntry(parts.new_entry_id(), source, body, at=parts.now_s())
            await parts.ledger.commit(EntriesAppended((entry,)))

    # Calls

    def _prepare_calls(
        self,
        calls: Sequence[ToolCall],
        tools: Sequence[Tool],
        *,
        refused: Mapping[str, str] | None = None,
        interrupted: Collection[str] = (),
    ) -> None:
        """From here on a cancellation closes these calls."""
        self._calling = Calling(
            self._parts,
            calls,
            {tool.name: tool for tool in tools},
            self._watch,
            hops=self.intake.hops,
            refused=refused or {},
            interrupted=interrupted,
        )

    def _refused(self, answered: Answered) -> dict[str, str]:
        """Calls that are not run, by id, and why."""
        refused = dict.fromkeys(answered.cut_calls, CUT)
        room = self._progress.limits.tool_calls - self._progress.n_calls
        for call in answered.message.tool_calls[max(0, room) :]:
            refused.setdefault(call.id, OVER_LIMIT)
        self._progress.n_calls += len(answered.message.tool_calls)
        return refused

    async def _run_calls(self) -> TurnStop | None:
        assert self._calling is not None, "an answer with calls has prepared them"
        await self._calling.run()
        self._calling = None
        if self._wanted is not None and not self._wanted.is_native:
            if self._wanted.has_value:
                return TurnStop.DONE
            if self._wanted.is_exhausted:
                return TurnStop.RESULT_INVALID
        self._take_steer()
        return None

    async def _go_on(self, open_turn: OpenTurn) -> TurnStop | None:
        """Runs the calls that a stopped host left open, those aside that it had begun."""
        parts = self._parts
        for answer in answers_of(parts.ledger.fold):
            if answer.usage is not None:
                self._progress.add(answer.usage, self._frozen_now.model.profile)
        self._prepare_open_calls(open_turn, self._frozen_now.tools)
        return await self._run_calls()

    def _prepare_open_calls(self, open_turn: OpenTurn, tools: Sequence[Tool]) -> None:
        calls = open_calls(self._parts.history)
        begun = open_turn.started_calls.intersection(call.id for call in calls)
        self._prepare_calls(calls, tools, interrupted=begun)

    # Messages

    def _take_steer(self) -> bool:
        """Takes one waiting message of the user or coordinator; it may switch the model."""
        envelope = self.intake.take_steer()
        if envelope is None:
            return False
        self._watch.reset()
        if envelope.model is not None:
            self._model_name = envelope.model
            self._freeze()
        return True

    @property
    def _frozen_now(self) -> Frozen:
        assert self._frozen is not None, "a step runs only after the turn was frozen"
        return self._frozen
