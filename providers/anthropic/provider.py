"""The Anthropic provider: the pure wire format inside the HTTP shell."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager

from providers.anthropic.decode import AnthropicDecoder
from providers.anthropic.encode import encode
from providers.endpoint import Endpoint
from providers.http import Http
from providers.model import ModelEvent, ModelProfile, Request
from providers.wire import Wire


class AnthropicProvider:
    """Anthropic, or a server that speaks its Messages format.

    Raises:
        AuthenticationFailed: on making it, when the key is missing.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        http: Http,
        profile_of: Callable[[str], ModelProfile],
        environ: Mapping[str, str],
        *,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._name = endpoint.name
        self._profile_of = profile_of
        self._wire = Wire(endpoint, http, environ, now_s)

    @property
    def name(self) -> str:
        return self._name

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        """One answer; an illegal request is refused here, before anything is sent."""
        body = encode(request, self._profile_of(request.model))
        return self._wire.stream(
            "/v1/messages", body, lambda asked, request_id: AnthropicDecoder(asked, request.model, request_id)
        )
