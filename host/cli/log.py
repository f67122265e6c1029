"""`callboard log`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def log(
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
    everyone: Annotated[
        bool, typer.Option("--all", help="All agents of the session, in the order of time.")
    ] = False,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", metavar="KIND", help="Only records of this kind, such as turn_ended; may be repeated."
        ),
    ] = None,
    since: Annotated[
        int, typer.Option("--since", metavar="SEQ", min=0, help="From this record on; the first is 0.")
    ] = 0,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=0, help="Only the last N of them.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is written from now on, until Ctrl-C.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show what happened in a session: the records of its log, one line each.

    Changes nothing: the session may be at work in another process meanwhile.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.log_reading import show_log
        from host.cli.log_records import Wanted

        wanted = Wanted.of(agent, everyone=everyone, kinds=kind or (), since=since)
        settings = Settings(store=store)
        return await show_log(session, wanted, settings, last=last, is_following=follow, as_json=json)

    raise typer.Exit(launch(work))
