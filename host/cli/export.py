"""`callboard export`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def export(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Its id, the beginning of it, or its name.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write. Default: standard output."),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Leave nothing out, for a backup that goes on exactly as here."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
    store: StoreOption = None,
) -> None:
    """Write a session to a file: its agents, their logs, and the large texts that belong to them.

    `callboard import` puts it into another store. Reminders that belong to this process are left out.

    Changes nothing: the session may be at work in another process meanwhile.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.exporting import export_to

        await export_to(session, output, Settings(store=store), is_exact=exact, may_replace=force)
        return 0

    raise typer.Exit(launch(work))
