"""What `callboard size` shows."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import get_terminal_size

from pydantic import JsonValue

from actors.address import AgentId
from host.cli.amounts import bytes_text, count_text
from host.cli.columns import table
from host.cli.options import Settings
from host.cli.output import put, put_json, visible
from host.cli.stored import StoredSession, stored_sessions
from host.cli.stores import naming_the_doctor, store_to_read
from host.store.sizes import SessionSize, StoreSizes

_COLUMNS = ("id", "name", "agents", "records", "size", "large texts", "shared")
_NAME, _NUMBERS = 1, range(2, 7)


async def show_sizes(settings: Settings, *, as_json: bool) -> None:
    """Shows the report.

    Raises:
        StoreError: there is no store, or it cannot be read.
    """
    store = store_to_read(settings)
    with naming_the_doctor():
        async with store:
            sizes = await store.sizes()
            sessions = {session.root.agent_id: session for session in stored_sessions(await store.agents())}
    if as_json:
        _print_values(store.path, sizes, sessions)
    elif sys.stdout.isatty():
        put("\n".join(_drawn(store.path, sizes, sessions)) + "\n")
    else:
        _print_rows(sizes, sessions)


def _print_values(path: Path, sizes: StoreSizes, sessions: Mapping[AgentId, StoredSession]) -> None:
    put_json({"store": str(path), **_totals(sizes)})
    for size in sizes.sessions:
        session = sessions.get(size.root_id)
        put_json(
            {
                "id": size.root_id,
                "name": _name(size, sessions),
                "archived_at": None if session is None else session.root.archived_at,
                "n_agents": size.n_agents,
                "n_records": size.n_records,
                "record_bytes": size.record_bytes,
                "artifact_bytes": size.artifact_bytes,
                "shared_bytes": size.shared_bytes,
            }
        )


def _print_rows(sizes: StoreSizes, sessions: Mapping[AgentId, StoredSession]) -> None:
    for name, number in _totals(sizes).items():
        put(f"{name}\t{number}\n")
    for size in sizes.sessions:
        put("\t".join(("session", size.root_id, _name(size, sessions), *map(str, _numbers(size)))) + "\n")


def _drawn(path: Path, sizes: StoreSizes, sessions: Mapping[AgentId, StoredSession]) -> Iterator[str]:
    file = sizes.file
    yield visible(str(path))
    free = f", of which {bytes_text(file.free_bytes)} are free for what comes" if file.free_bytes else ""
    yield bytes_text(file.file_bytes) + free
    if file.wal_bytes:
        yield f"{bytes_text(file.wal_bytes)} in the write-ahead log beside it"
    yield f"{count_text(sizes.n_artifacts, 'large text')} with {bytes_text(sizes.artifact_bytes)}"
    if sizes.n_unreferred:
        yield (
            f"nothing refers to {sizes.n_unreferred:,} of them with {bytes_text(sizes.unreferred_bytes)};"
            " `callboard collect` removes those over a day old"
        )
    if not sizes.sessions:
        return
    rows = []
    for size in sizes.sessions:
        n_agents, n_records, *n_bytes = _numbers(size)
        rows.append(
            (
                size.root_id,
                _name(size, sessions),
                f"{n_agents:,}",
                f"{n_records:,}",
                *(bytes_text(number) for number in n_bytes),
            )
        )
    yield ""
    yield from table(_COLUMNS, rows, width=get_terminal_size().columns, elastic=_NAME, at_right=_NUMBERS)


def _totals(sizes: StoreSizes) -> dict[str, JsonValue]:
    return {
        "file_bytes": sizes.file.file_bytes,
        "free_bytes": sizes.file.free_bytes,
        "wal_bytes": sizes.file.wal_bytes,
        "n_artifacts": sizes.n_artifacts,
        "artifact_bytes": sizes.artifact_bytes,
        "n_unreferred": sizes.n_unreferred,
        "unreferred_bytes": sizes.unreferred_bytes,
    }


def _numbers(size: SessionSize) -> tuple[int, ...]:
    return (size.n_agents, size.n_records, size.record_bytes, size.artifact_bytes, size.shared_bytes)


def _name(size: SessionSize, sessions: Mapping[AgentId, StoredSession]) -> str:
    session = sessions.get(size.root_id)  # none of one that was deleted since
    return "" if session is None else visible(session.root.name)
