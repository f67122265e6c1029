"""`callboard resume`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import (
    Backend,
    BackendOption,
    JsonOption,
    ModelOption,
    ModeOption,
    Settings,
    StoreOption,
)

if TYPE_CHECKING:
    from host.cli.launch import Signals


def resume(
    session: Annotated[
        str, typer.Argument(metavar="ID", help="The session: its id, the beginning of it, or its name.")
    ],
    model: ModelOption = None,
    mode: ModeOption = None,
    json: JsonOption = False,
    backend: BackendOption = Backend.ASYNCIO,
    store: StoreOption = None,
) -> None:
    """Go on with a session of the store, as a chat. Messages that were still waiting are worked on."""
    from host.cli.launch import launch

    settings = Settings(model, mode, None, store)

    async def work(signals: "Signals") -> int:
        from host.cli.conversations import resumed_chat

        return await resumed_chat(settings, session, signals, as_json=json)

    raise typer.Exit(launch(work, backend.value))
