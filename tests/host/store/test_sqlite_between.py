"""What happens to the file between two transactions of a store that keeps what it has looked up."""

import sqlite3
from pathlib import Path

import anyio
import pytest

from actors.errors import LogFailed, StaleWriter
from actors.ports import Log
from actors.records import Record
from host.store.sqlite import SqliteStore
from tests.host.store.samples import OTHER, ROOT, opened, said, texts_of


def change(path: Path, statement: str) -> None:
    """Somebody else writes into the file."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


async def write(log: Log, records: tuple[Record, ...]) -> Exception | None:
    """Submits and waits for the answer, with nothing else on the store's thread in between."""
    heard = anyio.Event()
    answers: list[Exception | None] = []

    def done(error: Exception | None) -> None:
        answers.append(error)
        heard.set()

    log.submit(records, done)
    await heard.wait()
    return answers[0]


@pytest.mark.parametrize(
    "statement",
    ["UPDATE leases SET epoch = epoch + 1", "UPDATE agents SET n_records = n_records + 1"],
    ids=["the lease was taken", "a record was appended"],
)
def test_a_writer_that_has_just_written_is_fenced_by_whoever_came_in_between(
    tmp_path: Path, real_backend: str, statement: str
) -> None:
    path = tmp_path / "store.db"

    async def main() -> None:
        async with SqliteStore(path) as store, await store.lease(ROOT):
            log = await store.create(opened())
            assert await write(log, said("mine")) is None
            assert await write(log, said("mine again")) is None
            change(path, statement)
            assert isinstance(await write(log, said("a zombie's")), StaleWriter)

    anyio.run(main, backend=real_backend)


def test_a_session_that_another_process_archives_comes_back_with_the_next_record(
    tmp_path: Path, real_backend: str
) -> None:
    path = tmp_path / "store.db"

    async def main() -> None:
        async with SqliteStore(path) as store, await store.lease(ROOT):
            await store.create(opened())
            child = await store.create(opened(OTHER, ROOT))
            assert await write(child, said("one")) is None
            change(path, "UPDATE agents SET archived_at = 1.0")
            assert await write(child, said("two")) is None
            assert [row.archived_at for row in await store.agents()] == [None, None]

    anyio.run(main, backend=real_backend)


def test_a_transaction_that_fails_leaves_the_place_of_the_next_record_as_it_was(
    tmp_path: Path, real_backend: str
) -> None:
    path = tmp_path / "store.db"

    async def main() -> None:
        async with SqliteStore(path) as store, await store.lease(ROOT):
            log = await store.create(opened())
            change(
                path,
                "CREATE TRIGGER refuse BEFORE INSERT ON records WHEN instr(new.data, x'6c6f7374')"  # lost
                " BEGIN SELECT RAISE(FAIL, 'no room'); END",
            )
            assert await write(log, said("one")) is None
            assert isinstance(await write(log, said("lost")), LogFailed)
            assert await write(store.writer(ROOT, 2), said("two")) is None
            assert texts_of(await store.load(ROOT)) == ["one", "two"]

    anyio.run(main, backend=real_backend)
