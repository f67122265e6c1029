"""`callboard collect`"""

from typing import TYPE_CHECKING

import typer

from host.cli.options import Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def collect(store: StoreOption = None) -> None:
    """Remove large texts that no session refers to and that are over a day old, and write the store anew.

    Then nothing of what was deleted is left in it, and the disk has the room back.

    Writing it anew copies the store, and is done only while nothing else has it open.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from math import inf

        from host.cli.stores import naming_the_doctor, store_to_change
        from host.cli.tidying import collect_and_tell, write_anew

        opened = store_to_change(Settings(store=store))
        with naming_the_doctor():
            async with opened:
                size = await collect_and_tell(opened, is_all=True)
            await write_anew(opened.path, size, at_most_bytes=inf)
        return 0

    raise typer.Exit(launch(work))
