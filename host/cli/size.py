"""`callboard size`"""

from typing import TYPE_CHECKING

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def size(json: JsonOption = False, store: StoreOption = None) -> None:
    """Say how much room the store takes, and which sessions take it, the largest first. Changes nothing."""
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.sizing import show_sizes

        await show_sizes(Settings(store=store), as_json=json)
        return 0

    raise typer.Exit(launch(work))
