"""Where a provider is reached, how, and with which key."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from providers.errors import AuthenticationFailed, ProviderUnusable
from providers.model import Dialect

ANTHROPIC_URL = "https://api.anthropic.com"


class AuthStyle(StrEnum):
    """The header in which the key goes."""

    X_API_KEY = "x-api-key"
    BEARER = "bearer"


@dataclass(frozen=True, slots=True)
class EnvironmentKey:
    """The key is the value of an environment variable."""

    variable: str


@dataclass(frozen=True, slots=True)
class FileKey:
    """The key is the content of a file that only its owner may read."""

    path: Path


@dataclass(frozen=True, slots=True)
class LiteralKey:
    """The key itself; no text form of this object shows it."""

    value: str = field(repr=False)


KeySource: TypeAlias = EnvironmentKey | FileKey | LiteralKey


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider as it is configured.

    `base_url` means what it means to the official SDKs: for Anthropic the
    root without `/v1`, for OpenAI with it. `key` None sends none (a local
    server). `api_version` is Anthropic's; the older date is understood
    everywhere, compatible servers may know no other. `headers` are sent as
    they are and win over ours; they may hold secrets and are not shown.
    """

    name: str
    dialect: Dialect
    base_url: str
    key: KeySource | None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_version: str = "2023-06-01"
    connect_timeout_s: float = 10.0
    idle_timeout_s: float = 600.0
    auth: AuthStyle = AuthStyle.BEARER

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ProviderUnusable(f"{self.name}: a base URL begins with http:// or https:// and a host")
        if parts.username is not None or parts.password is not None:
            raise ProviderUnusable(f"{self.name}: a base URL must not hold a name or password; use the key")

    def url(self, path: str) -> str:
        """The address of an interface under the base URL; `path` begins with a slash."""
        return self.base_url.rstrip("/") + path


def anthropic_endpoint(environ: Mapping[str, str], *, name: str = "anthropic") -> Endpoint:
    """Anthropic itself, or what ANTHROPIC_BASE_URL names."""
    return Endpoint(
        name,
        Dialect.ANTHROPIC,
        environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL,
        EnvironmentKey("ANTHROPIC_API_KEY"),
        auth=AuthStyle.X_API_KEY,
    )


def openai_endpoint(environ: Mapping[str, str], *, name: str = "openai") -> Endpoint:
    """OpenAI's Chat Completions, or what OPENAI_BASE_URL names."""
    return Endpoint(
        name,
        Dialect.OPENAI_CHAT,
        environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1",
        EnvironmentKey("OPENAI_API_KEY"),
    )


def resolve_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The key of an endpoint, None where it needs none.

    Raises:
        AuthenticationFailed: it is missing, unreadable or cannot be a key; names where it was looked for.
    """
    match endpoint.key:
        case None:
            return None
        case EnvironmentKey(variable):
            value, place = environ.get(variable, ""), f"the environment variable {variable}"
        case FileKey(path):
            value, place = _read_key_file(endpoint.name, path), f"the file {path}"
        case LiteralKey(literal):
            value, place = literal, "the configuration"
    key = value.strip()
    if not key:
        raise AuthenticationFailed(f"{endpoint.name} needs a key: {place} is not set or empty")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise AuthenticationFailed(
            f"{endpoint.name}: what stands in {place} cannot be a key (only printable ASCII can)"
        )
    return key


def auth_headers(endpoint: Endpoint, key: str | None) -> dict[str, str]:
    """Everything that goes with each request of this endpoint."""
    headers: dict[str, str] = {}
    if endpoint.dialect is Dialect.ANTHROPIC:
        headers["anthropic-version"] = endpoint.api_version
    if key is not None and endpoint.auth is AuthStyle.X_API_KEY:
        headers["x-api-key"] = key
    elif key is not None:
        headers["authorization"] = f"Bearer {key}"
    return headers | {name.lower(): value for name, value in endpoint.headers.items()}


def _read_key_file(name: str, path: Path) -> str:
    try:
        mode = path.stat().st_mode
        if stat.S_IMODE(mode) & 0o077:
            raise AuthenticationFailed(f"{name}: the key file {path} can be read by others; make it 0600")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise AuthenticationFailed(
            f"{name}: the key file {path} cannot be read ({type(exc).__name__})"
        ) from None
