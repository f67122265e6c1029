"""Rows read from the pages of a file are those that SQLite reads."""

import sqlite3
from pathlib import Path

import anyio

from host.store.carving import Carving
from host.store.sqlite import SqliteStore
from tests.host.store.broken import written_to
from tests.host.store.samples import OTHER, said


def test_carving_reads_every_row_as_sqlite_does(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    written = written_to(store, n_records=100)

    async def add_large() -> None:
        async with SqliteStore(store) as opened_store, await opened_store.lease(OTHER):
            next_seq = (await opened_store.load(OTHER)).next_seq
            texts = ["x" * n for n in (0, 400, 900, 1_000, 1_900, 4_000, 5_000, 100_000)]
            opened_store.writer(OTHER, next_seq).submit(said(*texts), lambda _: None)
            for size in (0, 1, 3_900, 4_061, 4_062, 8_000, 300_000):
                await opened_store.put_artifact(b"y" * size)

    anyio.run(add_large)
    carving = Carving.of(store)
    connection = sqlite3.connect(store)
    connection.row_factory = sqlite3.Row
    for agent_id in written.logs:
        rows = connection.execute("SELECT * FROM records WHERE agent_id = ? ORDER BY seq", (agent_id,))
        carved = {row["seq"]: row for row in carving.records(agent_id)}
        assert [dict(row) for row in rows] == [carved[seq] for seq in range(len(carved))]
    for artifact_id, data in connection.execute("SELECT artifact_id, data FROM artifacts"):
        assert data in tuple(carving.artifact(artifact_id))
    connection.close()
