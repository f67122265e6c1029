"""Sessions to delete, a disk to fill, and another process at work."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.address import AgentId
from host.store.sqlite import SqliteStore
from tests.disks import disk_of
from tests.host.store.samples import OTHER, ROOT, accepted, opened, said

CHILD = AgentId("a-child")
SECRET = "correct-horse-battery-staple"
HELD = """
import sys, anyio
from pathlib import Path
from host.store.sqlite import SqliteStore
from tests.host.store.samples import OTHER, opened

async def main() -> None:
    async with SqliteStore(Path(sys.argv[1])) as store, await store.lease(OTHER):
        await store.create(opened(OTHER))
        await store.put_artifact(b"in flight")
        print("held", flush=True)
        sys.stdin.readline()

anyio.run(main)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    with disk_of(2, tmp_path / "small") as folder:
        yield folder


@pytest.fixture
def other_process(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Writes the session `OTHER` of the store."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()
    process.stdin.close()


def bytes_of(path: Path) -> bytes:
    """All that lies in the files of the store."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob("store.db*")) if file.is_file())


async def write(store: SqliteStore, agent_id: AgentId, *texts: str, root_id: AgentId | None = None) -> None:
    async with await store.lease(root_id or agent_id):
        log = await store.create(opened(agent_id, root_id))
        for text in texts:
            log.submit(said(text), lambda _: None)


async def write_secrets(store: SqliteStore) -> str:
    """Two sessions whose records lie between each other's, one of them full of secrets; and an artifact."""
    artifact_id = await store.put_artifact(SECRET.encode() * 1000)
    async with await store.lease(ROOT), await store.lease(OTHER):
        logs = [await store.create(opened()), await store.create(opened(OTHER))]
        logs[0].submit((accepted(SECRET), *said(f"see {artifact_id}")), lambda _: None)
        for number in range(300):
            logs[0].submit(said(f"{number} {SECRET} " * (1 + number % 90)), lambda _: None)
            logs[1].submit(said(f"{number} harmless " * (1 + number % 70)), lambda _: None)
    return artifact_id


def fill(ballast: Path, *, leaving: int) -> None:
    """Leaves so many bytes of the disk."""
    room = os.statvfs(ballast.parent)
    ballast.write_bytes(b"x" * (room.f_bavail * room.f_bsize - leaving))
