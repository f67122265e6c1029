"""`callboard run`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import (
    Backend,
    BackendOption,
    CwdOption,
    JsonOption,
    ModelOption,
    ModeOption,
    Settings,
    StoreOption,
)

if TYPE_CHECKING:
    from host.cli.launch import Signals


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The script; it runs with all your rights.")],
    args: Annotated[
        str, typer.Option("--args", metavar="JSON", help="The workflow's arguments, as a JSON object.")
    ] = "{}",
    workflow: Annotated[
        str | None, typer.Option("--workflow", metavar="NAME", help="Which, where the script has several.")
    ] = None,
    model: ModelOption = None,
    mode: ModeOption = None,
    cwd: CwdOption = None,
    json: JsonOption = False,
    backend: BackendOption = Backend.ASYNCIO,
    store: StoreOption = None,
) -> None:
    """Run a workflow script: its result goes to stdout as JSON, what happens to stderr."""
    from host.cli.launch import launch

    settings = Settings(model, mode, cwd, store)

    async def work(signals: "Signals") -> int:
        from host.cli.running import run_file

        return await run_file(file, workflow, args, settings, as_json=json)

    raise typer.Exit(launch(work, backend.value))
