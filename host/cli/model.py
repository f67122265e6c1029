"""`callboard model`"""

import os
from typing import TYPE_CHECKING

import typer

from host.cli.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from pydantic import JsonValue

    from host.cli.launch import Signals

model = typer.Typer(help="Models: which there are, and installing the local one.", no_args_is_help=True)


@model.command("install")
def install() -> None:
    """Install the small local model: its server and its weights, about 130 MB."""
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.output import put
        from providers.install import install as install_parts

        await install_parts(lambda line: put(line + "\n"))
        return 0

    raise typer.Exit(launch(work))


@model.command("list")
def list_models(json: JsonOption = False, store: StoreOption = None) -> None:
    """List the models that are known by name, and whether they can be asked."""
    from host.cli.output import put, put_json

    rows = _rows()
    for name, state in rows:
        if json:
            value: dict[str, JsonValue] = {"model": name, "state": state}
            put_json(value)
        else:
            put(f"{name:<40} {state}\n")
    if not json:
        put("any other model of these providers works too; its limits are guessed\n")


def _rows() -> list[tuple[str, str]]:
    from providers.catalog import Catalog
    from providers.install import is_installed

    catalog = Catalog()
    states = {
        "local": "installed" if is_installed() else "not installed: callboard model install",
        "anthropic": _key("ANTHROPIC_API_KEY"),
        "openai": _key("OPENAI_API_KEY"),
    }
    return [
        (f"{provider}:{name}", state)
        for provider, state in states.items()
        for name in catalog.models(provider)
    ]


def _key(variable: str) -> str:
    return "key set" if os.environ.get(variable) else f"no {variable}"
