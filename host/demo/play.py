"""The acts in their order, on a host that is given or on one of its own."""

import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio

from host.demo import message, subagents, table
from host.demo.events import ActEnded, ActStarted, DemoEnded, DemoEvent, DemoStarted
from host.demo.pages import FOLDER, demo_root, pages_of
from host.demo.stage import Stage
from host.host import Host
from host.opening import open_host
from host.workflows.blame import blamed
from providers.errors import CallboardError

ACT_LIMIT_S = 150.0


async def play_demo(
    show: Callable[[DemoEvent], None], arguments: Mapping[str, object] | None = None
) -> DemoEnded:
    """The demonstration on a host of its own, with a store that is gone afterwards.

    `arguments` are settings as `open_host` takes them.

    Raises:
        BadInput: there are no pages to read.
        NoModel, ModelNotFound, AuthenticationFailed: there is no model to ask.
    """
    root = demo_root()
    with tempfile.TemporaryDirectory(prefix="callboard-demo-") as folder:
        settings = {**(arguments or {}), "store": str(Path(folder, "store.db"))}
        async with open_host(arguments=settings, cwd=root) as host:
            return await run_demo(host, show, root)


async def run_demo(host: Host, show: Callable[[DemoEvent], None], root: Path) -> DemoEnded:
    """Plays the acts on the pages below `root`; a broken claim ends it with its act.

    `show` must not block. The host is left as it was, but for what it stored.

    Raises:
        BadInput: there are no pages to read.
        NoModel, ModelNotFound, AuthenticationFailed: there is no model to ask.
    """
    model, pages = host.model_name(), pages_of(root)
    began_s = anyio.current_time()
    stage = Stage(host, show)
    show(DemoStarted(model, str(root / FOLDER), len(pages)))
    async with anyio.create_task_group() as tasks:
        await tasks.start(stage.watch)
        await _act(stage, 1, subagents.TITLE, subagents.NOTE, lambda: subagents.play(stage, pages))
        if not stage.n_broken:
            await _act(stage, 2, message.TITLE, message.NOTE, lambda: message.play(stage, pages))
        if not stage.n_broken:
            stage.are_turns_shown = False
            await _act(stage, 3, table.TITLE, table.NOTE, lambda: table.play(stage, root))
        tasks.cancel_scope.cancel()
    ended = DemoEnded(stage.n_claims, stage.n_broken, anyio.current_time() - began_s, stage.usage())
    show(ended)
    return ended


async def _act(stage: Stage, number: int, title: str, note: str, play: Callable[[], Awaitable[None]]) -> None:
    """One act; what goes wrong in it is a broken claim."""
    stage.show(ActStarted(number, title, note))
    since, began_s = len(stage.seen), anyio.current_time()
    try:
        with anyio.fail_after(ACT_LIMIT_S):
            await play()
    except* TimeoutError:
        stage.claim(f"the act ended within {ACT_LIMIT_S:g} s", False, stage.last())
    except* CallboardError as group:
        stage.claim("nothing went wrong in the act", False, blamed(group, __file__))
    finally:
        await stage.clear()
    stage.show(ActEnded(number, anyio.current_time() - began_s, stage.usage(since)))
