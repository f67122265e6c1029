"""One HTTP client for the whole host; nothing else here knows the HTTP library.

Proxies are a setting, never read from the environment: a variable that some
other program set must not decide where keys and conversations go, and
loopback addresses never go through one.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import httpx
from pydantic import JsonValue

from providers.errors import (
    ConnectionFailed,
    IllegalRequest,
    ProtocolMismatch,
    ProviderError,
    ProviderTimeout,
    ProviderUnusable,
    StreamBroken,
)

_MAX_REPLY_BYTES = 16 * 1024 * 1024
_CLEANUP_S = 2.0
_LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")


@dataclass(frozen=True, slots=True)
class Call:
    """Where a request goes and how long it may be silent.

    `who` names the provider in errors; `idle_timeout_s` is the longest time
    without a byte, before the answer's head and within it.
    """

    who: str
    url: str
    headers: Mapping[str, str]
    connect_timeout_s: float = 10.0
    idle_timeout_s: float = 600.0


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer whose body is still coming; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Http:
    """Sends requests over connections that all providers share.

    Raises everywhere:
        ConnectionFailed: refused, reset, no such host, or no connection in time.
        ProviderTimeout: no byte for longer than the idle limit.
        StreamBroken: the connection ended in the middle of a body.
        IllegalRequest: a body that has no JSON form.
        ProviderUnusable: a URL or header that HTTP cannot carry.
    """

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    @asynccontextmanager
    async def stream(self, call: Call, body: JsonValue = None) -> AsyncIterator[HttpResponse]:
        """Opens a request, POST where there is a body and GET where not.

        Leaving the block early, by cancellation too, closes the connection
        at once; reading to the end keeps it for the next request.
        """
        request = self._request(call, body)
        try:
            response = await self._client.send(request, stream=True)
        except httpx.LocalProtocolError:
            # without the cause: its text can hold a header's value
            raise ProviderUnusable(f"{call.who}: a header cannot be sent to {_origin(call.url)}") from None
        except httpx.HTTPError as exc:
            raise _before_answer(call, exc) from exc
        chunks = _Chunks(call, response.aiter_raw())
        try:
            headers = {name.lower(): value for name, value in response.headers.items()}
            yield HttpResponse(response.status_code, headers, chunks)
        finally:
            # shielded: a cancelled agent must not leave a connection behind
            with anyio.move_on_after(_CLEANUP_S, shield=True):
                await response.aclose()
                await chunks.exhaust()

    async def post_json(self, call: Call, body: JsonValue) -> HttpReply:
        """The whole answer to a POST, whatever its status."""
        return await self._whole(call, body)

    async def get_json(self, call: Call) -> HttpReply:
        """The whole answer to a GET, whatever its status."""
        return await self._whole(call, None)

    async def _whole(self, call: Call, body: JsonValue) -> HttpReply:
        async with self.stream(call, body) as response:
            return HttpReply(response.status, response.headers, await read_body(call, response))

    def _request(self, call: Call, body: JsonValue) -> httpx.Request:
        timeout = httpx.Timeout(call.idle_timeout_s, connect=call.connect_timeout_s, pool=None)
        # identity: a compressing proxy would hold back what should be seen at once
        headers = {"accept-encoding": "identity", **call.headers}
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = body_bytes(call.who, body)
        method = "GET" if body is None else "POST"
        try:
            request = self._client.build_request(
                method, call.url, headers=headers, content=content, timeout=timeout
            )
        except (httpx.InvalidURL, UnicodeError) as exc:
            # without the cause: its text can hold a header's value
            raise ProviderUnusable(
                f"{call.who}: the URL or a header cannot be sent ({type(exc).__name__})"
            ) from None
        request.stream = _Body(content or b"")
        return request


class _Body(httpx.AsyncByteStream):
    """A request's body; the library's own is a generator, which a cancelled request would leave behind."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Once(self._content)


class _Once:
    """Gives its content, then ends."""

    def __init__(self, content: bytes) -> None:
        self._parts = [content] if content else []

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._parts:
            raise StopAsyncIteration
        return self._parts.pop()


class _Chunks:
    """The body's chunks, with the library's errors translated to ours."""

    def __init__(self, call: Call, chunks: AsyncIterator[bytes]) -> None:
        self._call = call
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._chunks)
        except (httpx.HTTPError, httpx.StreamError) as exc:
            raise _within_answer(self._call, exc) from exc

    async def exhaust(self) -> None:
        """Ends the library's generators after their connection was closed.

        Left suspended they would be finalized whenever the garbage collector
        finds them, which trio reports as an error of ours.
        """
        try:
            while True:
                await anext(self._chunks)
        except (StopAsyncIteration, httpx.HTTPError, httpx.StreamError):
            pass  # the closed connection says so, as it should


@asynccontextmanager
async def open_http(*, proxy_url: str | None = None) -> AsyncIterator[Http]:
    """The client of a host; leaving the block closes every connection.

    There is no bound on connections: how many requests run at once is the
    gate's business, and a queue here would hide behind its back.

    Raises:
        ProviderUnusable: the proxy cannot be used; its URL is not shown, it may hold a password.
    """
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30.0)
    mounts = dict.fromkeys(_LOOPBACK) if proxy_url is not None else None
    headers = {"user-agent": "callboard"}
    try:
        client = httpx.AsyncClient(
            trust_env=False, limits=limits, headers=headers, proxy=proxy_url, mounts=mounts
        )
    except (ValueError, ImportError, httpx.InvalidURL) as exc:
        raise ProviderUnusable(
            f"the proxy in the configuration cannot be used ({type(exc).__name__})"
        ) from None
    async with client:
        yield Http(client)


async def read_body(call: Call, response: HttpResponse, *, max_bytes: int = _MAX_REPLY_BYTES) -> bytes:
    """The rest of a body.

    Raises:
        ProtocolMismatch: it is larger than `max_bytes`.
    """
    body = bytearray()
    async for chunk in response.chunks:
        body += chunk
        if len(body) > max_bytes:
            raise ProtocolMismatch(
                f"{call.who} answered with more than {max_bytes:,} bytes where a short reply belongs"
            )
    return bytes(body)


def body_bytes(who: str, body: JsonValue) -> bytes:
    """The one byte form of a request body; half surrogate pairs become "?"."""
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError) as exc:
        raise IllegalRequest(f"{who}: the request has no JSON form: {exc}") from exc
    return text.encode("utf-8", "replace")


def _before_answer(call: Call, exc: httpx.HTTPError) -> ProviderError:
    origin = _origin(call.url)
    if isinstance(exc, httpx.ConnectTimeout):
        return ConnectionFailed(f"{call.who}: no connection to {origin} within {call.connect_timeout_s:g} s")
    if isinstance(exc, httpx.TimeoutException):
        return ProviderTimeout(f"{call.who}: no answer from {origin} for {call.idle_timeout_s:g} s")
    if isinstance(exc, httpx.ConnectError):
        return ConnectionFailed(f"{call.who}: no connection to {origin}: {exc}")
    if isinstance(exc, httpx.UnsupportedProtocol):
        return ProviderUnusable(f"{call.who}: {origin} is no address of HTTP")
    return ConnectionFailed(f"{call.who}: the connection to {origin} was lost before the answer began")


def _within_answer(call: Call, exc: Exception) -> ProviderError:
    origin = _origin(call.url)
    if isinstance(exc, httpx.TimeoutException):
        return ProviderTimeout(
            f"{call.who}: no byte from {origin} for {call.idle_timeout_s:g} s in the middle of an answer"
        )
    return StreamBroken(f"{call.who}: the connection to {origin} was lost in the middle of an answer")


def _origin(url: str) -> str:
    parsed = httpx.URL(url)
    port = "" if parsed.port is None else f":{parsed.port}"
    return f"{parsed.scheme}://{parsed.host}{port}"
