"""Restores that are killed: `python -m … FOLDER BACKEND N_ROUNDS SEED`.

This process stays without threads and forks every restore: one that is killed
at a random moment, then one that is not. In between it looks whether all that
was replaced is kept. It prints how many rounds there were and how many kills
met a restore halfway.
"""

import hashlib
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from actors.records import FileChanging, FileState
from host.workspace import carry_out, plan_restore
from tests.host.workspace.desk import Tree, tree_of

_N_FILES = 30
_LONGEST_S = 0.15


class FolderArtifacts:
    """Artifacts that outlive the process: one file each, named by its hash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    async def put(self, data: bytes) -> str:
        return self.keep(data)

    def keep(self, data: bytes) -> str:
        artifact_id = hashlib.sha256(data).hexdigest()
        part = self._folder / "part"
        part.write_bytes(data)
        part.replace(self._folder / artifact_id)
        return artifact_id

    async def get(self, artifact_id: str) -> bytes | None:
        return (self._folder / artifact_id).read_bytes()

    def has(self, data: bytes) -> bool:
        return (self._folder / hashlib.sha256(data).hexdigest()).exists()


def change(work: Path, name: str, chance: random.Random, artifacts: FolderArtifacts) -> FileChanging:
    """Writes a file as an agent would have, after an old one or where none was."""
    file, new = work / name, f"new {name}".encode()
    before = None
    made: tuple[str, ...] = ()
    if chance.random() < 0.6:
        before = FileState(*old_file(file, chance, artifacts))
    elif not file.parent.exists():
        made = (str(file.parent),)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(new)
    return FileChanging("call_1", str(file), before, hashlib.sha256(new).hexdigest(), 0.0, made)


def old_file(file: Path, chance: random.Random, artifacts: FolderArtifacts) -> tuple[str, int, str]:
    old = f"old {file.name} ".encode() * chance.choice([1, 1_000])
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(old)
    artifact_id = artifacts.keep(old)
    return artifact_id, 0o644, artifact_id


def in_a_fork(act: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)
    return child


def one_round(folder: Path, backend: str, chance: random.Random) -> bool:
    """Whether the kill met the restore halfway."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    work, artifacts = folder / "work", FolderArtifacts(folder / "artifacts")
    work.mkdir()
    names = [f"{number % 7}/{number}" for number in range(_N_FILES)]
    changes = [change(work, name, chance, artifacts) for name in names]
    for name in chance.sample(names, 3):
        (work / name).write_text(f"theirs {name}")
    if chance.random() < 0.3:
        shutil.rmtree(work / "3")

    async def restore() -> None:
        await carry_out(await plan_restore(changes, artifacts), artifacts, overwrite=True)

    def act() -> None:
        anyio.run(restore, backend=backend)

    before = tree_of(work)
    n_at_first = sum(is_wanted(work, change) for change in changes)
    child = in_a_fork(act)
    wait_for_a_moment(chance, [Path(change.path) for change in changes])
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    check_kept(before, tree_of(work), artifacts)
    n_wanted = sum(is_wanted(work, change) for change in changes)
    if os.waitstatus_to_exitcode(os.waitpid(in_a_fork(act), 0)[1]) != 0:
        raise SystemExit("the restore after a kill failed")
    if not all(is_wanted(work, change) for change in changes):
        raise SystemExit("the restore after a kill did not restore everything")
    if left := [path for path in tree_of(work) if path.endswith(".part")]:
        raise SystemExit(f"left behind: {left}")
    return n_at_first < n_wanted < len(changes)


def wait_for_a_moment(chance: random.Random, files: list[Path]) -> None:
    """Any moment of a restore, or, as often, one soon after it began to put files in place."""
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0, _LONGEST_S))
        return
    watched = chance.choice([file for file in files if file.exists()])
    inode, end = watched.stat().st_ino, time.monotonic() + 10 * _LONGEST_S
    while time.monotonic() < end:
        try:
            if watched.stat().st_ino != inode:
                return
        except FileNotFoundError:
            return


def check_kept(before: Tree, after: Tree, artifacts: FolderArtifacts) -> None:
    for path, (_, data) in before.items():
        if data is not None and after.get(path, (0, None))[1] != data and not artifacts.has(data):
            raise SystemExit(f"what stood in {path} is lost")
    for path, (_, data) in after.items():
        if (
            data is not None
            and not path.endswith(".part")
            and not data.startswith((b"old", b"new", b"theirs"))
        ):
            raise SystemExit(f"{path} holds a part of a file")


def is_wanted(work: Path, change: FileChanging) -> bool:
    file = Path(change.path)
    if change.before is None:
        return not file.exists()
    return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == change.before.sha256


def main(folder: str, backend: str, n_rounds: str, seed: str) -> None:
    chance = random.Random(int(seed))
    place = Path(os.path.realpath(folder)) / "round"
    n_halfway = sum(one_round(place, backend, chance) for _ in range(int(n_rounds)))
    print(f"{n_rounds} rounds, {n_halfway} killed halfway")


if __name__ == "__main__":
    main(*sys.argv[1:])
