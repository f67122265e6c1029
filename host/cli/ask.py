"""`callboard ask`"""

from typing import TYPE_CHECKING, Annotated

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


def ask(
    question: Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")],
    model: ModelOption = None,
    mode: ModeOption = None,
    cwd: CwdOption = None,
    agent_name: NameOption = "main",
    json: JsonOption = False,
    backend: BackendOption = Backend.ASYNCIO,
    store: StoreOption = None,
) -> None:
    """Ask one question: the answer goes to stdout, everything else to stderr.

    Ends with 0, 1 where the turn failed, 2 where nothing could be asked, 130 after Ctrl-C.
    """
    from host.cli.launch import launch

    settings = Settings(model, mode, cwd, store)

    async def work(signals: "Signals") -> int:
        from actors.errors import BadInput
        from host.cli import asking
        from host.cli.reading import standard_input

        text = await standard_input().rest() if question == "-" else question
        if not text.strip():
            raise BadInput("a question wanted, got nothing")
        return await asking.ask(text, settings, agent_name, signals, as_json=json)

    raise typer.Exit(launch(work, backend.value))
