"""The only part of the context that looks at the machine; it answers with values."""

import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import ByteReceiveStream, Process

from actors.context import git_output
from actors.context.git_output import GitRun, Outcome
from actors.context.instruction_text import LIMIT_BYTES, read_text
from actors.context.snapshot import Diagnostic, GitState, InstructionFile, Scope, Snapshot, Unknown, refreshed

FILE_NAME = "AGENTS.md"
USER_FOLDER = ".callboard"
GIT_LIMIT_S = 3.0

_ERROR_BYTES = 4_096


async def take_snapshot(
    cwd: Path, *, environ: Mapping[str, str], date: str | None, git_limit_s: float = GIT_LIMIT_S
) -> Snapshot:
    """What an agent that starts in `cwd` should know of the machine.

    `environ` decides home directory, shell and which git is found; the
    process's own environment is not read. Nothing here is an error: what
    cannot be had is a diagnostic or `Unknown`. Each git command has
    `git_limit_s` seconds. On cancellation git is killed and reaped.
    """
    seen = await to_thread.run_sync(_look, cwd, environ, date, abandon_on_cancel=True)
    if not seen.is_git_repository:
        return seen
    git = await _git_state(_Git.found(cwd, environ, git_limit_s))
    return replace(seen, is_git_repository=git is not None, git=git)


async def refresh_snapshot(stored: Snapshot, *, environ: Mapping[str, str], date: str | None) -> Snapshot:
    """A stored snapshot for a cold resume: instruction files and date anew, all else as it was."""
    fresh = await to_thread.run_sync(_look, Path(stored.cwd), environ, date, abandon_on_cancel=True)
    return refreshed(stored, fresh)


def home_directory(environ: Mapping[str, str]) -> Path | None:
    """`HOME`, else `USERPROFILE`, else what the operating system says of this user."""
    told = environ.get("HOME") or environ.get("USERPROFILE")
    if told:
        return Path(told)
    if sys.platform == "win32":
        return None
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None


def _look(cwd: Path, environ: Mapping[str, str], date: str | None) -> Snapshot:
    """Everything but git; blocks on the disk."""
    read = [_read(path, scope) for path, scope in _candidates(cwd, environ)]
    shell = environ.get("SHELL") or environ.get("COMSPEC")
    return Snapshot(
        cwd=_text(os.path.abspath(cwd)),
        is_git_repository=_git_root(cwd) is not None,
        platform=sys.platform,
        shell=_text(shell) if shell else None,
        os_version=f"{platform.system()} {platform.release()}".strip(),
        git=None,
        local_date=date,
        instructions=tuple(file for file in read if isinstance(file, InstructionFile)),
        diagnostics=tuple(file for file in read if isinstance(file, Diagnostic)),
    )


def _candidates(cwd: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Scope]]:
    """The user's file and the nearest of the workspace, those that exist; equal paths once."""
    home = home_directory(environ)
    user = os.path.abspath(home / USER_FOLDER / FILE_NAME) if home else None
    if user and _exists(user):
        yield user, Scope.USER
    root = _git_root(cwd)
    for folder in _upwards(cwd):
        path = os.path.join(folder, FILE_NAME)
        if _exists(path):
            if path != user:
                yield path, Scope.WORKSPACE
            return
        if folder == root:
            return


def _upwards(cwd: Path) -> Iterator[str]:
    here = Path(os.path.abspath(cwd))
    yield from map(str, (here, *here.parents))


def _git_root(cwd: Path) -> str | None:
    return next((folder for folder in _upwards(cwd) if _exists(os.path.join(folder, ".git"))), None)


def _exists(path: str) -> bool:
    """Whether there is anything of this name, a broken link too; it is read, or told of, later."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def _read(path: str, scope: Scope) -> InstructionFile | Diagnostic:
    try:
        text, is_cut = read_text(_first_bytes(path))
    except UnicodeDecodeError as error:
        return Diagnostic(
            _text(path), f"not UTF-8: byte {error.start:,} is 0x{error.object[error.start]:02x}"
        )
    except OSError as error:
        return Diagnostic(_text(path), error.strerror or str(error))
    if not text.strip():
        return Diagnostic(_text(path), "it is empty")
    return InstructionFile(_text(path), scope, text, is_cut)


def _first_bytes(path: str) -> bytes:
    """One byte more than the limit, to tell a cut.

    O_NONBLOCK, since opening a named pipe would wait for a writer.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError("it is a directory" if stat.S_ISDIR(mode) else "it is no regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(LIMIT_BYTES + 1)
    finally:
        os.close(descriptor)


def _text(native: str) -> str:
    """Valid Unicode of a native string, whose undecodable bytes are surrogates."""
    return native.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class _Git:
    """A git to be run in one directory; `program` None when there is none on the path."""

    program: str | None
    cwd: Path
    environment: dict[str, str]
    limit_s: float

    @classmethod
    def found(cls, cwd: Path, environ: Mapping[str, str], limit_s: float) -> "_Git":
        """Drops every GIT_ variable: they would make git tell of another repository than the one at `cwd`.

        Relative entries of the path are left out too, or a repository could bring its own git.
        """
        entries = environ.get("PATH", os.defpath).split(os.pathsep)
        path = os.pathsep.join(entry for entry in entries if os.path.isabs(entry))
        kept = {key: value for key, value in environ.items() if not key.startswith("GIT_")}
        environment = {**kept, **git_output.SAFE_ENVIRONMENT, "PATH": path}
        return cls(shutil.which("git", path=path), cwd, environment, limit_s)

    async def run(self, *arguments: str) -> Outcome:
        if self.program is None:
            return Unknown("git is not installed")
        with anyio.move_on_after(self.limit_s):
            try:
                process = await anyio.open_process(
                    [self.program, *git_output.SAFE_OPTIONS, *arguments],
                    stdin=subprocess.DEVNULL,
                    cwd=self.cwd,
                    env=self.environment,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                return Unknown(f"git cannot be started: {_text(str(error))}")
            return await _finish(process)
        return Unknown(f"git gave no answer within {self.limit_s * 1000:,.0f} ms")


async def _git_state(git: _Git) -> GitState | None:
    """Each part by itself, side by side; None when git says that this is no repository."""
    probe = await git.run(*git_output.PROBE)
    if git_output.is_no_repository(probe):
        return None
    if why := git_output.failure(probe):
        return git_output.all_unknown(why)
    outcomes: dict[str, Outcome] = {}

    async def ask(name: str, arguments: tuple[str, ...]) -> None:
        outcomes[name] = await git.run(*arguments)

    async def ask_status() -> None:
        options = git_output.options_without_filters(await git.run(*git_output.FILTERS))
        outcomes["status"] = (
            options if isinstance(options, Unknown) else await git.run(*options, *git_output.STATUS)
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask_status)
        tasks.start_soon(ask, "branch", git_output.BRANCH)
        tasks.start_soon(ask, "main_branch", git_output.MAIN_BRANCH)
        tasks.start_soon(ask, "user", git_output.USER)
        tasks.start_soon(ask, "log", git_output.LOG)
    status, is_status_cut = git_output.status(outcomes["status"])
    return GitState(
        branch=git_output.branch(outcomes["branch"]),
        main_branch=git_output.main_branch(outcomes["main_branch"]),
        user=git_output.user(outcomes["user"]),
        status=status,
        commits=git_output.commits(outcomes["log"]),
        is_status_cut=is_status_cut,
    )


async def _finish(process: Process) -> GitRun:
    """What the process wrote, up to a limit, and how it ended; it never outlives this call."""
    output, error = bytearray(), bytearray()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_drain, process.stderr, error)
            is_cut = await _fill(process.stdout, output)
            if is_cut:
                _kill(process)
        exit_code = await process.wait()
    finally:
        _kill(process)
        with anyio.CancelScope(shield=True):  # reaped even while we are cancelled
            await process.aclose()
    return GitRun(exit_code, output.decode("utf-8", "replace"), error.decode("utf-8", "replace"), is_cut)


async def _fill(stream: ByteReceiveStream | None, into: bytearray) -> bool:
    """Reads to the end or past the limit; says whether it was the latter."""
    assert stream is not None
    async for chunk in stream:
        into += chunk
        if len(into) > git_output.OUTPUT_BYTES:
            return True
    return False


async def _drain(stream: ByteReceiveStream | None, into: bytearray) -> None:
    """Reads to the end, so that the process never waits for us; keeps the beginning."""
    assert stream is not None
    async for chunk in stream:
        into += chunk[: _ERROR_BYTES - len(into)]


def _kill(process: Process) -> None:
    """The whole process group, for git starts helpers; nothing if it has ended."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
