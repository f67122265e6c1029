"""Model names as providers: endpoints, keys, the local server, retries and counters."""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from actors.ports import ResolvedModel
from host.config import Config, endpoints
from host.errors import NoModel
from providers.anthropic import AnthropicProvider
from providers.catalog import Catalog
from providers.correction import CorrectedCounter
from providers.endpoint import ANTHROPIC_URL, Endpoint, resolve_key
from providers.errors import ModelNotFound
from providers.http import Http, open_http
from providers.install import is_installed
from providers.local import LocalProvider
from providers.local_process import LOCAL_MODEL, LocalServer
from providers.model import Dialect, ModelProfile
from providers.openai_chat import OpenAIChatProvider
from providers.ports import Provider, TokenCounter
from providers.retry import Retrying, RetryPolicy
from providers.tokens import counter_for, ensure_ranks, ranks_if_loaded

LOCAL = "local"
DEFAULTS = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-5.6-terra", LOCAL: LOCAL_MODEL}
_TWO_WAYS = (
    "no model can be reached. There are two ways: set ANTHROPIC_API_KEY or OPENAI_API_KEY, "
    "or install the small local model with `callboard model install`"
)


@asynccontextmanager
async def open_models(config: Config, environ: Mapping[str, str]) -> AsyncIterator["ConfiguredModels"]:
    """The models that a configuration names; nothing is connected or started before it is asked for."""
    async with open_http() as http, LocalServer() as server:
        yield ConfiguredModels(config, environ, http, server)


class ConfiguredModels:
    """Implements `actors.ports.Models` for real providers."""

    def __init__(
        self,
        config: Config,
        environ: Mapping[str, str],
        http: Http,
        server: LocalServer,
        *,
        has_local: Callable[[], bool] = is_installed,
    ) -> None:
        self._has_local = has_local
        self._config = config
        self._environ = environ
        self._http = http
        self._server = server
        self._endpoints = endpoints(config, environ)
        dialects = {name: endpoint.dialect for name, endpoint in self._endpoints.items()}
        self._catalog = Catalog(config.models, dialects)
        self._providers: dict[str, Provider] = {}
        self._resolved: dict[str, ResolvedModel] = {}
        self._sharp: set[str] = set()

    def resolve(self, name: str | None) -> ResolvedModel:
        """A model by its full name, None for the default one.

        Raises:
            NoModel: no default can be had; says which ways there are.
            ModelNotFound: the name is not `provider:model`, or the provider is not known.
            AuthenticationFailed: the provider's key is missing; says where it was looked for.
        """
        full = name or self.default_name()
        known = self._resolved.get(full)
        if known is None:
            provider_name, model = _split(full)
            profile = self._profile(provider_name, model)
            known = self._counted(full, profile, counter_for(model, ranks_if_loaded()))
        return known

    async def sharpen(self, model: ResolvedModel) -> ResolvedModel:
        """The same model, counted by ranks; loading them takes a second of a worker thread, once."""
        if model.name.startswith(f"{LOCAL}:"):
            return model
        counter = counter_for(model.profile.name, await ensure_ranks())
        if model.name not in self._sharp:
            self._sharp.add(model.name)
            self._counted(model.name, model.profile, counter)
        return self._resolved[model.name]

    def _counted(self, full: str, profile: ModelProfile, counter: TokenCounter) -> ResolvedModel:
        """The model with a counter that learns from what its provider reports."""
        provider = self._provider(_split(full)[0])
        self._resolved[full] = ResolvedModel(full, provider, profile, CorrectedCounter(counter))
        return self._resolved[full]

    def default_name(self) -> str:
        """The configured model, else one whose key is set, else the local one.

        Raises:
            NoModel: none of these.
        """
        if self._config.model is not None:
            return self._config.model
        for provider, variable in (("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")):
            if self._environ.get(variable):
                return f"{provider}:{DEFAULTS[provider]}"
        if self._has_local():
            return f"{LOCAL}:{LOCAL_MODEL}"
        raise NoModel(_TWO_WAYS)

    def _profile(self, provider: str, model: str) -> ModelProfile:
        """The catalogue's facts, with what is known here of system messages mid-conversation.

        Servers that only speak like Anthropic mostly refuse them, whatever the model is called.
        """
        profile = self._catalog.profile(provider, model)
        endpoint = self._endpoints.get(provider)
        match self._config.mid_conversation_system:
            case "auto":
                is_lookalike = (
                    endpoint is not None
                    and endpoint.dialect is Dialect.ANTHROPIC
                    and endpoint.base_url.rstrip("/") != ANTHROPIC_URL
                )
                return replace(profile, mid_conversation_system=False) if is_lookalike else profile
            case "force" | "off" as told:
                return replace(profile, mid_conversation_system=told == "force")

    def _provider(self, name: str) -> Provider:
        known = self._providers.get(name)
        if known is None:
            known = self._providers[name] = Retrying(self._adapter(name), RetryPolicy(), random.random)
        return known

    def _adapter(self, name: str) -> Provider:
        def profile_of(model: str) -> ModelProfile:
            return self._profile(name, model)

        if name == LOCAL:
            return LocalProvider(self._server, self._http, profile_of)
        endpoint = self._endpoint(name)
        resolve_key(endpoint, self._environ)
        match endpoint.dialect:
            case Dialect.ANTHROPIC:
                return AnthropicProvider(endpoint, self._http, profile_of, self._environ)
            case Dialect.OPENAI_CHAT:
                return OpenAIChatProvider(endpoint, self._http, profile_of, self._environ)
            case Dialect.OPENAI_RESPONSES:
                raise ModelNotFound(
                    f"{name} is configured for the dialect openai_responses, which this version does not "
                    "speak; there are: anthropic, openai_chat"
                )

    def _endpoint(self, name: str) -> Endpoint:
        endpoint = self._endpoints.get(name)
        if endpoint is None:
            known = ", ".join(sorted({*self._endpoints, LOCAL}))
            raise ModelNotFound(
                f"no provider named {name!r}; there are: {known}. Others need a base_url and a dialect in "
                "the configuration"
            )
        return endpoint


def _split(full: str) -> tuple[str, str]:
    provider, _, model = full.partition(":")
    if not provider or not model:
        raise ModelNotFound(
            f"a model is named provider:model (anthropic:{DEFAULTS['anthropic']}, {LOCAL}:{LOCAL_MODEL}); "
            f"got {full!r}"
        )
    return provider, model
