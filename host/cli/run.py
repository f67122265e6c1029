"""`callboard run`"""

from pathlib import Path
from typing import Annotated

import typer

from host.cli.options import JsonOption


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The workflow's script.")],
    json: JsonOption = False,
) -> None:
    """Run a workflow script."""
    from providers.errors import CallboardError

    raise CallboardError("workflows are not part of this version yet")
