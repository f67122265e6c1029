"""What `callboard sessions` shows."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size

from pydantic import JsonValue

from host.cli.amounts import bytes_text, count_text
from host.cli.columns import table
from host.cli.options import Settings
from host.cli.output import put, put_json
from host.cli.stored import StoredSession, moment, stored_sessions
from host.cli.stores import naming_the_doctor, store_if_there
from host.store.sizes import SessionSize

_COLUMNS = ("id", "name", "title", "records", "last activity")
_TITLE, _RECORDS = 2, 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions are listed, and whether with their sizes."""

    is_live: bool
    is_archived: bool
    has_sizes: bool

    def takes(self, session: StoredSession) -> bool:
        return self.is_archived if session.is_archived else self.is_live


async def list_sessions(settings: Settings, wanted: Wanted, *, as_json: bool) -> None:
    """Lists the main agents' sessions; a store that is not there has none.

    Raises:
        StoreError: it cannot be read.
    """
    found, sizes = await _read(settings, has_sizes=wanted.has_sizes)
    shown = [session for session in found if wanted.takes(session)]
    if as_json:
        for session in shown:
            put_json(_values(session, sizes))
    elif sys.stdout.isatty():
        _draw(shown, sizes, wanted, n_hidden=len(found) - len(shown))
    else:
        for session in shown:
            put("\t".join(_cells(session, sizes, wanted, is_exact=True)) + "\n")


async def _read(
    settings: Settings, *, has_sizes: bool
) -> tuple[list[StoredSession], Mapping[str, SessionSize]]:
    store = store_if_there(settings)
    if store is None:
        return [], {}
    with naming_the_doctor():
        async with store:
            found = [session for session in stored_sessions(await store.agents()) if session.is_main]
            sizes = (await store.sizes()).sessions if has_sizes else ()
    return found, {size.root_id: size for size in sizes}


def _values(session: StoredSession, sizes: Mapping[str, SessionSize]) -> dict[str, JsonValue]:
    root = session.root
    values: dict[str, JsonValue] = {
        "id": root.agent_id,
        "name": root.name,
        "title": root.title,
        "n_records": session.n_records,
        "created_at": root.created_at,
        "updated_at": session.last_s,
        "archived_at": root.archived_at,
    }
    if (size := sizes.get(root.agent_id)) is not None:
        values |= {
            "n_agents": size.n_agents,
            "record_bytes": size.record_bytes,
            "artifact_bytes": size.artifact_bytes,
            "shared_bytes": size.shared_bytes,
        }
    return values


def _draw(
    shown: Sequence[StoredSession], sizes: Mapping[str, SessionSize], wanted: Wanted, *, n_hidden: int
) -> None:
    if shown:
        head = (
            *_COLUMNS,
            *(["size"] if wanted.has_sizes else []),
            *(["archived"] if wanted.is_archived else []),
        )
        rows = [_cells(session, sizes, wanted) for session in shown]
        right = {_RECORDS, head.index("size")} if wanted.has_sizes else {_RECORDS}
        lines = table(head, rows, width=get_terminal_size().columns, elastic=_TITLE, at_right=right)
        put("\n".join(lines) + "\n")
    elif wanted.is_archived and not wanted.is_live:
        put("no session is archived; `callboard archive SESSION` puts one out of sight\n")
    elif not n_hidden:
        put("no sessions yet; `callboard chat` begins one\n")
    if n_hidden and not wanted.is_archived:
        verb = "is" if n_hidden == 1 else "are"
        put(f"{count_text(n_hidden, 'archived session')} {verb} not shown; --archived lists them\n")


def _cells(
    session: StoredSession, sizes: Mapping[str, SessionSize], wanted: Wanted, *, is_exact: bool = False
) -> tuple[str, ...]:
    root = session.root
    cells = [root.agent_id, root.name, session.title, str(session.n_records), session.last]
    if wanted.has_sizes:
        size = sizes.get(root.agent_id)  # none for one that began just now
        n_bytes = 0 if size is None else size.own_bytes
        cells.append(str(n_bytes) if is_exact else bytes_text(n_bytes))
    if wanted.is_archived:
        cells.append("" if root.archived_at is None else moment(root.archived_at))
    return tuple(cells)
