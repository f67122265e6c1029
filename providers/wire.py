"""The HTTP shell around a wire format: bytes in, model events out.

A wire format is a pure `encode` and a pure decoder; everything that both
formats do in the same way over HTTP stands here.
"""

import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

import anyio
from pydantic import JsonValue

from providers.endpoint import Endpoint, auth_headers, resolve_key
from providers.errors import ProviderError, RetryableError
from providers.failures import Asked, http_failure, request_id_of, stream_failure, wrong_content
from providers.http import Call, Http, HttpResponse, read_body
from providers.model import Answered, ModelEvent
from providers.reading import parse_json
from providers.sse import ServerSentEvent, SseDecoder

_MAX_ERROR_BYTES = 1024 * 1024
_DRAIN_S = 0.5
# some compatible servers give their streams a generic type
_STREAMS = ("text/event-stream", "text/plain", "application/octet-stream")


class AnswerDecoder(Protocol):
    """Turns the events of one answer's stream into model events; pure.

    Raises:
        ProviderError: an error event, or events that make no answer.
    """

    def feed(self, event: ServerSentEvent) -> tuple[ModelEvent, ...]: ...

    def close(self) -> None:
        """Says that the stream has ended.

        Raises:
            StreamBroken: before its end marker.
        """
        ...


class Wire:
    """Sends requests to one endpoint with its key.

    Raises:
        AuthenticationFailed: there is no key where the endpoint says it is.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        http: Http,
        environ: Mapping[str, str],
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._endpoint = endpoint
        self._http = http
        self._now_s = now_s
        self._secret = resolve_key(endpoint, environ)

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        body: dict[str, JsonValue],
        decoder_of: Callable[[Asked, str | None], AnswerDecoder],
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        """Opens one answer; `decoder_of` makes its decoder, given whom was asked and the request id."""
        call = self._call(path, accept="text/event-stream")
        asked = Asked(call.who, call.url, self._secret)
        async with self._http.stream(call, body) as response:
            if response.status != 200:
                error_body = await read_body(call, response, max_bytes=_MAX_ERROR_BYTES)
                raise http_failure(asked, response.status, response.headers, error_body, self._now_s())
            if not response.headers.get("content-type", "").lower().startswith(_STREAMS):
                raise await self._no_stream(asked, call, response)
            decoder = decoder_of(asked, request_id_of(response.headers))
            yield _AnswerEvents(response.chunks, decoder)

    async def _no_stream(self, asked: Asked, call: Call, response: HttpResponse) -> ProviderError:
        body = await read_body(call, response, max_bytes=_MAX_ERROR_BYTES)
        try:
            payload = parse_json(body.decode("utf-8", "replace"))
        except ValueError:
            payload = None
        if isinstance(payload, dict) and payload.get("error"):
            return stream_failure(asked, payload, request_id_of(response.headers))
        return wrong_content(asked, response.headers, body)

    def _call(self, path: str, accept: str) -> Call:
        endpoint = self._endpoint
        return Call(
            who=endpoint.name,
            url=endpoint.url(path),
            headers={"accept": accept, **auth_headers(endpoint, self._secret)},
            connect_timeout_s=endpoint.connect_timeout_s,
            idle_timeout_s=endpoint.idle_timeout_s,
        )


class _AnswerEvents:
    """The model events of one response; a class because an abandoned generator could not clean up."""

    def __init__(self, chunks: AsyncIterator[bytes], decoder: AnswerDecoder) -> None:
        self._chunks = chunks
        self._sse = SseDecoder()
        self._decoder = decoder
        self._ready: deque[ModelEvent] = deque()
        self._failure: ProviderError | None = None
        self._is_over = False

    def __aiter__(self) -> AsyncIterator[ModelEvent]:
        return self

    async def __anext__(self) -> ModelEvent:
        while not self._ready:
            if self._failure is not None:
                raise self._failure
            if self._is_over:
                await self._drain()
                raise StopAsyncIteration
            await self._read()
        event = self._ready.popleft()
        self._is_over = isinstance(event, Answered)
        return event

    async def _read(self) -> None:
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            self._take(self._sse.close)
            if not self._ready:
                self._take(self._close)
            return
        self._take(lambda: self._sse.feed(chunk))

    def _close(self) -> tuple[ServerSentEvent, ...]:
        self._decoder.close()
        self._is_over = True
        return ()

    def _take(self, decode: Callable[[], tuple[ServerSentEvent, ...]]) -> None:
        """Decodes; what came before an error is delivered before it is raised."""
        try:
            for event in decode():
                self._ready.extend(self._decoder.feed(event))
        except ProviderError as error:
            self._failure = error

    async def _drain(self) -> None:
        """Reads what little is left, so that the connection can serve the next request."""
        with anyio.move_on_after(_DRAIN_S):
            try:
                async for _ in self._chunks:
                    pass
            except RetryableError:
                return  # the answer is whole; how its connection ends concerns nobody
