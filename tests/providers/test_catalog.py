from dataclasses import fields

import pytest
from pydantic import JsonValue

from providers.catalog import Catalog, _Facts
from providers.errors import CatalogError
from providers.model import Dialect, ModelProfile, Prices


def test_every_field_of_a_profile_can_be_set() -> None:
    settable = {*_Facts.model_fields, "name", "is_assumed"}
    assert {field.name for field in fields(ModelProfile)} == settable


@pytest.mark.parametrize("provider", ["anthropic", "openai", "local"])
def test_every_listed_model_is_known_and_leaves_room_to_answer(provider: str) -> None:
    models = Catalog().models(provider)
    assert models
    for model in models:
        profile = Catalog().profile(provider, model)
        assert profile.name == model
        assert not profile.is_assumed
        assert profile.max_output_tokens < profile.window_tokens


def test_a_dated_name_is_the_same_model() -> None:
    catalog = Catalog()
    plain = catalog.profile("anthropic", "claude-haiku-4-5")
    dated = catalog.profile("anthropic", "claude-haiku-4-5-20251001")
    assert dated.prices == plain.prices == Prices(1, 5, 0.1, 1.25)
    assert dated.name == "claude-haiku-4-5-20251001"
    assert not catalog.profile("openai", "gpt-5-2025-08-07").is_assumed


def test_system_messages_in_the_middle_are_for_models_that_take_them() -> None:
    catalog = Catalog()
    assert catalog.profile("anthropic", "claude-opus-4-8").mid_conversation_system
    assert not catalog.profile("anthropic", "claude-opus-4-7").mid_conversation_system


@pytest.mark.parametrize("provider", ["anthropic", "openai", "local", "somewhere"])
def test_an_unknown_model_gets_a_guess_that_says_so(provider: str) -> None:
    profile = Catalog().profile(provider, "never-heard-of-it")
    assert profile.is_assumed
    assert profile.prices is None
    assert not profile.mid_conversation_system or provider == "openai"


def test_a_provider_of_ones_own_gets_the_guess_of_its_wire_format() -> None:
    dialects = {"mine": Dialect.ANTHROPIC}
    mine = Catalog(dialects=dialects).profile("mine", "m")
    other = Catalog().profile("mine", "m")
    assert mine.window_tokens > other.window_tokens
    assert not mine.cache_marks


def test_the_local_model_is_as_small_as_it_is() -> None:
    profile = Catalog().profile("local", "smollm2-135m")
    assert (profile.window_tokens, profile.max_prefix_tokens, profile.repeat_penalty) == (8192, 400, 1.1)
    assert profile.structured_output
    assert not profile.tools
    assert profile.prices == Prices(0, 0, 0, 0)


def test_an_override_wins_and_one_for_a_single_model_wins_over_one_for_all() -> None:
    catalog = Catalog(
        {
            "openai:*": {"window_tokens": 1_000, "images": False},
            "openai:gpt-4o": {"window_tokens": 2_000},
        }
    )
    assert catalog.profile("openai", "gpt-4o").window_tokens == 2_000
    assert not catalog.profile("openai", "gpt-4o").images
    assert catalog.profile("openai", "gpt-4.1").window_tokens == 1_000
    assert Catalog().profile("openai", "gpt-4o").window_tokens == 128_000


def test_a_model_whose_window_was_told_is_no_guess() -> None:
    told = Catalog({"mine:qwen3:8b": {"window_tokens": 40_000}}).profile("mine", "qwen3:8b")
    assert (told.window_tokens, told.is_assumed) == (40_000, False)
    assert Catalog({"mine:m": {"tools": False}}).profile("mine", "m").is_assumed


def test_prices_can_be_told() -> None:
    prices: dict[str, JsonValue] = {
        "input_usd": 1,
        "output_usd": 2.5,
        "cache_read_usd": 0,
        "cache_write_usd": 1.25,
    }
    assert Catalog({"a:b": {"prices": prices}}).profile("a", "b").prices == Prices(1, 2.5, 0, 1.25)


@pytest.mark.parametrize(
    ("name", "told", "complaint"),
    [
        ("a:b", {"windw_tokens": 1}, r"windw_tokens: unknown field.*window_tokens"),
        ("a:b", {"window_tokens": "many"}, "window_tokens"),
        ("a:b", {"window_tokens": -1}, "window_tokens"),
        ("a:b", {"window_tokens": True}, "window_tokens"),
        ("a:b", {"tools": "no"}, "tools"),
        ("a:b", {"name": "c"}, "name: unknown field"),
        ("a:b", {"prices": {"input_usd": 1}}, r"prices\.output_usd"),
        ("a:b", {"prices": 3}, "prices"),
        ("gpt-4o", {}, "provider:model"),
        (":m", {}, "provider:model"),
        ("a:", {}, "provider:model"),
    ],
)
def test_a_wrong_override_is_refused_by_name(name: str, told: dict[str, JsonValue], complaint: str) -> None:
    with pytest.raises(CatalogError, match=complaint):
        Catalog({name: told})
