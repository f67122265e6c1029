"""`callboard sessions`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def sessions(
    archived: Annotated[bool, typer.Option("--archived", help="Only those in the archive.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Those in the archive too.")] = False,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="How much room each takes; reads the store.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the sessions of the store, the newest work last."""
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.listing import Wanted, list_sessions

        wanted = Wanted(is_live=not archived or all_, is_archived=archived or all_, has_sizes=sizes)
        await list_sessions(Settings(store=store), wanted, as_json=json)
        return 0

    raise typer.Exit(launch(work))
