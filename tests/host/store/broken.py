"""A store with known records, and what is left of it when its files are damaged."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from actors.address import AgentId
from actors.records import EnvelopesTaken, ModeChanged, Record, RecordsSkipped
from host.errors import StoreDamaged, StoreError, StoreUnavailable
from host.ids import CountingIds
from host.store import sqlite_table
from host.store.chain import first_link, link
from host.store.codec import decode_log, encode_record
from host.store.salvage import Salvage, repair
from host.store.schema import open_database, unavailable
from host.store.sqlite import SqliteStore
from tests.host.store.samples import OTHER, ROOT, accepted, opened, said

T = TypeVar("T")
Logs = Mapping[AgentId, Sequence[Record]]
PAGE_BYTES = 4096
CHILDREN = tuple(AgentId(f"a-child-{n}") for n in range(4))


@dataclass
class Written:
    """What was written into a store."""

    logs: dict[AgentId, list[Record]] = field(default_factory=dict)
    artifacts: dict[str, bytes] = field(default_factory=dict)


async def write_store(path: Path, *, n_records: int = 60, artifact_bytes: int = 9_000) -> Written:
    """Two sessions, one of them with children, and artifacts to which records refer."""
    written = Written()
    async with (
        SqliteStore(path, durability="normal") as store,
        await store.lease(ROOT),
        await store.lease(OTHER),
    ):
        for agent_id in (ROOT, *CHILDREN, OTHER):
            first = opened(agent_id, OTHER if agent_id == OTHER else ROOT)
            data = agent_id.encode() * (artifact_bytes // len(agent_id))
            artifact_id = await store.put_artifact(data)
            written.artifacts[artifact_id] = data
            records = (
                accepted(f"work of {agent_id}"),
                *said(f"shortened, stored as artifact {artifact_id}; go on"),
                *said(*(f"{agent_id} says {n}: " + "word " * (n % 40) for n in range(n_records))),
            )
            (await store.create(first)).submit(records, lambda _: None)
            written.logs[agent_id] = [first, *records]
    return written


def written_to(path: Path, **options: int) -> Written:
    async def write() -> Written:
        return await write_store(path, **options)

    return anyio.run(write)


def read_logs(path: Path) -> dict[AgentId, list[Record] | StoreError]:
    """Every log of the listing, or the error that its load gives, as `SqliteStore` gives both.

    Raises:
        StoreError: the store cannot be opened, or its listing not be read.
    """
    connection = open_database(path, "normal")
    try:
        rows = _typed(path, lambda: sqlite_table.read_agents(connection, None))
        return {row.agent_id: _log(path, connection, row.agent_id) for row in rows}
    finally:
        connection.close()


def _log(path: Path, connection: sqlite3.Connection, agent_id: AgentId) -> list[Record] | StoreError:
    def load() -> list[Record]:
        log = sqlite_table.read_log(connection, agent_id)
        if log is None:
            raise StoreDamaged("in the listing, and not there")
        loaded = decode_log(agent_id, log.n_records, log.checked(agent_id))
        return [stored.record for stored in loaded.records]

    try:
        return _typed(path, load)
    except StoreError as error:
        return error


def _typed(path: Path, work: Callable[[], T]) -> T:
    """As the thread of the store does."""
    try:
        return work()
    except (sqlite3.Error, OSError) as error:
        raise unavailable(path, error) from error


def read_artifact(path: Path, artifact_id: str) -> bytes | None:
    connection = open_database(path, "normal")
    try:
        return _typed(path, lambda: sqlite_table.get_artifact(connection, artifact_id))
    finally:
        connection.close()


def put_beside(path: Path, data: bytes, wal: bytes = b"") -> Path:
    """A store of these bytes at this path, and nothing else beside it."""
    for file in path.parent.glob(f"{path.name}*"):
        if file.is_file():
            file.unlink()
    path.write_bytes(data)
    if wal:
        path.with_name(f"{path.name}-wal").write_bytes(wal)
    return path


def change(path: Path, *statements: str) -> None:
    """Damages what is stored behind the back of the store."""
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement
    connection.close()


def damaged_copies(store: Path) -> list[Path]:
    """The stores that repairs have kept."""
    return sorted(
        path for path in store.parent.glob("store.db.damaged-*") if not path.name.endswith(("-wal", "-shm"))
    )


def repaired(path: Path) -> Salvage:
    return repair(path, ids=CountingIds(), now_s=1e9, cwd="/fallback")


def assert_salvaged(before: Sequence[Record], after: Sequence[Record], *, is_counted: bool = True) -> int:
    """Each record that was kept is the one that was written at its place; gives how many are kept.

    One that follows on a gap may have been changed, where the marker says that
    it could not be checked. What is lost at the end is marked where the count
    of the log `is_counted`, which is to say readable.
    """
    place = n_kept = 0
    is_on_trust = False
    for index, record in enumerate(after):
        if isinstance(record, RecordsSkipped):
            place += record.n_records
            is_on_trust = "could not be checked" in record.reason
            continue
        if is_on_trust and type(record) is type(before[place]):
            place += 1
            n_kept += record == before[place - 1]
        elif place < len(before) and record == before[place]:
            place += 1
            n_kept += 1
        else:
            made_again = (index == 0, isinstance(record, EnvelopesTaken), isinstance(record, ModeChanged))
            assert any(made_again), f"record {place}: {record}"
        is_on_trust = False
    is_whole = place == len(before) or (place < len(before) and not is_counted)
    assert is_whole, f"{place} of {len(before)} records are accounted for"
    return n_kept


def intact_by_key(path: Path, before: Logs) -> dict[AgentId, int]:
    """How many records a plain look at their places finds as they were written, behind one like that."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    found: dict[AgentId, int] = {}
    for agent_id, records in before.items():
        last, is_before_intact, n_intact = first_link(agent_id), True, 0
        for seq, record in enumerate(records):
            encoded = encode_record(record)
            last = link(last, encoded)
            wanted = (encoded.kind, encoded.version, encoded.data, last)
            is_intact = _row(connection, agent_id, seq) == wanted
            n_intact += is_intact and is_before_intact
            is_before_intact = is_intact
        found[agent_id] = n_intact
    connection.close()
    return found


def counted_by_key(path: Path, before: Logs) -> set[AgentId]:
    """The agents whose count of records a plain look finds as it was."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    ask = "SELECT n_records FROM agents WHERE agent_id = ?"
    found = {agent for agent, log in before.items() if _one(connection, ask, agent) == (len(log),)}
    connection.close()
    return found


def _row(connection: sqlite3.Connection, agent_id: AgentId, seq: int) -> object:
    ask = "SELECT kind, version, data, hash FROM records WHERE agent_id = ? AND seq = ?"
    return _one(connection, ask, agent_id, seq)


def _one(connection: sqlite3.Connection, ask: str, *values: str | int) -> object:
    try:
        return connection.execute(ask, values).fetchone()
    except (sqlite3.Error, UnicodeDecodeError):  # SQLite quotes a broken definition
        return None


def refuses_what_is_no_store(work: Callable[[Path], object], path: Path) -> None:
    """What wants a store fails where there is none, or another file; some other database is left here."""
    with pytest.raises(StoreUnavailable, match="there is no store"):
        work(path)
    path.write_text("these are notes, not a store\n" * 1_000)
    with pytest.raises(StoreDamaged, match="no database, and nothing of a store"):
        work(path)
    path.unlink()
    of_others = sqlite3.connect(path)
    of_others.execute("CREATE TABLE of_others (x)")
    of_others.close()
    with pytest.raises(StoreUnavailable, match="not a store of this program"):
        work(path)
