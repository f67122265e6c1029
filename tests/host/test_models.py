"""Model names as providers: what is found, what is refused, and how tokens are counted."""

from collections.abc import Mapping

import anyio
import pytest

from host.config import Config
from host.errors import NoModel
from host.models import ConfiguredModels, open_models
from providers.errors import AuthenticationFailed, ModelNotFound
from providers.http import open_http
from providers.local_process import LocalServer

KEYS = {"ANTHROPIC_API_KEY": "sk-test", "OPENAI_API_KEY": "sk-test"}


async def resolved(name: str | None, config: Config | None = None, environ: Mapping[str, str] = KEYS) -> str:
    async with open_models(config or Config(store="unused"), environ) as models:
        return models.resolve(name).name


async def test_the_default_is_what_is_configured_else_whose_key_is_set() -> None:
    assert await resolved(None, Config(store="unused", model="openai:gpt-5")) == "openai:gpt-5"
    assert (await resolved(None)).startswith("anthropic:")
    assert (await resolved(None, environ={"OPENAI_API_KEY": "sk-test"})).startswith("openai:")


async def test_without_key_and_local_model_both_ways_are_named() -> None:
    config = Config(store="unused")
    async with open_http() as http, LocalServer() as server:
        bare = ConfiguredModels(config, {}, http, server, has_local=lambda: False)
        with pytest.raises(NoModel, match=r"ANTHROPIC_API_KEY or OPENAI_API_KEY.*callboard model install"):
            bare.resolve(None)


@pytest.mark.parametrize(
    ("name", "match"),
    [("gpt-5", "named provider:model"), ("nobody:x", "there are: anthropic, local, openai"), (":x", "named")],
)
async def test_a_name_that_is_none_says_how_models_are_named(name: str, match: str) -> None:
    with pytest.raises(ModelNotFound, match=match):
        await resolved(name)


async def test_a_missing_key_names_where_it_was_looked_for() -> None:
    with pytest.raises(AuthenticationFailed, match="ANTHROPIC_API_KEY"):
        await resolved("anthropic:claude-sonnet-5-5", environ={})


@pytest.mark.parametrize(("told", "wanted"), [("auto", True), ("off", False), ("force", True)])
async def test_the_configuration_decides_over_system_messages_mid_conversation(
    told: str, wanted: bool
) -> None:
    config = Config(store="unused", mid_conversation_system=told)  # type: ignore[arg-type]  # parametrized
    async with open_models(config, KEYS) as models:
        assert models.resolve("anthropic:claude-sonnet-5-5").profile.mid_conversation_system is wanted


@pytest.mark.parametrize(
    ("url", "wanted"),
    [("https://api.anthropic.com/", True), ("http://127.0.0.1:8977/anthropic", False)],
)
async def test_a_server_that_only_speaks_like_anthropic_gets_no_system_messages_mid_conversation(
    url: str, wanted: bool
) -> None:
    async with open_models(Config(store="unused"), {**KEYS, "ANTHROPIC_BASE_URL": url}) as models:
        assert models.resolve("anthropic:claude-sonnet-5-5").profile.mid_conversation_system is wanted


def test_counting_by_ranks_starts_once_and_keeps_what_it_has_learnt(real_backend: str) -> None:
    async def main() -> None:
        async with open_models(Config(store="unused"), KEYS) as models:
            model = models.resolve("openai:gpt-5")
            sharp = await models.sharpen(model)
            assert sharp.counter.count_text("hello world") == 2
            assert await models.sharpen(sharp) is sharp
            assert models.resolve("openai:gpt-5") is sharp

    anyio.run(main, backend=real_backend)
