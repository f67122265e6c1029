"""`callboard fork`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def fork(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Its id, the beginning of it, or its name.")
    ],
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="TURN",
            help="Up to the end of this turn, by its number in `callboard rewind SESSION --list`, -1 for the "
            "last, or its id. Without it: the last that has ended.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The name of the agent in the new session.")
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Begin a new session with a copy of another one, up to the end of a turn.

    The other one does not notice, and may be at work in another process. No model
    is asked anything.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.forking import fork_session

        return await fork_session(session, after, name, Settings(store=store), as_json=json)

    raise typer.Exit(launch(work))
