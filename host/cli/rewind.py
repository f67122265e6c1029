"""`callboard rewind`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def rewind(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Its id, the beginning of it, or its name.")
    ],
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="TURN",
            help="Back to before this turn, by its number in the list, -1 for the last, or its id. "
            "Without it: the last.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the turns, and change nothing.")] = False,
    keep_files: Annotated[bool, typer.Option("--keep-files", help="Leave every file as it is now.")] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Put files back also where somebody else has changed them since."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Take a session back to what it was before a turn.

    Files changed since then with Write and Edit are put back; what commands did
    is not undone. Agents started since then end. The log keeps all of it, and
    no model is asked anything.

    Ends with 0: done; 1: stopped in the middle, and can be done again; 2: nothing
    was done.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.rewinding import RewindWish, list_turns, rewind_session

        wish = RewindWish(session, before, keep_files, overwrite, dry_run, yes, json)
        if list_:
            return await list_turns(wish, Settings(store=store))
        return await rewind_session(wish, Settings(store=store))

    raise typer.Exit(launch(work))
