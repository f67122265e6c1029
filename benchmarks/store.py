"""Messages a second that are durably accepted, against the same rows in bare SQLite."""

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import anyio

from benchmarks.bare import Bare
from benchmarks.harness import WALL, Contender, Contest, Measurement, Shown, Stopwatch
from benchmarks.mailboxes import Desk, draft, stored_log
from host.store.schema import Durability
from host.store.sqlite import SqliteStore

_N_SENDERS = 100
_N_EACH = 50
_N_ALONE = {"full": 100, "normal": 1_000}


def measurements() -> Iterator[Measurement]:
    durabilities: tuple[Durability, ...] = ("full", "normal")
    for durability in durabilities:
        n_alone = _N_ALONE[durability]
        yield Contest(
            f"durable accepts a second, one sender, durability {durability}",
            (
                Contender("bare sqlite3, a commit each", Bare(durability, n_alone, 1)),
                Contender("the way to a thread and back alone", partial(_handed_over, n_alone)),
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
                    Bare(durability, _N_SENDERS * _N_EACH, _N_SENDERS),
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


def _handed_over(n_times: int) -> float:
    """What a store that writes in a thread of its own cannot save when messages come one by one."""

    async def there_and_back() -> float:
        loop = asyncio.get_running_loop()
        jobs: SimpleQueue[anyio.Event | None] = SimpleQueue()

        def answer() -> None:
            while (event := jobs.get()) is not None:
                loop.call_soon_threadsafe(event.set)

        thread = threading.Thread(target=answer)
        thread.start()
        with Stopwatch(WALL) as watch:
            for _ in range(n_times):
                event = anyio.Event()
                jobs.put(event)
                await event.wait()
        jobs.put(None)
        thread.join()
        return watch.seconds / n_times

    return anyio.run(there_and_back)


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
