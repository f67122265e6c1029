"""A process that writes to a store until it is killed: `python -m … PATH ROOT BACKEND`.

It prints `held` when it has the lease, then the number of every record once
that record's answer has come.
"""

import os
import sys
from functools import partial

import anyio

from actors.address import AgentId
from host.errors import SessionBusy, UnknownSession
from host.store.ports import AgentLog, Store
from host.store.sqlite import SqliteStore
from tests.host.store.samples import opened, said

_AT_ONCE = 8


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def resume(store: Store, root_id: AgentId) -> AgentLog:
    try:
        return store.writer(root_id, (await store.load(root_id)).next_seq)
    except UnknownSession:
        return await store.create(opened(root_id))


async def write_for_ever(log: AgentLog) -> None:
    room = anyio.Semaphore(_AT_ONCE)

    def heard(number: int, error: Exception | None) -> None:
        tell(str(number) if error is None else f"failed {error!r}")
        room.release()

    while True:
        await room.acquire()
        number = log.next_seq
        log.submit(said(str(number)), partial(heard, number))


async def main(path: str, root_id: str) -> None:
    async with SqliteStore(path) as store:
        try:
            lease = await store.lease(AgentId(root_id))
        except SessionBusy as busy:
            tell(f"busy {busy.pid}")
            return
        async with lease:
            tell("held")
            await write_for_ever(await resume(store, AgentId(root_id)))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], backend=sys.argv[3])
