"""Messages a second that are durably accepted, against the same rows in bare SQLite."""

import sqlite3
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio

from actors.records import EnvelopeAccepted
from benchmarks.harness import WALL, Contender, Contest, Measurement, Shown, Stopwatch
from benchmarks.mailboxes import Desk, ForgetfulLog, draft, stored_log
from host.store.codec import EncodedRecord, encode_record
from host.store.schema import Durability
from host.store.sqlite import SqliteStore

_N_SENDERS = 100
_N_EACH = 50
_N_ALONE = {"full": 100, "normal": 1_000}
_TABLE = """
    CREATE TABLE records (
        agent_id TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL,
        data BLOB NOT NULL, PRIMARY KEY (agent_id, seq)
    ) STRICT, WITHOUT ROWID
"""
_INSERT = "INSERT INTO records VALUES (?, ?, ?, ?, ?)"


def measurements() -> Iterator[Measurement]:
    durabilities: tuple[Durability, ...] = ("full", "normal")
    for durability in durabilities:
        n_alone = _N_ALONE[durability]
        yield Contest(
            f"durable accepts a second, one sender, durability {durability}",
            (
                Contender("bare sqlite3, a commit each", partial(_bare, durability, n_alone, 1)),
                Contender(
                    "mailbox on SqliteStore", partial(_accept, durability, 1, n_alone), aim_of_floor=0.35
                ),
            ),
            Shown.RATE,
        )
        yield Contest(
            f"durable accepts a second, {_N_SENDERS} senders, durability {durability}",
            (
                Contender(
                    f"bare sqlite3, {_N_SENDERS} rows a commit",
                    partial(_bare, durability, _N_SENDERS * _N_EACH, _N_SENDERS),
                ),
                Contender(
                    "mailbox on SqliteStore",
                    partial(_accept, durability, _N_SENDERS, _N_EACH),
                    aim_s=1 / 10_000,
                    aim_of_floor=0.8,
                ),
            ),
            Shown.RATE,
        )


def _accept(durability: Durability, n_senders: int, n_each: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(_accepted, Path(folder), durability, n_senders, n_each)


async def _accepted(folder: Path, durability: Durability, n_senders: int, n_each: int) -> float:
    async with SqliteStore(folder / "store.db", durability=durability) as store:
        # Room for all: nobody takes, so that accepting alone is measured.
        desk = Desk("one", await stored_log(store, "one"), n_senders * n_each)

        async def send(sender: str) -> None:
            for number in range(n_each):
                await desk.mailbox.put(draft(sender, number))

        with Stopwatch(WALL) as watch:
            async with anyio.create_task_group() as tasks:
                for at in range(n_senders):
                    tasks.start_soon(send, f"sender-{at}")
        desk.close()
    return watch.seconds / (n_senders * n_each)


def _bare(durability: Durability, n_rows: int, n_a_commit: int) -> float:
    row = _row()
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {durability.upper()}")
        connection.execute(_TABLE)
        with Stopwatch(WALL) as watch:
            for first in range(0, n_rows, n_a_commit):
                connection.execute("BEGIN IMMEDIATE")
                for seq in range(first, first + n_a_commit):
                    connection.execute(_INSERT, ("one", seq, row.kind, row.version, row.data))
                connection.execute("COMMIT")
        connection.close()
    return watch.seconds / n_rows


def _row() -> EncodedRecord:
    """What the store writes for one of the messages."""

    async def make() -> EncodedRecord:
        desk = Desk("one", ForgetfulLog(), 1)
        receipt = desk.mailbox.put_nowait(draft("sender-1", 1))
        desk.close()
        return encode_record(EnvelopeAccepted(receipt.envelope))

    return anyio.run(make)
