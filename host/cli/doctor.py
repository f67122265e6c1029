"""`callboard doctor`"""

from typing import Annotated

import typer

from host.cli.options import JsonOption, Settings, StoreOption


def doctor(
    store: StoreOption = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Put a new store that holds all that can be read into the place of a damaged one, whose"
            " files are kept beside it. What is lost leaves a marker in its session.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Check the store, and say what of it is damaged. Without --repair nothing is changed.

    Ends with 0: nothing is damaged, or it was repaired; 1: something is damaged; 2: the store cannot be read.
    """
    from host.cli.doctoring import check_store

    raise typer.Exit(check_store(Settings(store=store), is_repairing=repair, as_json=json))
