"""From a configuration to a running host."""

from pathlib import Path

import anyio

from actors import Agent, builtin_tools
from host.config import IN_MEMORY, Config, ProviderConfig
from host.opening import open_host, without_keys
from host.permissions import PermissionMode
from host.surroundings import Unseen
from providers.model import Role, text_of
from providers.scripted import ScriptedProvider, call
from tests.host.hosts import ScriptedModels


def test_no_key_of_a_provider_is_in_the_environment_of_commands() -> None:
    config = Config(
        store=IN_MEMORY,
        providers={"openai": ProviderConfig(key_env="MY_KEY"), "anthropic": ProviderConfig()},
    )
    environ = {"PATH": "/bin", "MY_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2", "OTHER_KEY": "3"}
    assert without_keys(environ, config) == {"PATH": "/bin", "OTHER_KEY": "3"}


def test_a_command_that_prints_its_environment_shows_no_key(real_backend: str, tmp_path: Path) -> None:
    async def main() -> None:
        provider = ScriptedProvider([[call("Bash", {"command": "env"})], "Done."])
        environ = {"PATH": "/usr/bin:/bin", "ANTHROPIC_API_KEY": "sk-very-secret", "COLOUR": "blue"}
        async with open_host(
            config=Config(store=IN_MEMORY, permission_mode=PermissionMode.BYPASS),
            models=ScriptedModels(provider),
            surroundings=Unseen(),
            environ=environ,
            cwd=tmp_path,
        ) as host:
            session = await host.start(Agent("main", tools=builtin_tools().values()))
            await session.ask("Look around.")
        (result,) = [m for m in provider.requests[1].messages if m.role is Role.TOOL]
        assert "COLOUR=blue" in text_of(result.content)
        assert "secret" not in text_of(result.content)

    anyio.run(main, backend=real_backend)
