"""Asks the person at the terminal whether something is wanted."""

import sys

from actors.errors import BadInput
from host.cli.keyboard import is_terminal
from host.cli.output import put
from host.cli.reading import standard_input


async def is_confirmed(question: str, nobody: str, *, can_ask: bool = True) -> bool:
    """Whether the answer was a clear yes. `nobody` is said where nobody can be asked.

    Raises:
        BadInput: nobody can be.
    """
    if not can_ask or not is_terminal(sys.stdin, sys.stdout):
        raise BadInput(nobody)
    put(question)
    answer = await standard_input().next()
    return (answer or "").strip().lower() in ("y", "yes")
