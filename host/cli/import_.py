"""`callboard import`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What `callboard export` wrote; `-` is standard input.")
    ],
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Put an exported session into a store, under the ids that it has.

    All of the file is checked first. Where it is not whole, or the store has the session, nothing is stored.
    """
    from host.cli.importing import import_from, opened_export, told
    from host.cli.launch import launch

    # Standard input is read before there is a loop: while that waits for a terminal, Ctrl-C must be heard.
    with told(file), opened_export(file) as export:

        async def work(signals: "Signals") -> int:
            await import_from(export, file, Settings(store=store), as_json=json)
            return 0

        raise typer.Exit(launch(work))
