"""`callboard archive`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def archive(
    sessions: Annotated[
        list[str],
        typer.Argument(metavar="SESSION", help="Each by its id, the beginning of it, or its name."),
    ],
    undo: Annotated[bool, typer.Option("--undo", help="Take them out of the archive.")] = False,
    store: StoreOption = None,
) -> None:
    """Put sessions out of sight. Nothing of them changes, and going on with one takes it out again.

    `callboard sessions --archived` lists them.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.archiving import archive_sessions

        await archive_sessions(sessions, Settings(store=store), is_archived=not undo)
        return 0

    raise typer.Exit(launch(work))
