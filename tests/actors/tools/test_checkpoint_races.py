"""Write and Edit while somebody else changes the same file, or the call is cancelled."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from actors.errors import BadInput
from actors.records import FileChanging
from actors.tools.files import Stamp, replace_file
from tests.actors.tools.watched import CHANGES, TOOLS, Watched, context_of, use


def overwritten(file: Path) -> None:
    file.write_text("theirs")


def replaced_by_one_that_looks_alike(file: Path) -> None:
    status = file.stat()
    other = file.with_name("other")
    other.write_text("OLD")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(file)


def removed(file: Path) -> None:
    file.unlink()


def made_a_link(file: Path) -> None:
    file.rename(file.with_name("away"))
    file.symlink_to("away")


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("happens", [overwritten, replaced_by_one_that_looks_alike, removed, made_a_link])
def test_a_change_by_somebody_else_in_the_last_moment_is_not_written_over(
    tmp_path: Path, name: str, happens: Callable[[Path], None]
) -> None:
    file, host = tmp_path / "f", Watched()
    file.write_text("old")
    context = context_of(host, file)
    host.then = lambda: happens(file)
    with pytest.raises(BadInput, match="f was changed by somebody else in this moment; Read it"):
        use(context, name, path="f", **CHANGES[name])
    assert [path.name for path in tmp_path.iterdir() if path.read_text() == "new"] == []


def test_a_file_that_appears_in_the_last_moment_is_not_written_over(tmp_path: Path) -> None:
    file, host = tmp_path / "f", Watched()
    context = context_of(host, file)
    host.then = lambda: overwritten(file)
    with pytest.raises(BadInput, match="f was changed by somebody else"):
        use(context, "Write", path="f", content="new")
    assert file.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["f"]


class Meddling(dict[Path, Stamp]):
    """What an agent has seen; the file changes right before one looks for the second time."""

    n_looks = 0

    def get(self, file: Path, default: Stamp | None = None) -> Stamp | None:  # type: ignore[override] # one of three
        self.n_looks += 1
        if self.n_looks == 2:
            overwritten(file)
        return super().get(file, default)


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_changes_while_it_is_read_is_not_recorded(tmp_path: Path, name: str) -> None:
    file, host = tmp_path / "f", Watched()
    file.write_text("old")
    context = context_of(host, file)
    context.files_read = Meddling(context.files_read)
    with pytest.raises(BadInput, match="f has changed since you read it"):
        use(context, name, path="f", **CHANGES[name])
    assert (file.read_text(), host.steps) == ("theirs", [])


def test_nobody_of_this_process_comes_between_the_last_look_and_the_change(tmp_path: Path) -> None:
    both_look = threading.Barrier(2, timeout=0.1)

    def look() -> None:
        both_look.wait()

    def replace(number: int) -> None:
        replace_file(tmp_path / "f", f"{number}".encode(), look)

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(replace, number) for number in range(2)]:
            assert isinstance(done.exception(), threading.BrokenBarrierError)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("old", ["old", None])
def test_of_two_agents_that_change_a_file_at_once_one_is_refused(
    tmp_path: Path, real_backend: str, old: str | None
) -> None:
    file = tmp_path / "f"
    if old is not None:
        file.write_text(old)
    hosts = [Watched(), Watched()]
    contexts = [context_of(host, file) for host in hosts]
    both_recorded = 0
    outcomes: list[str] = []

    async def write(number: int) -> None:
        host = hosts[number]

        async def record(change: FileChanging) -> None:
            nonlocal both_recorded
            await host.record(change)
            both_recorded += 1
            while both_recorded < 2:
                await anyio.lowlevel.checkpoint()

        contexts[number].record_change = record
        try:
            await TOOLS["Write"].run(contexts[number], {"path": "f", "content": f"by {number}"})
            outcomes.append(f"by {number}")
        except BadInput:
            outcomes.append("refused")

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(write, 0)
            group.start_soon(write, 1)

    anyio.run(main, backend=real_backend)
    assert sorted(outcomes)[1] == "refused"
    assert sorted(outcomes)[0] == file.read_text()


def test_a_call_that_is_cancelled_after_its_record_leaves_the_file(tmp_path: Path, real_backend: str) -> None:
    file, host = tmp_path / "f", Watched()
    file.write_text("old")
    context = context_of(host, file)

    async def main() -> None:
        with anyio.CancelScope() as scope:
            host.then = scope.cancel
            await TOOLS["Write"].run(context, {"path": "f", "content": "new"})
        assert scope.cancelled_caught

    anyio.run(main, backend=real_backend)
    assert file.read_text() == "old"
    assert len(host.changes) == 1
