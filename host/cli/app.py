"""The commands, by their names."""

from typing import Annotated

import typer

from host.cli.archive import archive
from host.cli.ask import ask
from host.cli.chat import chat
from host.cli.check import check
from host.cli.collect import collect
from host.cli.context import context
from host.cli.delete import delete
from host.cli.demo import demo
from host.cli.doctor import doctor
from host.cli.export import export
from host.cli.fork import fork
from host.cli.import_ import import_
from host.cli.init import init
from host.cli.log import log
from host.cli.model import model
from host.cli.project import project
from host.cli.resume import resume
from host.cli.rewind import rewind
from host.cli.run import run
from host.cli.sessions import sessions
from host.cli.size import size

app = typer.Typer(
    help="A host for agents: they work, talk to each other and to you, and nothing accepted is lost.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        from host.cli.output import put

        put(f"callboard {version('callboard')}\n")
        raise typer.Exit


@app.callback()
def callboard(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version, and leave.")
    ] = False,
) -> None:
    """A host for agents: they work, talk to each other and to you, and nothing accepted is lost."""


_STORED = (sessions, resume, rewind, fork, log, archive, delete, size, collect, doctor)
for command in (chat, ask, run, *_STORED, context, export, project, check, init, demo):
    app.command()(command)
app.command(name="import")(import_)
app.add_typer(model, name="model")
