"""Options that several commands share, and the settings that they make."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Backend(StrEnum):
    ASYNCIO = "asyncio"
    TRIO = "trio"


class Mode(StrEnum):
    """The names of `host.permissions.PermissionMode`, which is too much to load for a help text."""

    PLAN = "plan"
    DEFAULT = "default"
    ACCEPT_EDITS = "accept-edits"
    BYPASS = "bypass"


ModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="PROVIDER:MODEL", help="The model, such as local:smollm2-135m."),
]
ModeOption = Annotated[Mode | None, typer.Option("--mode", help="What may be done without asking.")]
CwdOption = Annotated[Path | None, typer.Option("--cwd", metavar="DIR", help="The folder to work in.")]
StoreOption = Annotated[
    str | None, typer.Option("--store", metavar="PATH", help="The store; `:memory:` keeps nothing.")
]
NameOption = Annotated[str, typer.Option("--agent-name", metavar="NAME", help="The name of the agent.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line, for programs.")]
BackendOption = Annotated[Backend, typer.Option("--backend", help="The event loop (trio must be installed).")]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the options say about the host; None leaves it to the configuration."""

    model: str | None = None
    mode: Mode | None = None
    cwd: Path | None = None
    store: str | None = None

    def arguments(self) -> dict[str, object]:
        """The settings by their keys in the configuration, as `open_host` takes them."""
        store = self.store
        if store is not None and store != ":memory:":
            # Relative to where the person is, not to --cwd.
            store = str(Path(store).absolute())
        arguments: dict[str, object] = {"model": self.model, "store": store}
        if self.mode is not None:
            arguments["permissions"] = {"mode": self.mode.value}
        return arguments

    def folder(self) -> Path:
        """The folder to work in.

        Raises:
            BadInput: it is none.
        """
        from actors.errors import BadInput

        folder = (self.cwd or Path.cwd()).absolute()
        if not folder.is_dir():
            raise BadInput(f"--cwd: a folder wanted, got {str(folder)!r}")
        return folder
