"""`callboard context`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def context(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Its id, the beginning of it, or its name.")
    ],
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="An agent below the main one, by name or id. Default: the main one.",
        ),
    ] = None,
    request: Annotated[
        int | None,
        typer.Option(
            "--request",
            metavar="N",
            help="The N-th request, -1 the last, -2 the one before. Default: the last.",
        ),
    ] = None,
    diff: Annotated[
        int | None,
        typer.Option("--diff", metavar="M", help="Show what changed from request M to request N."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Whole texts and ids. Default: one line a message.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show what a model saw: a request of a session, message by message, made again from its log.

    Tells of each who said it (origin), how far it may decide (authority), tokens, cache mark, what was moved.

    With --diff: what became of each message since another request, and why.

    Changes nothing: the session may be at work in another process meanwhile.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.context_lookup import look_up
        from host.cli.context_show import show_changes, show_request

        found = await look_up(Settings(store=store), session, agent)
        if diff is None:
            show_request(found, request, is_full=full, as_json=json)
        else:
            show_changes(found, diff, request, is_full=full, as_json=json)
        return 0

    raise typer.Exit(launch(work))
