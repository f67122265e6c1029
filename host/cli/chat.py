"""`callboard chat`"""

from typing import TYPE_CHECKING

import typer

from host.cli.options import (
    Backend,
    BackendOption,
    CwdOption,
    JsonOption,
    ModelOption,
    ModeOption,
    NameOption,
    Settings,
    StoreOption,
)

if TYPE_CHECKING:
    from host.cli.launch import Signals


def chat(
    model: ModelOption = None,
    mode: ModeOption = None,
    cwd: CwdOption = None,
    agent_name: NameOption = "main",
    json: JsonOption = False,
    backend: BackendOption = Backend.ASYNCIO,
    store: StoreOption = None,
) -> None:
    """Talk to an agent. Ctrl-C stops its turn; what you write meanwhile steers it.

    Through a pipe every line is a message, and the chat ends behind the last answer.
    """
    from host.cli.launch import launch

    settings = Settings(model, mode, cwd, store)

    async def work(signals: "Signals") -> int:
        from host.cli.conversations import new_chat

        return await new_chat(settings, agent_name, signals, as_json=json)

    raise typer.Exit(launch(work, backend.value))
