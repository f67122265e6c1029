"""`callboard demo`"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from host.cli.options import Backend, BackendOption, JsonOption, ModelOption, Settings

if TYPE_CHECKING:
    from host.cli.launch import Signals
    from host.demo import DemoEvent


def demo(
    model: ModelOption = None, json: JsonOption = False, backend: BackendOption = Backend.ASYNCIO
) -> None:
    """Three short acts on the pages of this repository, with whatever model there is.

    Ends with 1 where something was not as the demo claims.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.demo import play_demo

        ended = await play_demo(_put_event if json else _shown(), Settings(model).arguments())
        return 1 if ended.n_broken else 0

    raise typer.Exit(launch(work, backend.value))


def _put_event(event: "DemoEvent") -> None:
    from host.cli.output import put_json
    from host.demo import demo_event_to_json

    put_json(demo_event_to_json(event))


def _shown() -> Callable[["DemoEvent"], None]:
    from host.cli.keyboard import is_terminal
    from host.cli.screen import Screen
    from host.demo import TreeView

    screen, view = Screen(None, is_terminal=is_terminal(sys.stdout)), TreeView()

    def show(event: "DemoEvent") -> None:
        for line in view.show(event):
            screen.show(line)

    return show
