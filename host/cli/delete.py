"""`callboard delete`"""

from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.options import Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals


def delete(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(metavar="SESSION", help="Each by its id, the beginning of it, or its name."),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="Those not written for so long: 12h, 90d, 8w."),
    ] = None,
    archived: Annotated[
        bool,
        typer.Option("--archived", help="Those in the archive; with --older-than, the old ones of them."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which, and delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    store: StoreOption = None,
) -> None:
    """Delete sessions for good: all that was said and done in them, and the way back of files they changed.

    Large texts go with the last session that refers to them. A session that is being written stays.

    What is deleted is overwritten in the store. Exports, backups and what a repair kept are yours to delete.

    Ends with 0: done; 1: some of the sessions stayed; 2: nothing could be done.
    """
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.cli.choosing import Choice
        from host.cli.deleting import delete_sessions

        choice = Choice.of(sessions or (), older_than, is_archived=archived)
        return await delete_sessions(choice, Settings(store=store), is_dry=dry_run, is_sure=yes)

    raise typer.Exit(launch(work))
