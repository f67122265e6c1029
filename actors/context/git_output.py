"""The git commands of a snapshot as data, and what their output means."""

from dataclasses import dataclass
from typing import TypeAlias

from actors.context.snapshot import GitState, Unknown

N_COMMITS = 5
STATUS_CHARACTERS = 2_000
OUTPUT_BYTES = 4 * (STATUS_CHARACTERS + 1)

# Nothing that a repository configures may run, page, ask or reach out: it may be anybody's.
SAFE_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
SAFE_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "log.showSignature=false",
    "-c",
    "core.quotePath=false",
    "-c",
    "color.status=false",
)

PROBE = ("rev-parse", "--is-inside-work-tree")
BRANCH = ("symbolic-ref", "--quiet", "--short", "HEAD")
MAIN_BRANCH = (
    "for-each-ref",
    "--format=%(refname)%00%(symref)",
    "refs/remotes/origin/HEAD",
    "refs/heads/main",
    "refs/heads/master",
)
USER = ("config", "--get", "user.name")
FILTERS = ("config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^filter\.")
STATUS = (
    "status",
    "--short",
    "--no-branch",
    "--untracked-files=normal",
    "--ignore-submodules=dirty",
)
LOG = ("log", f"-n{N_COMMITS}", "--no-color", "--no-decorate", "--encoding=UTF-8", "--format=%h %s")


@dataclass(frozen=True, slots=True)
class GitRun:
    """A git command that ended, or was ended because it wrote more than is read (`is_cut`)."""

    exit_code: int
    output: str
    error: str
    is_cut: bool = False


Outcome: TypeAlias = GitRun | Unknown


def is_no_repository(probe: Outcome) -> bool:
    return isinstance(probe, GitRun) and probe.exit_code != 0 and "not a git repository" in probe.error


def all_unknown(reason: Unknown) -> GitState:
    return GitState(reason, reason, reason, reason, reason)


def failure(run: Outcome) -> Unknown | None:
    """Why a run says nothing; None where it succeeded."""
    if isinstance(run, Unknown):
        return run
    if run.exit_code == 0 or run.is_cut:
        return None
    told = run.error.strip().splitlines()
    return Unknown(f"git failed: {told[0][:200]}" if told else f"git failed with exit code {run.exit_code}")


def branch(run: Outcome) -> str | Unknown | None:
    """The branch, born or not; None for a detached head (exit code 1, without a word)."""
    return _line(run)


def user(run: Outcome) -> str | Unknown | None:
    """The name that commits get; None where it is not set (exit code 1, without a word)."""
    return _line(run)


def main_branch(run: Outcome) -> str | Unknown | None:
    """The remote's head, else a local `main`, else a local `master`."""
    if why := failure(run):
        return why
    assert isinstance(run, GitRun)
    refs = dict(line.split("\0", 1) for line in run.output.splitlines() if "\0" in line)
    remote = refs.get("refs/remotes/origin/HEAD", "").removeprefix("refs/remotes/origin/")
    local = (name for name in ("main", "master") if f"refs/heads/{name}" in refs)
    return remote or next(local, None)


def status(run: Outcome) -> tuple[str | Unknown, bool]:
    """The status, and whether it was cut at its limit of characters."""
    if why := failure(run):
        return why, False
    assert isinstance(run, GitRun)
    text = run.output.rstrip("\n")
    return text[:STATUS_CHARACTERS], run.is_cut or len(text) > STATUS_CHARACTERS


def commits(run: Outcome) -> tuple[str, ...] | Unknown:
    if isinstance(run, GitRun) and "does not have any commits yet" in run.error:
        return ()
    if why := failure(run):
        return why
    assert isinstance(run, GitRun)
    return tuple(run.output.splitlines())[:N_COMMITS]


def options_without_filters(run: Outcome) -> tuple[str, ...] | Unknown:
    """Options that switch off the content filters which the repository itself brings.

    `git status` runs such filters as commands. The user's own (`git lfs`, say)
    stay, since without them unchanged files would look changed.
    """
    if isinstance(run, GitRun) and run.exit_code == 1 and not run.error.strip():
        return ()
    if why := failure(run):
        return why
    assert isinstance(run, GitRun)
    fields = run.output.split("\0")
    scoped = zip(fields[::2], fields[1::2], strict=False)
    names = sorted({key.rpartition(".")[0] for scope, key in scoped if scope in ("local", "worktree")})
    if run.is_cut or any("=" in name for name in names):
        return Unknown("the repository configures filters that cannot be switched off")
    return tuple(
        option
        for name in names
        for key in ("clean=", "smudge=", "process=", "required=false")
        for option in ("-c", f"{name}.{key}")
    )


def _line(run: Outcome) -> str | Unknown | None:
    if isinstance(run, GitRun) and run.exit_code == 1 and not run.error.strip():
        return None
    if why := failure(run):
        return why
    assert isinstance(run, GitRun)
    return run.output.rstrip("\n") or None
