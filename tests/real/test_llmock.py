"""Both wire formats against a real server that fails on demand and judges its client."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import pytest
from pydantic import JsonValue

from providers.anthropic import AnthropicProvider
from providers.endpoint import AuthStyle, Endpoint, LiteralKey
from providers.errors import AuthenticationFailed, ContextOverflow, RateLimited, RetryableError
from providers.http import Http, open_http
from providers.model import (
    Answered,
    CallCompleted,
    CallStarted,
    Dialect,
    Message,
    ModelEvent,
    ModelProfile,
    Request,
    RetryScheduled,
    Role,
    StopReason,
    TextDelta,
    ToolSpec,
)
from providers.openai_chat import OpenAIChatProvider
from providers.ports import Provider
from providers.retry import Retrying, RetryPolicy
from tests.real.conftest import LLMock

pytestmark = pytest.mark.real

DEADLINE_S = 20
PROFILE = ModelProfile("mock", 2_000, 500)
READ = ToolSpec(
    "read_page",
    "Reads a page of the manual.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
ASK = Request("mock", (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "How do I reset it?")))
Make = Callable[[Http, LLMock, float], Provider]


def anthropic(http: Http, server: LLMock, idle_timeout_s: float) -> Provider:
    endpoint = Endpoint(
        "anthropic",
        Dialect.ANTHROPIC,
        server.anthropic_url,
        LiteralKey("sk-test"),
        idle_timeout_s=idle_timeout_s,
        auth=AuthStyle.X_API_KEY,
    )
    return patient(AnthropicProvider(endpoint, http, lambda _: PROFILE, {}))


def openai(http: Http, server: LLMock, idle_timeout_s: float) -> Provider:
    endpoint = Endpoint(
        "openai", Dialect.OPENAI_CHAT, server.openai_url, LiteralKey("sk-test"), idle_timeout_s=idle_timeout_s
    )
    return patient(OpenAIChatProvider(endpoint, http, lambda _: PROFILE, {}))


def patient(provider: Provider) -> Provider:
    return Retrying(provider, RetryPolicy(first_delay_s=0.06), lambda: 1.0)


FORMATS = pytest.mark.parametrize("make", [anthropic, openai])


async def events_of(
    provider: Provider, request: Request = ASK, *, seen: list[ModelEvent] | None = None
) -> list[ModelEvent]:
    """All events; those before an error are in `seen`."""
    out = [] if seen is None else seen
    with anyio.fail_after(DEADLINE_S):
        async with provider.stream(request) as events:
            async for event in events:
                out.append(event)
    return out


def last_of(events: list[ModelEvent]) -> Answered:
    last = events[-1]
    assert isinstance(last, Answered)
    return last


def retries_of(events: list[ModelEvent]) -> list[RetryScheduled]:
    return [event for event in events if isinstance(event, RetryScheduled)]


def run(
    backend: str,
    make: Make,
    server: LLMock,
    test: Callable[[Provider], Awaitable[None]],
    *,
    idle_timeout_s: float = 10.0,
) -> None:
    async def main() -> None:
        async with open_http() as http:
            await test(make(http, server, idle_timeout_s))

    anyio.run(main, backend=backend)


@FORMATS
def test_a_chat_with_a_tool_goes_through(real_backend: str, make: Make, llmock: LLMock) -> None:
    async def test(provider: Provider) -> None:
        asking = replace(ASK, tools=(READ,))
        first = await events_of(provider, asking)
        called = last_of(first)
        assert called.stop is StopReason.TOOL_USE
        (call,) = called.message.tool_calls
        assert call.name == "read_page"
        assert isinstance(call.input, dict)
        assert isinstance(call.input["path"], str)
        assert [event.call_id for event in first if isinstance(event, CallStarted)] == [call.id]
        assert [event.call for event in first if isinstance(event, CallCompleted)] == [call]

        result = Message(Role.TOOL, "Hold the button.", tool_call_id=call.id, tool_name=call.name)
        second = await events_of(provider, replace(asking, messages=(*ASK.messages, called.message, result)))
        answer = last_of(second)
        assert answer.stop is StopReason.END_TURN
        assert answer.message.content
        assert answer.message.content == "".join(
            event.text for event in second if isinstance(event, TextDelta)
        )
        assert answer.usage.input_tokens > 0
        assert answer.usage.output_tokens > 0
        assert not answer.usage.is_estimated

    run(real_backend, make, llmock, test)
    assert llmock.n_requests() == 2


@FORMATS
def test_a_scripted_answer_arrives_as_it_was_written(real_backend: str, make: Make, llmock: LLMock) -> None:
    text = "Grüße, 👩‍🚀\u2028and a second line.\r\n"
    inputs: list[JsonValue] = [{"path": "ä/\u2028" * 9}, {}]
    calls: list[JsonValue] = [{"name": "read_page", "arguments": arguments} for arguments in inputs]
    llmock.script({"type": "reply", "text": text, "tool_calls": calls})

    async def test(provider: Provider) -> None:
        message = last_of(await events_of(provider, replace(ASK, tools=(READ,)))).message
        assert message.content == text
        assert [call.input for call in message.tool_calls] == inputs
        assert len({call.id for call in message.tool_calls}) == 2

    run(real_backend, make, llmock, test)


@FORMATS
def test_a_rate_limit_is_waited_out_as_long_as_it_says(real_backend: str, make: Make, llmock: LLMock) -> None:
    llmock.script({"type": "fail", "status": 429, "retry_after": 0.15, "times": 2})

    async def test(provider: Provider) -> None:
        events = await events_of(provider)
        assert [retry.delay_s for retry in retries_of(events)] == [0.15, 0.15]
        assert last_of(events).message.content

    run(real_backend, make, llmock, test)


@FORMATS
@pytest.mark.parametrize("status", [500, 529])
def test_an_outage_is_retried(real_backend: str, make: Make, llmock: LLMock, status: int) -> None:
    llmock.script({"type": "fail", "status": status, "retry_after": 0.1})

    async def test(provider: Provider) -> None:
        events = await events_of(provider)
        assert len(retries_of(events)) == 1
        assert last_of(events).message.content

    run(real_backend, make, llmock, test)


@FORMATS
@pytest.mark.parametrize("kind", ["truncate", "disconnect", "malformed"])
def test_a_stream_that_fails_before_anything_was_shown_is_retried(
    real_backend: str, make: Make, llmock: LLMock, kind: str
) -> None:
    llmock.script({"type": "stream_fault", "kind": kind, "after_chunks": 1})

    async def test(provider: Provider) -> None:
        events = await events_of(provider)
        assert len(retries_of(events)) == 1
        assert last_of(events).message.content

    run(real_backend, make, llmock, test)


@FORMATS
@pytest.mark.parametrize("kind", ["truncate", "disconnect", "malformed"])
def test_a_stream_that_fails_after_something_was_shown_is_an_error_of_the_step(
    real_backend: str, make: Make, llmock: LLMock, kind: str
) -> None:
    llmock.script(
        {"type": "reply", "text": "one two three four five six", "times": 2},
        {"type": "stream_fault", "kind": kind, "after_chunks": 4},
    )

    async def test(provider: Provider) -> None:
        seen: list[ModelEvent] = []
        with pytest.raises(RetryableError):
            await events_of(provider, seen=seen)
        assert not any(isinstance(event, RetryScheduled | Answered) for event in seen)
        assert "".join(event.text for event in seen if isinstance(event, TextDelta)).startswith("one")
        # what a turn does then: the same step once more
        await anyio.sleep(0.06)
        assert last_of(await events_of(provider)).message.content == "one two three four five six"

    run(real_backend, make, llmock, test)


@FORMATS
def test_a_stream_that_stalls_is_left_and_retried(real_backend: str, make: Make, llmock: LLMock) -> None:
    llmock.script({"type": "stream_fault", "kind": "stall", "after_chunks": 1, "stall_seconds": 30})

    async def test(provider: Provider) -> None:
        events = await events_of(provider)
        assert "no byte" in retries_of(events)[0].error
        assert last_of(events).message.content

    run(real_backend, make, llmock, test, idle_timeout_s=0.4)


@FORMATS
def test_arguments_that_do_not_parse_are_handed_on_as_such(
    real_backend: str, make: Make, llmock: LLMock
) -> None:
    llmock.script({"type": "tool_fault", "kind": "malformed_arguments"})

    async def test(provider: Provider) -> None:
        (call,) = last_of(await events_of(provider, replace(ASK, tools=(READ,)))).message.tool_calls
        assert call.invalid_json
        assert call.input == {}

    run(real_backend, make, llmock, test)


@FORMATS
def test_an_overflow_is_told_as_one_and_not_retried(real_backend: str, make: Make, llmock: LLMock) -> None:
    async def test(provider: Provider) -> None:
        long = replace(ASK, messages=(Message(Role.USER, "word " * 5_000),))
        with pytest.raises(ContextOverflow):
            await events_of(provider, long)

    run(real_backend, make, llmock, test)
    assert llmock.n_requests() == 1


@FORMATS
def test_a_wrong_key_is_not_retried(real_backend: str, make: Make, llmock: LLMock) -> None:
    llmock.script({"type": "fail", "status": 401})

    async def test(provider: Provider) -> None:
        with pytest.raises(AuthenticationFailed):
            await events_of(provider)

    run(real_backend, make, llmock, test)
    assert llmock.n_requests() == 1


@FORMATS
def test_a_wait_over_five_minutes_is_an_error_and_no_retry(
    real_backend: str, make: Make, llmock_server: LLMock
) -> None:
    llmock_server.reset()
    llmock_server.script({"type": "fail", "status": 429, "retry_after": 301})

    async def test(provider: Provider) -> None:
        with pytest.raises(RateLimited) as caught:
            await events_of(provider)
        assert caught.value.retry_after_s == pytest.approx(301)
        assert math.isfinite(caught.value.retry_after_s or math.inf)

    run(real_backend, make, llmock_server, test)
    assert llmock_server.n_requests() == 1
