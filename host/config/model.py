"""A configuration as the rest of the host sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import JsonValue

from actors.agent import Limits
from host.limits import SpawnLimits
from host.permissions import PermissionMode, RuleSet
from providers.model import Dialect

Durability: TypeAlias = Literal["full", "normal"]
MidConversationSystem: TypeAlias = Literal["auto", "force", "off"]

IN_MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """How one provider is reached; None and empty leave what is built in.

    `key_env` names a variable and `key_file` a file that holds the key; never
    both, and never the key itself. `headers` may hold secrets and are not
    shown.
    """

    base_url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    key_env: str | None = None
    key_file: str | None = None
    api_version: str | None = None
    dialect: Dialect | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set, with its defaults.

    `model` is `provider:model`. `store` is an absolute
    path, or `:memory:`, which keeps nothing. `models` changes
    facts of models: fields of `ModelProfile` by `provider:model`.
    """

    store: str
    model: str | None = None
    permission_mode: PermissionMode = PermissionMode.DEFAULT
    rules: RuleSet = field(default_factory=RuleSet)
    durability: Durability = "full"
    mid_conversation_system: MidConversationSystem = "auto"
    peers_may_use_system_role: bool = False
    limits: Limits = field(default_factory=Limits)
    spawn: SpawnLimits = field(default_factory=SpawnLimits)
    providers: Mapping[str, ProviderConfig] = field(default_factory=dict)
    models: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict, repr=False)

    def origin_of(self, key: str) -> str:
        """Where a value was set: a file, a variable, an argument, or `default`.

        Keys are written as in the file: `permissions.mode`. Rules come from
        everywhere at once, so theirs may name several places.
        """
        return self.origins.get(key, "default")
