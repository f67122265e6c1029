"""What `callboard delete` does."""

import sys
import time
from collections.abc import Sequence
from shutil import get_terminal_size

from actors.address import AgentId
from host.cli.amounts import bytes_text, count_text
from host.cli.boundary import ExitCode
from host.cli.choosing import Choice
from host.cli.columns import table
from host.cli.confirming import is_confirmed
from host.cli.options import Settings
from host.cli.output import put
from host.cli.stored import StoredSession, stored_sessions
from host.cli.stores import naming_the_doctor, store_to_change, store_to_read
from host.cli.tidying import collect_and_tell, write_anew
from host.errors import SessionBusy
from host.store.ports import Keeping
from host.store.sizes import Removed
from host.store.sqlite import SqliteStore

_NOBODY = "nobody can be asked here: nothing was deleted; say --yes to delete without asking"
_COLUMNS = ("id", "name", "title", "records", "last activity")
_TITLE, _RECORDS = 2, 3
_HELD_AT_ONCE = 200  # sessions; each is an open file meanwhile


async def delete_sessions(choice: Choice, settings: Settings, *, is_dry: bool, is_sure: bool) -> ExitCode:
    """Shows the sessions, asks, deletes them and says what that gave.

    Raises:
        BadInput: nobody can be asked.
        UnknownSession, StoreError: see `Choice.among` and the store.
    """
    async with store_to_read(settings) as store:
        chosen = choice.among(stored_sessions(await store.agents()), time.time())
    if not chosen:
        put("no session is meant; nothing was deleted\n")
        return ExitCode.DONE
    if is_dry or not is_sure:
        _show(chosen)
    if is_dry:
        return ExitCode.DONE
    if not is_sure and not await is_confirmed(_question(len(chosen)), _NOBODY):
        put("nothing was deleted\n")
        return ExitCode.DONE
    store = store_to_change(settings)
    with naming_the_doctor():
        async with store:
            left = await _delete(store, chosen)
            size = await collect_and_tell(store)
        await write_anew(store.path, size)
    for text in left:
        print(f"callboard: {text}", file=sys.stderr)
    return ExitCode.FAILED if left else ExitCode.DONE


def _show(chosen: Sequence[StoredSession]) -> None:
    rows = [
        (each.root.agent_id, each.root.name, each.title, f"{each.n_records:,}", each.last) for each in chosen
    ]
    if sys.stdout.isatty():
        lines = table(_COLUMNS, rows, width=get_terminal_size().columns, elastic=_TITLE, at_right={_RECORDS})
    else:
        lines = ["\t".join(row) for row in rows]
    put("\n".join(lines) + "\n")


def _question(n_sessions: int) -> str:
    what = "this session" if n_sessions == 1 else f"these {n_sessions:,} sessions"
    return f"Delete {what} for good? [y/N] "


async def _delete(store: SqliteStore, chosen: Sequence[StoredSession]) -> list[str]:
    """Deletes those that are as they were when they were chosen; says of the others why they stay."""
    now = {session.root.agent_id: session for session in stored_sessions(await store.agents())}
    left: list[str] = []
    doomed: list[AgentId] = []
    for session in chosen:
        root_id = session.root.agent_id
        if now.get(root_id) == session:
            doomed.append(root_id)
        elif root_id in now:
            left.append(f"session {root_id} was changed meanwhile and stays")
    n_deleted, total = 0, Removed()
    for at in range(0, len(doomed), _HELD_AT_ONCE):
        n_gone, removed, stay = await _delete_some(store, doomed[at : at + _HELD_AT_ONCE])
        n_deleted += n_gone
        total = total.and_also(removed)
        left += stay
    if n_deleted:
        _tell(n_deleted, total)
    return left


async def _delete_some(store: Keeping, root_ids: list[AgentId]) -> tuple[int, Removed, list[str]]:
    """How many went, what that removed, and why the others stay."""
    left: list[str] = []
    while root_ids:
        try:
            return len(root_ids), await store.delete(*root_ids), left
        except SessionBusy as busy:
            left.append(str(busy))
            root_ids = [root_id for root_id in root_ids if root_id != busy.root_id]
    return 0, Removed(), left


def _tell(n_sessions: int, removed: Removed) -> None:
    records = f"{count_text(removed.n_records, 'record')} ({bytes_text(removed.record_bytes)})"
    artifacts = ""
    if removed.n_artifacts:
        artifacts = (
            f" and {count_text(removed.n_artifacts, 'large text')} ({bytes_text(removed.artifact_bytes)})"
        )
    put(f"deleted {count_text(n_sessions, 'session')}: {records}{artifacts}\n")
    if removed.n_spared:
        verb = "stays" if removed.n_spared == 1 else "stay"
        put(
            f"{count_text(removed.n_spared, 'large text')} ({bytes_text(removed.spared_bytes)}) {verb} for"
            " now: another session is at work and may have stored the same; `callboard collect` removes"
            " what is over a day old\n"
        )
