import os
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from host.cli.reading import Lines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)


async def all_lines(descriptor: int) -> list[str]:
    lines, found = Lines(descriptor), []
    while (line := await lines.next()) is not None:
        found.append(line)
    return found


def test_lines_come_as_they_were_written_and_the_last_needs_no_end(
    pipe: tuple[int, int], real_backend: str
) -> None:
    os.write(pipe[1], "one\r\n\nGrüße \xff".encode("latin-1"))
    os.close(pipe[1])
    assert anyio.run(all_lines, pipe[0], backend=real_backend) == ["one", "", "Gr\ufffd\ufffde \ufffd"]


def test_a_file_and_a_null_device_can_be_read(tmp_path: Path, real_backend: str) -> None:
    file = tmp_path / "lines"
    file.write_text("one\ntwo\n")
    for path, wanted in ((file, ["one", "two"]), (Path(os.devnull), [])):
        descriptor = os.open(path, os.O_RDONLY)
        assert anyio.run(all_lines, descriptor, backend=real_backend) == wanted
        os.close(descriptor)


def test_a_cancelled_wait_loses_nothing_and_leaves_no_thread(
    pipe: tuple[int, int], real_backend: str
) -> None:
    async def main() -> str | None:
        lines = Lines(pipe[0])
        os.write(pipe[1], b"half")
        with anyio.move_on_after(0.05):
            await lines.next()
        assert threading.active_count() == n_threads
        os.write(pipe[1], b" and whole\n")
        return await lines.next()

    n_threads = threading.active_count()
    assert anyio.run(main, backend=real_backend) == "half and whole"
    os.close(pipe[1])
