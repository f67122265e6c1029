"""`callboard init`"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer


def init(yes: Annotated[bool, typer.Option("--yes", "-y", help="Copy without asking.")] = False) -> None:
    """Offer to take over instructions that you have written for another program."""
    from actors.context.source import home_directory
    from actors.errors import BadInput

    home = home_directory(os.environ)
    if home is None:
        raise BadInput("there is no home folder: HOME wanted, got nothing")
    source, target = home / ".claude" / "CLAUDE.md", home / ".callboard" / "AGENTS.md"
    if target.exists():
        _say(f"{target} is there already; nothing was changed")
    elif not source.is_file():
        _say(f"nothing to take over: there is no {source}")
    elif yes or _wants(source, target):
        _copy(source, target)
        _say(f"copied {source} to {target}")
    else:
        _say("nothing was changed")


def _wants(source: Path, target: Path) -> bool:
    if not sys.stdin.isatty():
        _say(f"{source} could be copied to {target}; say --yes to do it")
        return False
    return typer.confirm(f"Copy {source} to {target}?")


def _copy(source: Path, target: Path) -> None:
    from actors.errors import BadInput

    try:
        text = source.read_bytes()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # x: what somebody made meanwhile stays.
        with target.open("xb") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be copied: {error.strerror}") from error


def _say(text: str) -> None:
    from host.cli.output import put

    put(text + "\n")
