"""What a completion may do: it runs on the loop's thread like any code of the store's owner."""

from pathlib import Path

import anyio

from host.store.sqlite import SqliteStore
from tests.host.store.samples import ROOT, opened, said


def test_a_completion_may_start_a_task(tmp_path: Path, real_backend: str) -> None:
    async def main() -> None:
        has_run = anyio.Event()

        async def work() -> None:
            has_run.set()

        async with (
            anyio.create_task_group() as tasks,
            SqliteStore(tmp_path / "store.db") as store,
            await store.lease(ROOT),
        ):

            def completed(_: Exception | None) -> None:
                tasks.start_soon(work)

            log = await store.create(opened())
            log.submit(said("a"), completed)
            with anyio.fail_after(10):
                await has_run.wait()

    anyio.run(main, backend=real_backend)
