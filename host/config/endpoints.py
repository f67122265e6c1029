"""Where the configured providers are reached."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from host.config.model import Config, ProviderConfig
from host.errors import ConfigInvalid
from providers.endpoint import (
    Endpoint,
    EnvironmentKey,
    FileKey,
    anthropic_endpoint,
    openai_endpoint,
)
from providers.errors import CallboardError

_BASE_URL_VARIABLES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}


def endpoints(config: Config, environ: Mapping[str, str]) -> dict[str, Endpoint]:
    """Anthropic, OpenAI and every provider of the configuration, by name.

    The environment goes before the files for base URLs as for everything
    else. The local model is no endpoint.

    Raises:
        ConfigInvalid: a provider that is not built in lacks its dialect or base URL, or a URL is none.
    """
    built_in = {"anthropic": anthropic_endpoint(environ), "openai": openai_endpoint(environ)}
    configured = {
        name: _configured(name, provider, built_in.get(name), config, environ)
        for name, provider in config.providers.items()
    }
    return {**built_in, **configured}


def _configured(
    name: str,
    provider: ProviderConfig,
    built_in: Endpoint | None,
    config: Config,
    environ: Mapping[str, str],
) -> Endpoint:
    source = next((s for key, s in config.origins.items() if key.startswith(f"providers.{name}.")), "default")
    try:
        endpoint = built_in if built_in is not None else _new(name, provider, source)
        is_told = bool(environ.get(_BASE_URL_VARIABLES.get(name, "")))
        return replace(
            endpoint,
            base_url=endpoint.base_url if is_told or provider.base_url is None else provider.base_url,
            dialect=provider.dialect or endpoint.dialect,
            key=_key(provider) or endpoint.key,
            api_version=provider.api_version or endpoint.api_version,
            headers=dict(provider.headers),
        )
    except CallboardError as error:
        if isinstance(error, ConfigInvalid):
            raise
        raise ConfigInvalid(f"{source}: providers.{name}: {error}") from error


def _new(name: str, provider: ProviderConfig, source: str) -> Endpoint:
    if provider.base_url is None or provider.dialect is None:
        raise ConfigInvalid(
            f"{source}: providers.{name}: base_url and dialect wanted for a provider that is not built in,"
            f" got {'no base_url' if provider.base_url is None else 'no dialect'}"
        )
    return Endpoint(name, provider.dialect, provider.base_url, key=None)


def _key(provider: ProviderConfig) -> EnvironmentKey | FileKey | None:
    if provider.key_env is not None:
        return EnvironmentKey(provider.key_env)
    return FileKey(Path(provider.key_file)) if provider.key_file is not None else None
