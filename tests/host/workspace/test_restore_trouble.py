"""Restores that meet a full disk, missing rights, somebody who changes files meanwhile, or a kill."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from host.errors import RestoreFailed, RestoreRefused, StoreDamaged, StoreUnavailable
from host.workspace import carry_out, plan_restore
from tests.disks import disk_of
from tests.host.workspace.desk import Desk, tree_of

NOBODY = 65_534


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    with disk_of(1, tmp_path / "small") as folder:
        yield folder


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, for tests that become another one."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody without rights")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(os.path.realpath(folder))


@contextmanager
def as_nobody() -> Iterator[None]:
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_a_full_disk_changes_nothing_and_with_room_it_goes_on(small_disk: Path, real_backend: str) -> None:
    desk = Desk(small_disk, real_backend)
    (small_disk / "a").write_text("a" * 1_000)
    (small_disk / "b").write_text("b" * 400_000)
    before = tree_of(small_disk)
    for path in ("a", "b", "new/c"):
        desk.write(path, "short")
    after = tree_of(small_disk)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(900_000))
    with pytest.raises(RestoreFailed, match="b: No space left on device") as failure:
        desk.restore()
    assert failure.value.done == ()
    assert [Path(path).name for path in failure.value.left] == ["a", "b", "c"]
    ballast.unlink()
    assert tree_of(small_disk) == after
    desk.restore()
    assert tree_of(small_disk) == before


def test_missing_rights_are_found_before_anything_changes(open_folder: Path, real_backend: str) -> None:
    desk = Desk(open_folder, real_backend)
    for name in ("fine", "locked", "unreadable", "closed/f"):
        (open_folder / name).parent.mkdir(exist_ok=True)
        (open_folder / name).write_text("old")
        desk.write(name, "new")
    desk.write("closed/made/f", "new")
    open_folder.chmod(0o777)
    for name, mode in (("fine", 0o666), ("locked", 0o444), ("unreadable", 0o222), ("closed/f", 0o666)):
        (open_folder / name).chmod(mode)
    (open_folder / "closed/made/f").chmod(0o666)
    desk.plan()  # imports what only root can read
    with as_nobody(), pytest.raises(RestoreRefused) as refusal:
        desk.restore(overwrite=True)
    assert refusal.value.impossible == {
        f"{open_folder}/locked": "is write-protected",
        f"{open_folder}/unreadable": "cannot be read: Permission denied",
        f"{open_folder}/closed/f": (f"cannot be written: no right to change the folder {open_folder}/closed"),
        f"{open_folder}/closed/made/f": (
            f"cannot be written: no right to change the folder {open_folder}/closed/made"
        ),
    }
    assert (open_folder / "fine").read_text() == "new"


def test_a_failure_in_the_middle_says_what_is_done_and_goes_on_afterwards(
    open_folder: Path, real_backend: str
) -> None:
    desk = Desk(open_folder, real_backend)
    for name in ("mine/a", "sticky/b", "mine/c"):
        (open_folder / name).parent.mkdir(exist_ok=True)
        (open_folder / name).write_text("old")
        desk.write(name, "new")
        (open_folder / name).chmod(0o666)
    (open_folder / "mine").chmod(0o777)
    # There everybody may make files, and nobody may replace those of others.
    (open_folder / "sticky").chmod(0o1777)
    desk.plan()  # imports what only root can read
    with as_nobody(), pytest.raises(RestoreFailed) as failure:
        desk.restore()
    assert failure.value.done == (f"{open_folder}/mine/a",)
    assert failure.value.left == (f"{open_folder}/sticky/b", f"{open_folder}/mine/c")
    assert f"stopped: {open_folder}/sticky/b: Operation not permitted" in str(failure.value)
    assert {path: data for path, (_, data) in tree_of(open_folder).items() if data is not None} == {
        "mine/a": b"old",
        "sticky/b": b"new",
        "mine/c": b"new",
    }
    desk.restore()
    assert {data for _, data in tree_of(open_folder).values()} == {None, b"old"}


def overwritten(file: Path) -> None:
    file.write_text("theirs")


def removed(file: Path) -> None:
    file.unlink()


@dataclass
class Busy:
    """The artifacts of a desk; something happens when one is fetched or put for the n-th time."""

    desk: Desk
    at: int
    act: Callable[[], None]
    n_used: int = 0

    async def put(self, data: bytes) -> str:
        return await self.desk.host.put(data)

    async def get(self, artifact_id: str) -> bytes | None:
        self.n_used += 1
        if self.n_used == self.at:
            self.act()
        return await self.desk.host.get(artifact_id)


@dataclass
class Broken:
    """Artifacts that take nothing and give nothing."""

    async def put(self, data: bytes) -> str:
        raise StoreUnavailable("the store takes nothing: the disk is full")

    async def get(self, artifact_id: str) -> bytes | None:
        raise StoreDamaged(f"artifact {artifact_id} is not what was put")


def test_a_store_that_fails_leaves_every_file(tmp_path: Path, real_backend: str) -> None:
    desk = Desk(tmp_path, real_backend)
    (tmp_path / "a").write_text("old")
    desk.write("a", "new")
    desk.write("b", "new")
    plan = desk.plan()

    async def carry() -> None:
        await carry_out(plan, Broken(), overwrite=True)

    with pytest.raises(StoreUnavailable, match="the disk is full"):
        anyio.run(carry, backend=real_backend)
    blind = anyio.run(plan_restore, desk.changes, Broken(), backend=real_backend)
    [line] = blind.impossible
    assert line.path == f"{tmp_path}/a"
    assert re.search("what was kept of it cannot be read: artifact art1 is not what was put", line.reason)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}


def test_a_restore_that_is_cancelled_before_its_end_leaves_every_file(
    tmp_path: Path, real_backend: str
) -> None:
    desk = Desk(tmp_path, real_backend)
    for name in ("gone/deep/b", "a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old")
        desk.write(name, "new")
    shutil.rmtree(tmp_path / "gone")
    plan = desk.plan()

    async def main() -> None:
        with anyio.CancelScope() as scope:
            await carry_out(plan, Busy(desk, at=2, act=scope.cancel), overwrite=True)
        assert scope.cancelled_caught

    anyio.run(main, backend=real_backend)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new"}


@pytest.mark.parametrize("happens", [overwritten, removed])
def test_a_change_by_somebody_else_in_the_last_moment_is_not_overwritten(
    tmp_path: Path, real_backend: str, happens: Callable[[Path], None]
) -> None:
    desk = Desk(tmp_path, real_backend)
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"old {name}")
        desk.write(name, f"new {name}")

    async def main() -> None:
        await carry_out(plan, Busy(desk, at=2, act=lambda: happens(tmp_path / "b")), overwrite=True)

    plan = desk.plan()
    with pytest.raises(RestoreFailed, match="b: somebody else changed it in this moment") as failure:
        anyio.run(main, backend=real_backend)
    assert failure.value.done == (f"{tmp_path}/a",)
    assert (tmp_path / "a").read_text() == "old a"
    assert [path.name for path in tmp_path.iterdir() if path.read_text() == "old b"] == []
