"""The model on this machine as a provider: small, slow, free of keys and networks.

It is a toy: it cannot choose tools, so none are sent; it can hold an answer to
a JSON schema. Its server starts with the first request.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from types import TracebackType
from typing import Final

from providers.endpoint import Endpoint, LiteralKey
from providers.errors import ConnectionFailed, ModelNotFound, ProviderError, StreamBroken
from providers.http import Http
from providers.local_process import LOCAL_MODEL, LocalServer, Running
from providers.model import Answered, Dialect, ModelEvent, ModelProfile, Request, StopReason, ToolChoice
from providers.openai_chat import OpenAIChatProvider

TEXT_TOKENS: Final = 40
RECORD_TOKENS: Final = 160

_CRASH_SHOWS_WITHIN_S: Final = 1.0


def local_request(request: Request) -> Request:
    """The request as the small model takes it: without tools, and short where it sets no limit.

    Raises:
        ModelNotFound: there is no local model of this name.
    """
    if request.model != LOCAL_MODEL:
        raise ModelNotFound(f"there is no model local:{request.model}; there is local:{LOCAL_MODEL}")
    limit = RECORD_TOKENS if request.output else TEXT_TOKENS
    return replace(
        request,
        tools=(),
        tool_choice=ToolChoice.AUTO,
        max_output_tokens=request.max_output_tokens or limit,
    )


def local_answer(request: Request, event: ModelEvent) -> ModelEvent:
    """The event; an answer that ran into the bound that nobody but us had set has simply ended there.

    Nobody asked for more: sent back with "go on", a model this small talks for ever.
    """
    is_ours = request.max_output_tokens is None
    if is_ours and isinstance(event, Answered) and event.stop is StopReason.MAX_TOKENS:
        return replace(event, stop=StopReason.END_TURN)
    return event


class LocalProvider:
    """A `Provider` in front of a `LocalServer`; the server is started by the first request.

    Raises (beside the errors of the wire format):
        LocalModelMissing: it is not installed; the text says how.
        ConnectionFailed: the server crashed; its last words are in the text, and
            the next request starts it again.
    """

    def __init__(
        self,
        server: LocalServer,
        http: Http,
        profile_of: Callable[[str], ModelProfile],
        *,
        name: str = "local",
    ) -> None:
        self._server = server
        self._http = http
        self._profile_of = profile_of
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        return _LocalStream(self._server, self._chat, request)

    def _chat(self, running: Running) -> OpenAIChatProvider:
        endpoint = Endpoint(
            self._name,
            Dialect.OPENAI_CHAT,
            running.base_url,
            LiteralKey(running.key),
            # the server drops idle connections early, at times just when the next request takes one
            headers={"connection": "close"},
        )
        return OpenAIChatProvider(endpoint, self._http, self._profile_of, {})


class _LocalStream:
    """One request; a lost connection is explained by the server's crash where there was one."""

    def __init__(
        self, server: LocalServer, chat: Callable[[Running], OpenAIChatProvider], request: Request
    ) -> None:
        self._server = server
        self._chat = chat
        self._request = request

    async def __aenter__(self) -> "_LocalStream":
        request = local_request(self._request)
        self._running = await self._server.running()
        self._stream = self._chat(self._running).stream(request)
        try:
            self._events = await self._stream.__aenter__()
        except (ConnectionFailed, StreamBroken) as exc:
            raise await self._explained(exc) from exc
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc, traceback)

    def __aiter__(self) -> AsyncIterator[ModelEvent]:
        return self

    async def __anext__(self) -> ModelEvent:
        try:
            return local_answer(self._request, await anext(self._events))
        except (ConnectionFailed, StreamBroken) as exc:
            raise await self._explained(exc) from exc

    async def _explained(self, error: ProviderError) -> ProviderError:
        return await self._server.crash(self._running, within_s=_CRASH_SHOWS_WITHIN_S) or error
