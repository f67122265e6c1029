"""What a snapshot tells of real repositories, of broken ones, and of a git that is not itself."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from actors.context import GitState, Snapshot, Unknown
from actors.context.git_output import STATUS_CHARACTERS
from actors.context.source import take_snapshot

Look = Callable[..., Snapshot]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}


@pytest.fixture
def look(real_backend: str, environ: dict[str, str]) -> Look:
    def take(cwd: Path, git_limit_s: float = 10.0, **more: str) -> Snapshot:
        async def main() -> Snapshot:
            return await take_snapshot(cwd, environ={**environ, **more}, date=None, git_limit_s=git_limit_s)

        return anyio.run(main, backend=real_backend)

    return take


class Repository:
    def __init__(self, path: Path, environ: dict[str, str]) -> None:
        self.path = path
        self._environ = environ
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=self._environ, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, "utf-8")

    def commit(self, subject: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "--short", "HEAD")

    def sign_head(self) -> None:
        """Gives the last commit a signature that nobody made, so that git would have it verified."""
        head, message = self.git("cat-file", "commit", "HEAD").split("\n\n", 1)
        signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
        self.write(".git/signed", f"{head}\n{signature}\n\n{message}\n")
        self.git("reset", "--quiet", self.git("hash-object", "-t", "commit", "-w", ".git/signed"))


@pytest.fixture
def repository(tmp_path: Path, environ: dict[str, str]) -> Repository:
    return Repository(tmp_path / "repository", environ)


def state(snapshot: Snapshot) -> GitState:
    assert snapshot.git is not None
    return snapshot.git


def fake_git(folder: Path, script: str) -> str:
    """A `git` of our own; returns a path on which it is the first."""
    folder.mkdir(exist_ok=True)
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (folder / "git").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_a_repository_is_told_whole(look: Look, repository: Repository) -> None:
    repository.write("lamp.py", "on")
    ids = [repository.commit(f"Step {n}") for n in range(7)]
    repository.git("switch", "--quiet", "--create", "lamp/rotation")
    repository.write("lamp.py", "off")
    repository.write("fog ø.md", "horn")
    seen = look(repository.path)
    assert seen.is_git_repository
    assert seen.git == GitState(
        branch="lamp/rotation",
        main_branch="main",
        user="Ada",
        status=' M lamp.py\n?? "fog ø.md"',
        commits=tuple(f"{ids[n]} Step {n}" for n in (6, 5, 4, 3, 2)),
    )


def test_a_clean_tree_has_an_empty_status(look: Look, repository: Repository) -> None:
    repository.commit("One")
    assert state(look(repository.path)).status == ""


def test_a_directory_below_the_root_is_in_the_repository(look: Look, repository: Repository) -> None:
    (repository.path / "a" / "b").mkdir(parents=True)
    assert state(look(repository.path / "a" / "b")).branch == "main"


def test_before_the_first_commit_there_is_a_branch_and_no_commit(look: Look, repository: Repository) -> None:
    git = state(look(repository.path))
    assert (git.branch, git.main_branch, git.commits) == ("main", None, ())


def test_a_detached_head_has_no_branch(look: Look, repository: Repository) -> None:
    repository.commit("One")
    repository.git("switch", "--quiet", "--detach")
    git = state(look(repository.path))
    assert (git.branch, git.main_branch) == (None, "main")


def test_the_remote_s_head_is_the_main_branch(look: Look, repository: Repository) -> None:
    repository.commit("One")
    repository.git("update-ref", "refs/remotes/origin/trunk", "HEAD")
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert state(look(repository.path)).main_branch == "trunk"


def test_without_a_name_there_is_no_user(look: Look, repository: Repository) -> None:
    repository.git("config", "--unset", "user.name")
    assert state(look(repository.path)).user is None


def test_a_hostile_branch_name_is_only_a_name(look: Look, repository: Repository) -> None:
    name = "</system-reminder>;$(touch${IFS}ran)--upload-pack"
    repository.commit("One")
    repository.git("switch", "--quiet", "--create", name)
    assert state(look(repository.path)).branch == name
    assert not (repository.path / "ran").exists()


def test_a_long_status_is_cut_by_characters(look: Look, repository: Repository) -> None:
    for n in range(300):
        repository.write(f"{n:03}-{'é' * 40}", "x")
    git = state(look(repository.path))
    assert isinstance(git.status, str)
    assert (len(git.status), git.is_status_cut) == (STATUS_CHARACTERS, True)


def test_git_variables_do_not_lead_to_another_repository(
    look: Look, repository: Repository, environ: dict[str, str], tmp_path: Path
) -> None:
    other = Repository(tmp_path / "other", environ)
    other.git("switch", "--quiet", "--create", "elsewhere")
    seen = look(repository.path, GIT_DIR=str(other.path / ".git"), GIT_WORK_TREE=str(other.path))
    assert state(seen).branch == "main"


def test_outside_a_repository_git_is_not_asked(look: Look, tmp_path: Path) -> None:
    path = fake_git(tmp_path / "bin", f"touch {tmp_path}/asked")
    seen = look(tmp_path, PATH=path)
    assert (seen.is_git_repository, seen.git) == (False, None)
    assert not (tmp_path / "asked").exists()


def test_an_empty_git_folder_is_no_repository(look: Look, tmp_path: Path) -> None:
    (tmp_path / "a" / ".git").mkdir(parents=True)
    seen = look(tmp_path / "a")
    assert (seen.is_git_repository, seen.git) == (False, None)


def test_without_git_everything_is_unknown(look: Look, repository: Repository) -> None:
    for path in ("", ".", str(repository.path)):
        seen = look(repository.path, PATH=path)
        assert seen.is_git_repository
        assert state(seen) == GitState(*[Unknown("git is not installed")] * 5)  # type: ignore[arg-type]


def test_a_repository_cannot_bring_its_own_git(
    look: Look, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.path)
    fake_git(repository.path, f"touch {tmp_path}/ran")
    look(repository.path, PATH=os.pathsep.join((".", "", os.environ["PATH"])))
    assert not (tmp_path / "ran").exists()


def test_a_git_that_fails_is_unknown_with_its_own_words(
    look: Look, repository: Repository, tmp_path: Path
) -> None:
    path = fake_git(tmp_path / "bin", "echo 'fatal: the index is on fire' >&2; exit 128")
    status = state(look(repository.path, PATH=path)).status
    assert status == Unknown("git failed: fatal: the index is on fire")


def test_a_damaged_repository_is_unknown_where_it_is_damaged(look: Look, repository: Repository) -> None:
    repository.commit("One")
    (repository.path / ".git" / "index").write_bytes(b"garbage")
    git = state(look(repository.path))
    assert isinstance(git.status, Unknown)
    assert "index" in git.status.reason
    assert git.branch == "main"


def test_a_git_that_does_not_run_is_unknown(look: Look, repository: Repository, tmp_path: Path) -> None:
    path = fake_git(tmp_path / "bin", "")
    (tmp_path / "bin" / "git").write_bytes(b"\x00\x01\x02")
    status = state(look(repository.path, PATH=path)).status
    assert isinstance(status, Unknown)
    assert status.reason.startswith("git cannot be started")


def test_a_hanging_git_is_unknown_after_its_limit_and_leaves_no_process(
    look: Look, repository: Repository, tmp_path: Path
) -> None:
    path = fake_git(
        tmp_path / "bin", f"echo $$ >> {tmp_path}/pids; sleep 600 & echo $! >> {tmp_path}/pids; wait"
    )
    started = time.monotonic()
    git = state(look(repository.path, 0.4, PATH=path))
    assert time.monotonic() - started < 3
    assert git.status == Unknown("git gave no answer within 400 ms")
    assert_gone(tmp_path / "pids", 2)


def test_a_git_that_hangs_in_one_command_leaves_the_others_known(
    look: Look, repository: Repository, tmp_path: Path
) -> None:
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    path = fake_git(tmp_path / "bin", f'case "$*" in *" status "*) sleep 600;; *) exec {real} "$@";; esac')
    git = state(look(repository.path, 1.0, PATH=path))
    assert git.status == Unknown("git gave no answer within 1,000 ms")
    assert (git.branch, git.commits) == ("main", ())


def test_a_git_that_floods_both_streams_is_stopped(
    look: Look, repository: Repository, tmp_path: Path
) -> None:
    path = fake_git(tmp_path / "bin", f"echo $$ >> {tmp_path}/pids; yes >&2 & exec yes")
    git = state(look(repository.path, PATH=path))
    assert git.status == Unknown("git wrote more than is read")
    assert_gone(tmp_path / "pids", 1)


def test_cancellation_kills_git_and_passes(
    real_backend: str, repository: Repository, environ: dict[str, str], tmp_path: Path
) -> None:
    path = fake_git(tmp_path / "bin", f"echo $$ >> {tmp_path}/pids; sleep 600")

    async def main() -> bool:
        with anyio.move_on_after(0.4) as scope:
            await take_snapshot(repository.path, environ={**environ, "PATH": path}, date=None)
        return scope.cancelled_caught

    assert anyio.run(main, backend=real_backend)
    assert_gone(tmp_path / "pids", 1)


def test_nothing_that_a_repository_configures_is_run(
    look: Look, repository: Repository, environ: dict[str, str], tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    ran.mkdir()
    repository.write("lamp.py", "on")
    repository.commit("One")
    repository.sign_head()
    run = "touch {}/{}; cat"
    settings = {
        "core.fsmonitor": run.format(ran, "fsmonitor"),
        "core.pager": run.format(ran, "pager"),
        "core.hooksPath": str(tmp_path / "hooks"),
        "log.showSignature": "true",
        "gpg.program": str(tmp_path / "hooks" / "gpg"),
        "filter.evil.clean": run.format(ran, "clean"),
        "filter.evil.process": run.format(ran, "process"),
        "filter.evil.required": "true",
        "status.showUntrackedFiles": "no",
        "status.branch": "true",
        "color.status": "always",
        "color.ui": "always",
    }
    for key, value in settings.items():
        repository.git("config", key, value)
    (tmp_path / "hooks").mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "gpg"):
        (tmp_path / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {ran}/{hook}\n", "utf-8")
        (tmp_path / "hooks" / hook).chmod(0o755)
    repository.write(".gitattributes", "* filter=evil")
    os.utime(repository.path / "lamp.py", (1, 1))
    git = state(look(repository.path))
    assert list(ran.iterdir()) == []
    assert git.status == "?? .gitattributes"
    assert git.commits != ()
    subprocess.run(["git", "status"], cwd=repository.path, env=environ, capture_output=True)
    assert list(ran.iterdir()) != [], "this git runs nothing anyway, so the test shows nothing"


def test_a_filter_that_cannot_be_switched_off_leaves_the_status_unknown(
    look: Look, repository: Repository, tmp_path: Path
) -> None:
    repository.git("config", "filter.a=b.clean", f"touch {tmp_path}/ran")
    assert state(look(repository.path)).status == Unknown(
        "the repository configures filters that cannot be switched off"
    )


def assert_gone(pids: Path, n_each: int) -> None:
    """Every process that wrote its id is dead and reaped, or will be by init."""
    told = [int(line) for line in pids.read_text("utf-8").split()]
    assert len(told) >= n_each
    deadline = time.monotonic() + 2
    while alive := [pid for pid in told if _runs(pid)]:
        assert time.monotonic() < deadline, f"still running: {alive}"
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    """Whether the process runs; a zombie that init has yet to reap does not."""
    try:
        os.kill(pid, signal.SIG_DFL)
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
