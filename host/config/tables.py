"""The configuration as it is written: TOML tables, checked key by key."""

import difflib
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from actors.agent import Limits
from host.errors import ConfigInvalid
from host.limits import SpawnLimits
from host.permissions import PermissionMode
from providers.model import Dialect

_Count = Annotated[int, Field(ge=1)]
_Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Text = Annotated[str, Field(min_length=1)]
_MAX_SHOWN = 60


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PermissionsTable(_Table):
    mode: Annotated[PermissionMode, Field(strict=False)] = PermissionMode.DEFAULT
    allow: list[str] = []
    ask: list[str] = []
    deny: list[str] = []


class ProviderTable(_Table):
    base_url: _Text | None = None
    headers: dict[str, str] = {}
    key_env: _Text | None = None
    key_file: _Text | None = None
    api_version: _Text | None = None
    dialect: Annotated[Dialect | None, Field(strict=False)] = None


class LimitsTable(_Table):
    steps: _Count = Limits().steps
    tool_calls: _Count = Limits().tool_calls
    tokens: _Count | None = None
    cost_usd: _Amount | None = None
    time_s: _Amount | None = None


class SpawnTable(_Table):
    depth: Annotated[int, Field(ge=0)] = SpawnLimits().depth
    at_work: _Count = SpawnLimits().at_work
    in_all: _Count = SpawnLimits().in_all
    per_minute: _Count = SpawnLimits().per_minute


class ConfigTable(_Table):
    model: Annotated[str, Field(pattern=r"^[^:\s]+:\S+$")] | None = None
    store: _Text | None = None
    durability: Literal["full", "normal"] = "full"
    mid_conversation_system: Literal["auto", "force", "off"] = "auto"
    peers_may_use_system_role: bool = False
    permissions: PermissionsTable = PermissionsTable()
    limits: LimitsTable = LimitsTable()
    spawn: SpawnTable = SpawnTable()
    providers: dict[str, ProviderTable] = {}
    models: dict[str, dict[str, JsonValue]] = {}


def check(values: Mapping[str, object], source: str) -> ConfigTable:
    """The tables that one source sets.

    Raises:
        ConfigInvalid: an unknown key, or a value that does not fit; names source and key.
    """
    try:
        return ConfigTable.model_validate(values)
    except ValidationError as error:
        # Without the cause: it quotes values, and headers may hold secrets.
        raise ConfigInvalid("\n".join(_complaint(one, source) for one in error.errors())) from None


def nearest(name: str, known: list[str]) -> str:
    """A hint for a mistyped name: the one that was meant, or all that there are."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"


def _complaint(error: ErrorDetails, source: str) -> str:
    location = error["loc"]
    key = ".".join(str(part) for part in location)
    if error["type"] == "extra_forbidden":
        return f"{source}: unknown key {key!r}; {nearest(str(location[-1]), _known_keys(location[:-1]))}"
    if location == ("model",) and error["type"] == "string_pattern_mismatch":
        wanted = "a model is named provider:model, such as anthropic:claude-sonnet-5-5"
    else:
        wanted = error["msg"][0].lower() + error["msg"][1:]
    got = "" if "headers" in location else f", got {_shown(error['input'])}"
    return f"{source}: {key}: {wanted}{got}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """The keys of the table at this place; inside a table of named tables the name is passed over."""
    table: type[BaseModel] = ConfigTable
    for part in location:
        annotation = table.model_fields[str(part)].annotation if str(part) in table.model_fields else None
        for candidate in (annotation, *get_args(annotation)):
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                table = candidate
    return list(table.model_fields)
