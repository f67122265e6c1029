"""A session as the lines of an export."""

import hashlib
from collections.abc import AsyncGenerator
from dataclasses import replace

from actors.address import AgentId
from actors.history import Entry, ReminderEntry
from actors.records import EntriesAppended, Record
from actors.reminders.registry import REGISTRY, Durability
from host.errors import StoreDamaged, UnknownSession
from host.store.codec import encode_record
from host.store.ports import AgentRow, KeepingStore, Store
from host.store.references import referred
from host.transfer.format import (
    ArtifactLine,
    EndLine,
    ExportedAgent,
    Header,
    RecordLine,
    artifact_line,
    end_line,
    header_line,
    record_line,
)


async def export_session(
    store: KeepingStore, root_id: AgentId, *, exported_at: float, program: str, is_exact: bool = False
) -> AsyncGenerator[bytes]:
    """The lines of a session's export, as far as the session is stored when the first one is asked for.

    Holds one log in memory at a time. A session that somebody else writes
    meanwhile is cut at one moment for all its agents. `is_exact` keeps the
    reminders that belong to the process, for a copy that goes on exactly;
    `exported_at` is in seconds since the epoch, `program` the version of ours.

    Raises:
        UnknownSession: there is no such session.
        StoreDamaged: a record or an artifact cannot be read back.
        ExportTooLarge: one is larger than a line may be.
    """
    # How many records each has is one look at the store; a log that is loaded later may have grown.
    rows = await store.agents(root_id)
    if not rows:
        raise UnknownSession(f"there is no session {root_id!r} in this store")
    digest, n_lines = hashlib.sha256(), 0
    async for line in _body(store, _header(rows, exported_at, program, is_exact), rows):
        digest.update(line)
        n_lines += 1
        yield line
    yield end_line(EndLine(n_lines, digest.hexdigest()))


async def _body(store: KeepingStore, header: Header, rows: tuple[AgentRow, ...]) -> AsyncGenerator[bytes]:
    yield header_line(header)
    # Behind the listing: what its records refer to had been put before them.
    known = await store.artifact_ids()
    needed: set[str] = set()
    for row in rows:
        async for line in _log_lines(store, row, is_exact=header.exact):
            needed |= referred(line, known)
            yield line
    for artifact_id in sorted(needed):
        data = await store.get_artifact(artifact_id)
        if data is not None:  # else somebody has deleted the session meanwhile
            yield artifact_line(ArtifactLine(artifact_id, data))


def _header(rows: tuple[AgentRow, ...], exported_at: float, program: str, is_exact: bool) -> Header:
    root = rows[0]
    agents = tuple(ExportedAgent(row.agent_id, row.name, row.n_records) for row in rows)
    return Header(root.agent_id, root.name, is_exact, exported_at, program, agents)


async def _log_lines(store: Store, row: AgentRow, *, is_exact: bool) -> AsyncGenerator[bytes]:
    log = await store.load(row.agent_id)
    if len(log.records) < row.n_records:
        raise StoreDamaged(
            f"agent {row.agent_id} had {row.n_records} records, now it has {len(log.records)}",
            agent_id=row.agent_id,
            seq=len(log.records),
        )
    for stored in log.records[: row.n_records]:
        encoded = encode_record(stored.record if is_exact else without_process_local(stored.record))
        yield record_line(RecordLine(row.agent_id, stored.seq, encoded.kind, encoded.version, encoded.data))


def without_process_local(record: Record) -> Record:
    """The record without the reminders that an export leaves behind; it keeps its place in the log."""
    if not isinstance(record, EntriesAppended):
        return record
    kept = tuple(entry for entry in record.entries if not _is_process_local(entry))
    return record if len(kept) == len(record.entries) else replace(record, entries=kept)


def _is_process_local(entry: Entry) -> bool:
    if not isinstance(entry, ReminderEntry):
        return False
    source = REGISTRY.get(entry.source)
    return source is not None and source.durability is Durability.PROCESS_LOCAL
