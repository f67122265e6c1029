"""What `callboard archive` does."""

from collections.abc import Sequence

from host.cli.finding import find_session
from host.cli.options import Settings
from host.cli.output import put, visible
from host.cli.stored import stored_sessions
from host.cli.stores import store_to_change


async def archive_sessions(wanted: Sequence[str], settings: Settings, *, is_archived: bool) -> None:
    """Archives the sessions, or takes them out; finds all of them before it touches one.

    Raises:
        UnknownSession: one of them is not there.
        SessionBusy: one is being written; those before it are done.
        StoreError: there is no store, or it cannot be written.
    """
    async with store_to_change(settings) as store:
        rows = [session.root for session in stored_sessions(await store.agents())]
        found = [find_session(rows, name, prefers_archived=not is_archived) for name in wanted]
        for root in found:
            await store.archive(root.agent_id, is_archived)
            text = "archived" if is_archived else "taken out of the archive:"
            put(f"{text} {root.agent_id} ({visible(root.name)})\n")
