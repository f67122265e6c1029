"""The git commands of a snapshot as data, and what their output means."""

from dataclasses import dataclass
from typing import TypeAlias

from actors.context.snapshot import GitState, Unknown

N_COMMITS = 5
STATUS_CHARACTERS = 2_000
OUTPUT_BYTES = 4 * (STATUS_CHARACTERS + 1)
_REASON_CHARACTERS = 200

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
    told = _output(run)
    return told if isinstance(told, Unknown) else None


def branch(run: Outcome) -> str | Unknown | None:
    """The branch, born or not; None for a detached head."""
    return None if _is_silent_no(run) else _line(run)


def user(run: Outcome) -> str | Unknown | None:
    """The name that commits get; None where it is not set."""
    return None if _is_silent_no(run) else _line(run)


def main_branch(run: Outcome) -> str | Unknown | None:
    """The remote's head, else a local `main`, else a local `master`."""
    told = _output(run)
    if isinstance(told, Unknown):
        return told
    refs = dict(line.split("\0", 1) for line in told.split("\n") if "\0" in line)
    remote = refs.get("refs/remotes/origin/HEAD", "").removeprefix("refs/remotes/origin/")
    local = (name for name in ("main", "master") if f"refs/heads/{name}" in refs)
    return remote or next(local, None)


def status(run: Outcome) -> tuple[str | Unknown, bool]:
    """The status, and whether it was cut at its limit of characters."""
    told = _output(run, may_be_cut=True)
    if isinstance(told, Unknown):
        return told, False
    text = told.rstrip("\n")
    return text[:STATUS_CHARACTERS], len(text) > STATUS_CHARACTERS


def commits(run: Outcome) -> tuple[str, ...] | Unknown:
    """The last commits; none in a repository that has none yet."""
    if isinstance(run, GitRun) and "does not have any commits yet" in run.error:
        return ()
    told = _output(run, may_be_cut=True)
    return told if isinstance(told, Unknown) else tuple(told.rstrip("\n").split("\n")[:N_COMMITS])


def options_without_filters(run: Outcome) -> tuple[str, ...] | Unknown:
    """Options that switch off the content filters which the repository itself brings.

    `git status` runs such filters as commands. The user's own (`git lfs`, say)
    stay, since without them unchanged files would look changed.
    """
    if _is_silent_no(run):
        return ()
    told = _output(run)
    if isinstance(told, Unknown):
        return told
    fields = told.split("\0")
    scoped = zip(fields[::2], fields[1::2], strict=False)
    names = sorted({key.rpartition(".")[0] for scope, key in scoped if scope in ("local", "worktree")})
    if any("=" in name for name in names):  # `-c` ends the key at the first one
        return Unknown("the repository configures filters that cannot be switched off")
    return tuple(
        option
        for name in names
        for key in ("clean=", "smudge=", "process=", "required=false")
        for option in ("-c", f"{name}.{key}")
    )


def _output(run: Outcome, *, may_be_cut: bool = False) -> str | Unknown:
    if isinstance(run, Unknown):
        return run
    if run.is_cut:
        return run.output if may_be_cut else Unknown("git wrote more than is read")
    if run.exit_code == 0:
        return run.output
    told = run.error.strip().split("\n")[0][:_REASON_CHARACTERS]
    return Unknown(f"git failed: {told}" if told else f"git failed with exit code {run.exit_code}")


def _line(run: Outcome) -> str | Unknown | None:
    told = _output(run)
    return told if isinstance(told, Unknown) else told.rstrip("\n") or None


def _is_silent_no(run: Outcome) -> bool:
    """Exit code 1 without a word is git's way to say that there is none."""
    return isinstance(run, GitRun) and run.exit_code == 1 and not run.error.strip()
