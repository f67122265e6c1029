"""What is known of each model, as data, and what a user's configuration says otherwise.

`data/models.json` holds, for each provider, what holds for all of its models
(`defaults`, a cautious guess for one that is not listed) and what is known of
single ones. Its keys with a star stand for any other provider that speaks that
wire format. The window of a model whose input is limited apart is that limit.
A price that depends on the length of the request is left out: it would be wrong.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PositiveInt, TypeAdapter, ValidationError

from providers.errors import CatalogError
from providers.model import Dialect, ModelProfile

# `claude-haiku-4-5-20251001` and `gpt-5-2025-08-07` are dated names of the same model
_DATE: Final = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")
_ANY_MODEL: Final = "*"

_Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _PriceFacts(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    input_usd: _Usd
    output_usd: _Usd
    cache_read_usd: _Usd
    cache_write_usd: _Usd


class _Facts(BaseModel):
    """Fields of a profile as JSON; only those that are given count."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    window_tokens: PositiveInt = 1
    max_output_tokens: PositiveInt = 1
    mid_conversation_system: bool = False
    tools: bool = True
    structured_output: bool = True
    images: bool = False
    cache_marks: bool = False
    max_tokens_field: str = "max_tokens"
    system_role: str = "system"
    repeat_penalty: float | None = None
    max_prefix_tokens: PositiveInt | None = None
    prices: _PriceFacts | None = None

    def given(self) -> dict[str, object]:
        """The fields that were given, as arguments of `ModelProfile`."""
        return self.model_dump(exclude_unset=True)


class _ProviderFacts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    defaults: _Facts
    models: dict[str, _Facts]


_FILE: Final = TypeAdapter(dict[str, _ProviderFacts])


@cache
def _known() -> Mapping[str, _ProviderFacts]:
    return _FILE.validate_json(resources.files("providers").joinpath("data", "models.json").read_bytes())


class Catalog:
    """Profiles by provider and model.

    `overrides` maps `provider:model`, or `provider:*` for all models of one,
    to fields of `ModelProfile`; `dialects` tells the wire format of providers
    that are not built in (OpenAI chat where it does not).

    Raises:
        CatalogError: an override has an unknown field, a wrong type, or no provider.
    """

    def __init__(
        self,
        overrides: Mapping[str, Mapping[str, JsonValue]] | None = None,
        dialects: Mapping[str, Dialect] | None = None,
    ) -> None:
        self._overrides = {name: _checked(name, given) for name, given in (overrides or {}).items()}
        self._dialects = dict(dialects or {})

    def profile(self, provider: str, model: str) -> ModelProfile:
        """The facts of a model; of one that nobody knows, a guess marked `is_assumed`."""
        family = self._family(provider)
        known = family.models.get(model) or family.models.get(_DATE.sub("", model))
        told = self._overrides.get(f"{provider}:{_ANY_MODEL}", {}) | self._overrides.get(
            f"{provider}:{model}", {}
        )
        facts = family.defaults.given() | (known.given() if known else {}) | told
        is_assumed = known is None and "window_tokens" not in told
        return _profile(model, facts, is_assumed=is_assumed)

    def models(self, provider: str) -> tuple[str, ...]:
        """The names of a provider's models that are known, newest first."""
        return tuple(_known()[provider].models) if provider in _known() else ()

    def _family(self, provider: str) -> _ProviderFacts:
        dialect = self._dialects.get(provider, Dialect.OPENAI_CHAT)
        return _known().get(provider) or _known()[f"*{dialect}"]


def _profile(model: str, facts: Mapping[str, object], *, is_assumed: bool) -> ModelProfile:
    return _PROFILE.validate_python({"name": model, "is_assumed": is_assumed, **facts})


_PROFILE: Final = TypeAdapter(ModelProfile)


def _checked(name: str, given: Mapping[str, JsonValue]) -> dict[str, object]:
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise CatalogError(f"a model's profile is set by 'provider:model' or 'provider:*'; got {name!r}")
    try:
        return _Facts.model_validate(dict(given)).given()
    except ValidationError as exc:
        problems = "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {_complaint(error['type'], error['msg'])}"
            f" (got {error['input']!r})"
            for error in exc.errors()
        )
        names = ", ".join(sorted(_Facts.model_fields))
        raise CatalogError(f"the profile of {name} is wrong: {problems}; its fields are {names}") from exc


def _complaint(kind: str, message: str) -> str:
    return "unknown field" if kind == "extra_forbidden" else message
