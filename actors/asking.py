"""One step's answer: from the history to a request that fits, to an answer in the log."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

import anyio

from actors.compose import Composed
from actors.errors import RequestTooLarge
from actors.events import (
    AnswerCommitted,
    AnswerDropped,
    ReasoningArrived,
    RetryWaits,
    TextArrived,
    WarningRaised,
)
from actors.exchange import Exchange
from actors.history import Authority, Entry, MessageEntry, Origin
from actors.ledger import Completed
from actors.parts import Parts
from actors.ports import ResolvedModel
from actors.projection import ProjectionOptions, RepairRule, has_sealed, same_tools
from actors.projection.words import words_of
from actors.records import AnswerBroken, EntriesAppended, PrefixBuilt, RequestMade, TurnId
from actors.tools import Tool
from providers.errors import RetryableError
from providers.model import (
    Answered,
    AnswerStarted,
    CallCompleted,
    CallStarted,
    Message,
    ModelEvent,
    OutputSchema,
    Priority,
    ReasoningDelta,
    RetryScheduled,
    Role,
    TextDelta,
    ToolSpec,
    Usage,
    text_of,
)

MAX_RESTARTS = 3
RESTART_DELAY_S = 2.0


@dataclass(frozen=True, slots=True)
class Frozen:
    """What stays the same for a turn, unless a steer switches the model.

    `specs` is what the model is told of the tools.
    """

    model: ResolvedModel
    tools: tuple[Tool, ...]
    specs: tuple[ToolSpec, ...]
    prefix: tuple[Entry, ...]
    output: OutputSchema | None


class Asking:
    """Asks the model once. `on_presented` hears the request's id when the provider accepts it."""

    def __init__(
        self, parts: Parts, turn_id: TurnId, frozen: Frozen, on_presented: Callable[[str], None]
    ) -> None:
        self._parts = parts
        self._turn_id = turn_id
        self._frozen = frozen
        self._on_presented = on_presented
        self._exchange: Exchange | None = None

    async def run(self) -> Answered:
        """The answer, submitted to the log. A stream that breaks behind its first words starts again.

        Raises:
            RequestTooLarge: the request does not fit the window and was not sent.
            ProviderError: the provider gave no answer.
        """
        composed = await self._fitting()
        self._record(composed)
        n_restarts = 0
        while True:
            exchange = self._exchange = Exchange(self._frozen.model.provider, composed.request, self._saw)
            try:
                answered = await exchange.run()
            except RetryableError as error:
                self._exchange = None
                if not exchange.is_shown:
                    raise
                await self._drop(exchange.text, error)
                if n_restarts >= MAX_RESTARTS:
                    raise
                n_restarts += 1
                await anyio.sleep(RESTART_DELAY_S * 2 ** (n_restarts - 1))
            else:
                self._exchange = None
                return self._commit(answered, composed)

    def close(self) -> str:
        """After a cancellation or failure: what had been said stays said; gives that text."""
        text = self._exchange.text if self._exchange is not None else ""
        self._exchange = None
        if text:
            self._append(Message(Role.ASSISTANT, text), is_partial=True)
        return text

    async def _fitting(self) -> Composed:
        composed = self._compose()
        if composed.size.is_large:
            model = await self._parts.services.models.sharpen(self._frozen.model)
            if model is not self._frozen.model:
                self._frozen = replace(self._frozen, model=model)
                composed = self._compose()
        if not composed.size.is_fitting:
            raise RequestTooLarge(
                f"{self._frozen.model.name}: {composed.size.explain()}. Narrow the task, start a new "
                "session, or use a model with a larger window."
            )
        return composed

    def _compose(self) -> Composed:
        parts, frozen = self._parts, self._frozen
        return parts.composer.compose(
            frozen.prefix,
            parts.history,
            frozen.model,
            self._options(),
            max_output_tokens=parts.agent.max_output_tokens,
            output=frozen.output,
            priority=Priority.HUMAN if parts.is_human_waiting else Priority.BACKGROUND,
        )

    def _options(self) -> ProjectionOptions:
        profile = self._frozen.model.profile
        return ProjectionOptions(
            mid_conversation_system=profile.mid_conversation_system,
            peers_may_use_system_role=self._parts.peers_may_use_system_role,
            apply_cache_control=profile.cache_marks,
            model=profile.name,
            tools=self._frozen.specs,
            sees_images=profile.images,
        )

    def _record(self, composed: Composed) -> None:
        """Writes down what goes out, so that it can be looked at later; tells what was put right in it."""
        parts, frozen = self._parts, self._frozen
        options = composed.options
        made = RequestMade(
            turn_id=self._turn_id,
            model=frozen.model.name,
            reader=frozen.model.profile.name,
            mid_conversation_system=options.mid_conversation_system,
            peers_may_use_system_role=options.peers_may_use_system_role,
            cache_marks=options.apply_cache_control,
            n_messages=len(composed.request.messages),
            n_tokens=composed.size.total,
            fingerprint=composed.fingerprint,
            at=parts.now_s(),
            sees_images=options.sees_images,
            repaired=dict(Counter(repair.rule.value for repair in composed.projection.repaired)),
        )
        last = parts.ledger.fold.built
        is_same = last is not None and last.prefix == frozen.prefix and same_tools(last.tools, frozen.specs)
        built = () if is_same else (PrefixBuilt(frozen.prefix, frozen.specs),)
        parts.ledger.submit(*built, made)
        if news := parts.composer.news_of(composed):
            parts.emit(WarningRaised(parts.name, _told(Counter(news))))

    def _saw(self, event: ModelEvent) -> None:
        parts = self._parts
        match event:
            case AnswerStarted():
                self._on_presented(event.request_id or event.response_id)
            case TextDelta():
                parts.emit(TextArrived(parts.name, event.text))
            case ReasoningDelta():
                parts.emit(ReasoningArrived(parts.name, event.text))
            case RetryScheduled():
                parts.emit(RetryWaits(parts.name, event.attempt, event.delay_s, event.error))
            case CallStarted() | CallCompleted() | Answered():
                pass
            case _:
                assert_never(event)

    async def _drop(self, text: str, error: RetryableError) -> None:
        parts = self._parts
        parts.emit(AnswerDropped(parts.name, text, str(error)))
        await parts.ledger.commit(AnswerBroken(self._turn_id, text, str(error)))

    def _commit(self, answered: Answered, composed: Composed) -> Answered:
        """Submits the answer; where the provider reported no usage, with our own count."""
        usage = answered.usage
        self._frozen.model.counter.observe(composed.n_counted, usage)
        text = text_of(answered.message.content)
        if usage.is_estimated and not usage.total_input_tokens:
            counter = self._frozen.model.counter
            usage = Usage(
                input_tokens=composed.size.total,
                output_tokens=counter.corrected(counter.count_message(answered.message)),
                is_estimated=True,
            )
            answered = replace(answered, usage=usage)
        parts = self._parts
        event = AnswerCommitted(parts.name, text, usage, len(answered.message.tool_calls))
        self._append(
            answered.message,
            usage=usage,
            request_fingerprint=composed.fingerprint if has_sealed(answered.message) else None,
            then=lambda error: None if error else parts.emit(event),
        )
        return answered

    def _append(
        self,
        message: Message,
        *,
        usage: Usage | None = None,
        request_fingerprint: str | None = None,
        is_partial: bool = False,
        then: Completed | None = None,
    ) -> None:
        parts = self._parts
        entry = MessageEntry(
            id=parts.new_entry_id(),
            message=message,
            origin=Origin.MODEL,
            authority=Authority.DATA,
            usage=usage,
            model=self._frozen.model.profile.name,
            request_fingerprint=request_fingerprint,
            is_partial=is_partial,
            at=parts.now_s(),
        )
        parts.ledger.submit(EntriesAppended((entry,)), then=then)


def _told(repaired: Mapping[RepairRule, int]) -> str:
    deeds = (f"{words_of(rule)}{f' ({n} times)' if n > 1 else ''}" for rule, n in repaired.items())
    return f"so that the provider takes it, the request {'; '.join(deeds)}"
