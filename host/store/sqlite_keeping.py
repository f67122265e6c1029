"""What people do with whole sessions of the SQLite file: what is done in which order."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

from actors.address import AgentId
from host.errors import UnknownSession
from host.store import keeping, room
from host.store.at_work import is_anybody_at_work
from host.store.collecting import Collection, Scan, artifact_sizes
from host.store.deleting import Deletion
from host.store.ports import GRACE_S, Lease
from host.store.size_report import sizes_of
from host.store.sizes import Removed, StoreSizes
from host.store.sqlite_table import read_agents
from host.store.sqlite_thread import OpenFile
from host.store.store_lock import lease_folder

T = TypeVar("T")


class OnItsThread(Protocol):
    """Runs the work on the thread of the file, between two transactions of others."""

    async def __call__(self, work: Callable[[OpenFile], T]) -> T: ...


@asynccontextmanager
async def held(
    call: OnItsThread, take_lease: Callable[[AgentId], Awaitable[Lease]], root_ids: Sequence[AgentId]
) -> AsyncGenerator[None]:
    """Holds the sessions inside the block, all of which are there.

    Raises:
        UnknownSession: one of them is not there.
        SessionBusy: somebody writes one of them.
    """
    await call(partial(_check_there, root_ids=root_ids))  # first: a lease would make a row for any id
    async with AsyncExitStack() as leases:
        for root_id in root_ids:
            await leases.enter_async_context(await take_lease(root_id))
        await call(partial(_check_there, root_ids=root_ids))
        yield


async def archive(call: OnItsThread, root_id: AgentId, *, is_archived: bool) -> None:
    """Under the lease of the session."""
    await call(partial(keeping.archive, root_id=root_id, is_archived=is_archived))


async def delete(call: OnItsThread, root_ids: Sequence[AgentId]) -> Removed:
    """Under the leases of the sessions."""
    before = await call(room.file_size)
    await call(room.overwrite_what_is_removed)
    deletion = Deletion(root_ids, await call(artifact_sizes))
    while not await call(deletion.piece):
        pass
    scan = Scan(deletion.references)
    collection = Collection(scan, sorted(deletion.references), partial(_put_before_s, root_ids=root_ids))
    if collection.left:
        await _finish(call, scan, collection)
    is_wal_empty = await call(room.empty_wal)
    return Removed(
        deletion.n_agents,
        deletion.n_records,
        deletion.record_bytes,
        collection.n_removed,
        collection.removed_bytes,
        collection.n_spared,
        collection.spared_bytes,
        before,
        await call(room.file_size),
        is_wal_empty,
    )


async def collect(call: OnItsThread, older_than_s: float) -> Removed:
    before = await call(room.file_size)
    await call(room.overwrite_what_is_removed)
    artifacts = await call(artifact_sizes)
    scan = Scan(artifacts)
    collection = Collection(scan, sorted(artifacts), lambda file: file.now_s() - older_than_s)
    if collection.left:
        await _finish(call, scan, collection)
    is_wal_empty = await call(room.empty_wal)
    return Removed(
        n_artifacts=collection.n_removed,
        artifact_bytes=collection.removed_bytes,
        n_spared=collection.n_spared,
        spared_bytes=collection.spared_bytes,
        before=before,
        after=await call(room.file_size),
        is_wal_empty=is_wal_empty,
    )


async def sizes(call: OnItsThread) -> StoreSizes:
    artifacts = await call(artifact_sizes)
    scan = Scan(artifacts)
    while not await call(scan.piece):
        pass
    rows = await call(lambda file: read_agents(file.connection, None))
    return sizes_of(rows, scan.record_bytes, scan.references, artifacts, await call(room.file_size))


async def _finish(call: OnItsThread, scan: Scan, collection: Collection) -> None:
    while not await call(scan.piece):
        pass
    while not await call(collection.piece):
        pass


def _put_before_s(file: OpenFile, root_ids: Sequence[AgentId]) -> float:
    own = {file.lease_files[root_id].path for root_id in root_ids}
    if is_anybody_at_work(lease_folder(file.path), own):
        return file.now_s() - GRACE_S
    return math.inf


def _check_there(file: OpenFile, root_ids: Sequence[AgentId]) -> None:
    for root_id in root_ids:
        row = file.connection.execute(
            "SELECT 1 FROM agents WHERE agent_id = ? AND root_id = agent_id", (root_id,)
        ).fetchone()
        if row is None:
            raise UnknownSession(f"there is no session {root_id!r} in the store {file.path}")
