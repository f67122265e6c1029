from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest

from providers.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRejected,
    RetryableError,
    ServerFailed,
    StreamBroken,
)
from providers.model import (
    Answered,
    AnswerStarted,
    CallCompleted,
    CallStarted,
    Message,
    ModelEvent,
    ReasoningDelta,
    Request,
    RetryScheduled,
    Role,
    StopReason,
    TextDelta,
    ToolCall,
    Usage,
)
from providers.retry import Retrying, RetryPolicy

REQUEST = Request("m", (Message(Role.USER, "hi"),))
STARTED = AnswerStarted("r", "m")
ANSWERED = Answered(Message(Role.ASSISTANT, "hi"), StopReason.END_TURN, Usage(), "r", "m")
Attempt = tuple[ModelEvent | ProviderError, ...]


@dataclass
class Script:
    """A provider whose attempts are written down; an error first in one fails on opening."""

    attempts: list[Attempt]
    opened_at_s: list[float] = field(default_factory=list)
    n_open: int = 0
    name: str = "script"

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        assert request is REQUEST
        self.opened_at_s.append(anyio.current_time())
        attempt = self.attempts.pop(0)
        if attempt and isinstance(attempt[0], ProviderError):
            raise attempt[0]
        self.n_open += 1
        try:
            yield _Events(attempt)
        finally:
            self.n_open -= 1

    @property
    def waits_s(self) -> list[float]:
        return [round(b - a, 6) for a, b in zip(self.opened_at_s, self.opened_at_s[1:], strict=False)]


class _Events:
    def __init__(self, events: Attempt) -> None:
        self._events = list(events)

    def __aiter__(self) -> "_Events":
        return self

    async def __anext__(self) -> ModelEvent:
        if not self._events:
            raise StopAsyncIteration
        event = self._events.pop(0)
        if isinstance(event, ProviderError):
            raise event
        return event


async def events_of(
    script: Script, *, random: float = 1.0, policy: RetryPolicy | None = None
) -> list[ModelEvent]:
    retrying = Retrying(script, policy or RetryPolicy(), lambda: random)
    async with retrying.stream(REQUEST) as events:
        out = [event async for event in events]
    assert script.n_open == 0
    return out


async def test_what_works_at_once_passes_unchanged() -> None:
    assert await events_of(Script([(STARTED, TextDelta("hi"), ANSWERED)])) == [
        STARTED,
        TextDelta("hi"),
        ANSWERED,
    ]


@pytest.mark.parametrize(
    "error", [RateLimited("no"), ServerFailed("no"), ConnectionFailed("no"), StreamBroken("no")]
)
async def test_a_passing_failure_is_announced_and_tried_again(error: RetryableError) -> None:
    script = Script([(error,), (STARTED, ANSWERED)])
    assert await events_of(script) == [RetryScheduled(1, 2.0, "no"), STARTED, ANSWERED]
    assert script.waits_s == [2.0]


async def test_a_stream_that_breaks_before_anything_was_shown_is_tried_again() -> None:
    script = Script([(STARTED, StreamBroken("no")), (STARTED, ANSWERED)])
    assert await events_of(script) == [STARTED, RetryScheduled(1, 2.0, "no"), STARTED, ANSWERED]


@pytest.mark.parametrize(
    "shown",
    [TextDelta("h"), ReasoningDelta("h"), CallStarted("c", "read"), CallCompleted(ToolCall("c", "read", {}))],
)
async def test_nothing_is_tried_again_once_something_was_shown(shown: ModelEvent) -> None:
    script = Script([(STARTED, shown, StreamBroken("no"))])
    with pytest.raises(StreamBroken):
        await events_of(script)
    assert len(script.opened_at_s) == 1


async def test_waits_double_up_to_a_minute_and_end_with_the_last_error() -> None:
    script = Script([(ServerFailed(f"no {n}"),) for n in range(11)])
    with pytest.raises(ServerFailed, match="no 10"):
        await events_of(script)
    assert script.waits_s == [2, 4, 8, 16, 32, 60, 60, 60, 60, 60]


@pytest.mark.parametrize(("random", "want_s"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
async def test_jitter_takes_up_to_half_of_a_wait(random: float, want_s: float) -> None:
    script = Script([(ServerFailed("no"),), (ANSWERED,)])
    await events_of(script, random=random)
    assert script.waits_s == [want_s]


@pytest.mark.parametrize("wait_s", [0.2, 7.0, 300.0])
async def test_the_wait_that_a_provider_asks_for_wins(wait_s: float) -> None:
    script = Script([(RateLimited("no", retry_after_s=wait_s),), (ANSWERED,)])
    await events_of(script, random=0.0)
    assert script.waits_s == [wait_s]


async def test_a_wait_of_no_time_is_no_wish() -> None:
    script = Script([(RateLimited("no", retry_after_s=0.0),), (ANSWERED,)])
    await events_of(script)
    assert script.waits_s == [2.0]


async def test_nobody_waits_longer_than_five_minutes() -> None:
    script = Script([(RateLimited("no", retry_after_s=301.0),)])
    with pytest.raises(RateLimited):
        await events_of(script)
    assert anyio.current_time() == script.opened_at_s[0]


async def test_a_provider_that_forbids_it_is_not_asked_again() -> None:
    script = Script([(ServerFailed("no", should_retry=False, retry_after_s=1.0),)])
    with pytest.raises(ServerFailed):
        await events_of(script)


@pytest.mark.parametrize("error", [RequestRejected("no"), AuthenticationFailed("no"), ContextOverflow("no")])
async def test_what_cannot_pass_by_itself_is_raised_at_once(error: ProviderError) -> None:
    for attempt in ((error,), (STARTED, error)):
        script = Script([attempt])
        with pytest.raises(type(error)):
            await events_of(script)
        assert len(script.opened_at_s) == 1
        assert script.n_open == 0


async def test_leaving_during_a_wait_or_a_stream_leaves_nothing_open() -> None:
    for attempt in ((ServerFailed("no"),), (STARTED, TextDelta("h"), ANSWERED)):
        script = Script([attempt])
        async with Retrying(script, RetryPolicy(), lambda: 1.0).stream(REQUEST) as events:
            await anext(events)
        assert script.n_open == 0


async def test_cancelling_a_wait_ends_it_at_once() -> None:
    script = Script([(ServerFailed("no"),)])
    with anyio.move_on_after(0.5) as scope:
        await events_of(script)
    assert scope.cancelled_caught
    assert len(script.opened_at_s) == 1


@pytest.mark.parametrize("attempt", [1, 65, 10_000])
def test_a_policy_of_many_retries_still_has_a_wait(attempt: int) -> None:
    delay_s = RetryPolicy(n_retries=100_000).delay_s(attempt, ServerFailed("no"), lambda: 1.0)
    assert delay_s is not None
    assert 2 <= delay_s <= 60
