"""Events a second that a store's logs take, without mailboxes, against the same rows in bare SQLite.

The floor commits a hundred rows at a time. The store commits what has come
while the last commit ran: fewer than a hundred where each writer waits for its
event, up to a thousand where each has ten on the way.
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import anyio

from actors.ports import Log
from actors.records import Record
from benchmarks.bare import Bare, accepted_record
from benchmarks.harness import WALL, Contender, Contest, Measurement, Shown, Stopwatch
from benchmarks.mailboxes import stored_log
from host.store.schema import Durability
from host.store.sqlite import SqliteStore

_N_WRITERS = 100
_N_EACH = 50
_N_EVENTS = _N_WRITERS * _N_EACH


def measurements() -> Iterator[Measurement]:
    durabilities: tuple[Durability, ...] = ("full", "normal")
    for durability, n_logs in product(durabilities, (1, _N_WRITERS)):
        bare = partial(Bare, durability, _N_EVENTS, _N_WRITERS, n_agents=n_logs)
        yield Contest(
            f"events a second of {_N_WRITERS} writers into {n_logs} log{'s' * (n_logs > 1)},"
            f" durability {durability}",
            (
                Contender(f"bare sqlite3, encoding, {_N_WRITERS} rows a commit", bare(encodes=True)),
                Contender("the same, encoded before", bare()),
                Contender(
                    "SqliteStore, each waits for its event",
                    partial(_run, durability, n_logs, 1),
                    aim_of_floor=0.8,
                ),
                Contender(
                    "SqliteStore, ten of each on the way",
                    partial(_run, durability, n_logs, 10),
                    aim_of_floor=0.8,
                ),
            ),
            Shown.RATE,
        )


def _run(durability: Durability, n_logs: int, n_on_the_way: int) -> float:
    record = accepted_record()
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(_written, Path(folder), durability, record, n_logs, n_on_the_way)


async def _written(
    folder: Path, durability: Durability, record: Record, n_logs: int, n_on_the_way: int
) -> float:
    async with SqliteStore(folder / "store.db", durability=durability) as store:
        logs = [await stored_log(store, f"agent-{at}") for at in range(n_logs)]
        writers = [_Writer(logs[at % n_logs], record, _N_EACH) for at in range(_N_WRITERS)]
        with Stopwatch(WALL) as watch:
            for writer in writers:
                writer.begin(n_on_the_way)
            for writer in writers:
                await writer.ended.wait()
    return watch.seconds / _N_EVENTS


class _Writer:
    """Keeps so many events on the way to its log: each that is durable is followed by another."""

    def __init__(self, log: Log, record: Record, n_events: int) -> None:
        self._log = log
        self._records = (record,)
        self._n_unsent = self._n_unanswered = n_events
        self.ended = anyio.Event()

    def begin(self, n_on_the_way: int) -> None:
        for _ in range(n_on_the_way):
            self._send()

    def _send(self) -> None:
        self._n_unsent -= 1
        self._log.submit(self._records, self._answered)

    def _answered(self, error: Exception | None) -> None:
        assert error is None, "the store takes everything here"
        self._n_unanswered -= 1
        if self._n_unsent:
            self._send()
        if not self._n_unanswered:
            self.ended.set()
