"""Runs the tool calls of one answer: permission, order, results, and the truth about each."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from actors.acting import acting
from actors.address import Address
from actors.anomaly import RepetitionWatch
from actors.events import ToolBegan, ToolFinished
from actors.history import (
    Entry,
    MessageEntry,
    Origin,
    ReminderEntry,
    ResultStatus,
    authority_of,
)
from actors.parts import Parts
from actors.ports import PermissionAnswer, PermissionQuestion
from actors.records import CallsStarted, EntriesAppended
from actors.tools import Batch, CallPhase, CallResult, Tool, ToolContext
from providers.model import Block, Message, Role, ToolCall, text_of

PREVIEW_CHARACTERS = 200
INTERRUPTED = (
    "The host stopped while this call was running. It may have had effects; look before you repeat it."
)


class Calling:
    """The calls of one answer on their way to their results.

    `refused` names, by call id, calls that are not run at all, and why;
    `interrupted` are those that an earlier host had begun. `run`
    commits the results, all together, in call order. After a cancellation
    `close` submits, without waiting, a truthful result for every call.
    """

    def __init__(
        self,
        parts: Parts,
        calls: Sequence[ToolCall],
        tools: Mapping[str, Tool],
        watch: RepetitionWatch,
        *,
        hops: int,
        refused: Mapping[str, str],
        interrupted: Collection[str] = (),
    ) -> None:
        self._parts = parts
        self._calls = tuple(calls)
        self._settled = {
            **{call_id: (ResultStatus.NOT_STARTED, why) for call_id, why in refused.items()},
            **dict.fromkeys(interrupted, (ResultStatus.INTERRUPTED, INTERRUPTED)),
        }
        self._watch = watch
        self._hops = hops
        self._is_committed = False
        self._told_ends: list[CallResult] = []
        self._batch = Batch(
            tools,
            context_for=self._context,
            decide=self._decide,
            on_started=self._started,
            on_event=self._told,
        )
        for call in self._calls:
            if call.id not in self._settled:
                self._batch.add(call)
        self._batch.close()

    async def run(self) -> None:
        """Runs every call and commits the results.

        Raises:
            LogFailed: the store did not take the start or the results.
        """
        results = await self._batch.run()
        self._submit(results)
        await self._parts.ledger.settled()

    def close(self) -> None:
        """After a cancellation: every call gets its result, now."""
        if not self._is_committed:
            self._submit(self._batch.results_after_cancel())

    def _submit(self, results: Sequence[CallResult]) -> None:
        self._is_committed = True
        parts = self._parts
        ready = iter(results)
        entries: list[Entry] = []
        for call in self._calls:
            if (settled := self._settled.get(call.id)) is not None:
                entries.append(result_entry(parts, call, *settled))
            else:
                result = next(ready)
                self._tell_end(result)
                entries.append(result_entry(parts, call, result.status, result.content))
        reminders = [text for call in self._calls if (text := self._watch.saw(call)) is not None]
        entries.extend(
            ReminderEntry(parts.new_entry_id(), "model_anomaly", text, at=parts.now_s()) for text in reminders
        )
        parts.ledger.submit(EntriesAppended(tuple(entries)))

    def _context(self, call: ToolCall) -> ToolContext:
        parts = self._parts
        return ToolContext(
            cwd=Path(parts.opened.cwd),
            agent_id=parts.opened.agent_id,
            agent_name=parts.name,
            call_id=call.id,
            files_read=parts.files_read,
            environment=parts.services.environment,
            services=parts.services,
            hops=self._hops,
            record_change=parts.ledger.commit,
        )

    async def _decide(self, call: ToolCall, tool: Tool) -> PermissionAnswer:
        parts = self._parts
        now = acting(parts.history)
        question = PermissionQuestion(
            agent_id=parts.opened.agent_id,
            agent_path=parts.path,
            call_id=call.id,
            tool=tool.name,
            permission=tool.permission,
            is_read_only=tool.is_read_only,
            input=call.input,
            subject=tool.subject(call.input),
            authority=now.authority,
            caused_by=tuple(Address(name) for name in now.caused_by),
        )
        return await parts.services.permissions.decide(question)

    async def _started(self, call_ids: tuple[str, ...]) -> None:
        await self._parts.ledger.commit(CallsStarted(call_ids))

    def _told(self, call: ToolCall, phase: CallPhase, result: CallResult | None) -> None:
        parts = self._parts
        if phase is CallPhase.BEGAN:
            parts.emit(ToolBegan(parts.name, call.id, call.name, call.input))
        elif result is not None:
            self._tell_end(result)

    def _tell_end(self, result: CallResult) -> None:
        """Once for each call, also for one that was cut off."""
        if result in self._told_ends:
            return
        self._told_ends.append(result)
        parts, call = self._parts, result.call
        preview = " ".join(text_of(result.content).split())[:PREVIEW_CHARACTERS]
        parts.emit(ToolFinished(parts.name, call.id, call.name, result.status, preview))


def result_entry(
    parts: Parts, call: ToolCall, status: ResultStatus, content: str | tuple[Block, ...]
) -> MessageEntry:
    """The result of a call as an entry: data, whatever it says."""
    return MessageEntry(
        id=parts.new_entry_id(),
        message=Message(
            Role.TOOL,
            content,
            tool_call_id=call.id,
            tool_name=call.name,
            is_error=status is not ResultStatus.OK,
        ),
        origin=Origin.TOOL,
        authority=authority_of(Origin.TOOL),
        status=status,
        at=parts.now_s(),
    )
