"""Bare SQLite as a floor: the rows of a store's records, one INSERT a statement, grouped in commits."""

import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

import anyio

from actors.records import EnvelopeAccepted
from benchmarks.harness import WALL, Stopwatch
from benchmarks.mailboxes import Desk, ForgetfulLog, draft
from host.store.chain import HASH_BYTES
from host.store.codec import encode_record
from host.store.schema import Durability

_TABLE = """
    CREATE TABLE records (
        agent_id TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL,
        data BLOB NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (agent_id, seq)
    ) STRICT, WITHOUT ROWID
"""
_INSERT = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)"
_HASH = bytes(HASH_BYTES)


@dataclass(frozen=True, slots=True)
class Bare:
    """Writes so many rows, `n_a_commit` of them in each transaction; gives the seconds a row took.

    The rows are as large as the store's, hash and all, and of so many agents
    in turn. With `encodes` each is made of its record while the time runs,
    as the store must.
    """

    durability: Durability
    n_rows: int
    n_a_commit: int
    encodes: bool = False
    n_agents: int = 1

    def __call__(self) -> float:
        record = accepted_record()
        row = encode_record(record)
        with tempfile.TemporaryDirectory() as folder:
            connection = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self.durability.upper()}")
            connection.execute(_TABLE)
            with Stopwatch(WALL) as watch:
                for first in range(0, self.n_rows, self.n_a_commit):
                    connection.execute("BEGIN IMMEDIATE")
                    for seq in range(first, first + self.n_a_commit):
                        if self.encodes:
                            row = encode_record(record)
                        agent_id = f"agent-{seq % self.n_agents}"
                        connection.execute(_INSERT, (agent_id, seq, row.kind, row.version, row.data, _HASH))
                    connection.execute("COMMIT")
            connection.close()
        return watch.seconds / self.n_rows


def accepted_record() -> EnvelopeAccepted:
    """What a mailbox writes for one of the messages."""

    async def make() -> EnvelopeAccepted:
        desk = Desk("one", ForgetfulLog(), 1)
        receipt = desk.mailbox.put_nowait(draft("sender-1", 1))
        desk.close()
        return EnvelopeAccepted(receipt.envelope)

    return anyio.run(make)
