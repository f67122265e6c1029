"""Both providers over a socket, against a server that misbehaves on demand."""

import json
from collections.abc import Callable

import anyio
import pytest
from pydantic import JsonValue

from providers.anthropic import AnthropicProvider
from providers.endpoint import AuthStyle, Endpoint, EnvironmentKey
from providers.errors import (
    AuthenticationFailed,
    ContextOverflow,
    IllegalRequest,
    ProtocolMismatch,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    ServerFailed,
    StreamBroken,
)
from providers.http import Http, open_http
from providers.model import Answered, Dialect, Message, ModelEvent, Request, Role, TextDelta
from providers.openai_chat import OpenAIChatProvider
from providers.ports import Provider
from tests.providers.loopback import Answer, chunked, loopback, reply
from tests.providers.requests import PROFILE, request, user
from tests.providers.streams import named, unnamed, wire_bytes

SECRET = "sk-very-secret"
ASK = request(user("hi"))
DEADLINE_S = 10
Make = Callable[[Http, str, float], Provider]


def anthropic(http: Http, url: str, idle_timeout_s: float = 5.0) -> Provider:
    endpoint = Endpoint(
        "box",
        Dialect.ANTHROPIC,
        url,
        EnvironmentKey("BOX_KEY"),
        idle_timeout_s=idle_timeout_s,
        auth=AuthStyle.X_API_KEY,
    )
    return AnthropicProvider(endpoint, http, lambda _: PROFILE, {"BOX_KEY": SECRET}, now_s=lambda: 0.0)


def openai(http: Http, url: str, idle_timeout_s: float = 5.0) -> Provider:
    endpoint = Endpoint(
        "box", Dialect.OPENAI_CHAT, f"{url}/v1", EnvironmentKey("BOX_KEY"), idle_timeout_s=idle_timeout_s
    )
    return OpenAIChatProvider(endpoint, http, lambda _: PROFILE, {"BOX_KEY": SECRET}, now_s=lambda: 0.0)


def anthropic_stream(*texts: str) -> list[bytes]:
    deltas: list[dict[str, JsonValue]] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in texts
    ]
    events: list[dict[str, JsonValue]] = [
        {"type": "message_start", "message": {"id": "m1", "model": "x", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    return [wire_bytes([named(event)]) for event in events]


def openai_stream(*texts: str) -> list[bytes]:
    chunks: list[dict[str, JsonValue]] = [{"id": "m1", "choices": [{"delta": {"role": "assistant"}}]}]
    chunks += [{"id": "m1", "choices": [{"delta": {"content": text}}]} for text in texts]
    chunks += [{"id": "m1", "choices": [{"delta": {}, "finish_reason": "stop"}]}]
    return [*(wire_bytes([unnamed(chunk)]) for chunk in chunks), b"data: [DONE]\n\n"]


WIRES = pytest.mark.parametrize(("make", "stream"), [(anthropic, anthropic_stream), (openai, openai_stream)])
BOTH = pytest.mark.parametrize("make", [anthropic, openai])


async def events_of(
    provider: Provider, asked: Request = ASK, *, seen: list[ModelEvent] | None = None
) -> list[ModelEvent]:
    """All events; those before an error are in `seen`."""
    out = [] if seen is None else seen
    with anyio.fail_after(DEADLINE_S):
        async with provider.stream(asked) as events:
            async for event in events:
                out.append(event)
    return out


async def failure_of(make: Make, answer: Answer, idle_timeout_s: float = 5.0) -> ProviderError:
    async with loopback(answer) as server, open_http() as http:
        with pytest.raises(ProviderError) as caught:
            await events_of(make(http, server.url, idle_timeout_s))
    assert SECRET not in str(caught.value)
    return caught.value


@WIRES
def test_answers_arrive_and_the_connection_serves_the_next_request(
    real_backend: str, make: Make, stream: Callable[..., list[bytes]]
) -> None:
    async def main() -> None:
        async with loopback(chunked(*stream("a\u2028", "b 👩‍🚀"))) as server, open_http() as http:
            provider = make(http, server.url, 5.0)
            for _ in range(3):
                last = (await events_of(provider))[-1]
                assert isinstance(last, Answered)
                assert last.message == Message(Role.ASSISTANT, "a\u2028b 👩‍🚀")
        assert server.n_connections == 1

    anyio.run(main, backend=real_backend)


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (anthropic, ["POST /v1/messages ", f"x-api-key: {SECRET}", "anthropic-version: 2023-06-01"]),
        (openai, ["POST /v1/chat/completions ", f"authorization: Bearer {SECRET}"]),
    ],
)
def test_requests_go_to_their_address_with_their_key(real_backend: str, make: Make, want: list[str]) -> None:
    async def main() -> None:
        async with loopback(reply(500, b"{}")) as server, open_http() as http:
            with pytest.raises(ServerFailed):
                await events_of(make(http, server.url, 5.0))
        head, _, body = server.requests[0].decode().partition("\r\n\r\n")
        assert head.startswith(want[0])
        assert all(line in head.split("\r\n") for line in want[1:])
        assert json.loads(body)["stream"] is True

    anyio.run(main, backend=real_backend)


@BOTH
def test_a_refused_request_is_raised_as_what_it_is(real_backend: str, make: Make) -> None:
    async def main() -> None:
        body = json.dumps({"error": {"type": "rate_limit_error", "message": f"slow down {SECRET}"}}).encode()
        error = await failure_of(
            make, reply(429, body, retry_after="Thu, 01 Jan 1970 00:00:30 GMT", request_id="r1")
        )
        assert isinstance(error, RateLimited)
        assert error.retry_after_s == 30
        assert str(error) == "box answered 429 Too Many Requests: slow down *** (request r1)"

    anyio.run(main, backend=real_backend)


@BOTH
@pytest.mark.parametrize("status", [200, 404])
def test_html_says_what_came_and_from_where(real_backend: str, make: Make, status: int) -> None:
    async def main() -> None:
        error = await failure_of(make, reply(status, b"<html>Hello</html>", "text/html"))
        assert type(error) is ProtocolMismatch
        assert "<html>Hello</html>" in str(error)
        assert "http://127.0.0.1:" in str(error)

    anyio.run(main, backend=real_backend)


@BOTH
@pytest.mark.parametrize(
    ("body", "want"),
    [
        (b'{"error": {"message": "maximum context length is 5 tokens"}}', ContextOverflow),
        (b'{"id": "x", "choices": []}', ProtocolMismatch),
        (b"", ProtocolMismatch),
    ],
)
def test_json_where_a_stream_belongs_is_read_for_its_error(
    real_backend: str, make: Make, body: bytes, want: type[ProviderError]
) -> None:
    async def main() -> None:
        assert type(await failure_of(make, reply(200, body))) is want

    anyio.run(main, backend=real_backend)


@WIRES
def test_every_way_to_break_off_is_a_broken_stream(
    real_backend: str, make: Make, stream: Callable[..., list[bytes]]
) -> None:
    async def main() -> None:
        pieces = stream("a", "b")
        for n in range(len(pieces)):
            assert type(await failure_of(make, chunked(*pieces[:n]))) is StreamBroken
        assert type(await failure_of(make, chunked(*pieces[:3], ends=False))) is StreamBroken
        assert (
            type(await failure_of(make, chunked(*pieces[:3], b'data: {"id"\n\n', *pieces[3:])))
            is StreamBroken
        )

    anyio.run(main, backend=real_backend)


@WIRES
def test_a_stalled_stream_is_a_timeout(
    real_backend: str, make: Make, stream: Callable[..., list[bytes]]
) -> None:
    async def main() -> None:
        error = await failure_of(make, chunked(*stream("a")[:3], silence=True), idle_timeout_s=0.2)
        assert type(error) is ProviderTimeout

    anyio.run(main, backend=real_backend)


@WIRES
def test_what_came_before_an_error_is_delivered_first(
    real_backend: str, make: Make, stream: Callable[..., list[bytes]]
) -> None:
    async def main() -> None:
        failing = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n'
        together = b"".join([*stream("a", "b")[:4], failing])
        async with loopback(chunked(together)) as server, open_http() as http:
            seen: list[ModelEvent] = []
            with pytest.raises(ServerFailed):
                await events_of(make(http, server.url, 5.0), seen=seen)
        assert next(event.text for event in seen if isinstance(event, TextDelta)) == "a"

    anyio.run(main, backend=real_backend)


@WIRES
def test_cancelling_in_the_middle_of_an_answer_closes_the_connection(
    real_backend: str, make: Make, stream: Callable[..., list[bytes]]
) -> None:
    async def main() -> None:
        async with loopback(chunked(*stream("a", "b")[:4], silence=True)) as server, open_http() as http:
            with anyio.CancelScope() as scope:
                async with make(http, server.url, 5.0).stream(ASK) as events:
                    async for event in events:
                        if isinstance(event, TextDelta):
                            scope.cancel()
            assert scope.cancelled_caught
            with anyio.fail_after(DEADLINE_S):
                await server.gone.acquire()

    anyio.run(main, backend=real_backend)


@WIRES
def test_a_server_that_stays_after_its_end_marker_does_not_hold_the_answer(
    real_backend: str, make: Make, stream: Callable[..., list[bytes]]
) -> None:
    async def main() -> None:
        async with loopback(chunked(*stream("a"), silence=True)) as server, open_http() as http:
            assert isinstance((await events_of(make(http, server.url, 5.0)))[-1], Answered)

    anyio.run(main, backend=real_backend)


@BOTH
def test_an_illegal_request_is_never_sent(real_backend: str, make: Make) -> None:
    async def main() -> None:
        async with loopback(reply(200, b"")) as server, open_http() as http:
            with pytest.raises(IllegalRequest):
                await events_of(make(http, server.url, 5.0), request(user("")))
        assert server.n_connections == 0

    anyio.run(main, backend=real_backend)


def test_a_provider_without_its_key_is_not_made(real_backend: str) -> None:
    async def main() -> None:
        async with open_http() as http:
            endpoint = Endpoint("box", Dialect.OPENAI_CHAT, "http://box/v1", EnvironmentKey("BOX_KEY"))
            with pytest.raises(AuthenticationFailed, match="BOX_KEY"):
                OpenAIChatProvider(endpoint, http, lambda _: PROFILE, {})

    anyio.run(main, backend=real_backend)
