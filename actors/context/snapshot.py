"""What a runtime saw of the machine when it started: plain values with a JSON form."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from pydantic import JsonValue, TypeAdapter, ValidationError

from actors.errors import BadInput


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that could not be had, and why; never to be read as "there is none"."""

    reason: str


@dataclass(frozen=True, slots=True)
class GitState:
    """A repository as git told it, each part by itself.

    `branch` None is a detached head, `main_branch` and `user` None mean that
    there is none. `status` is the output of `git status --short`, empty when
    nothing changed; `is_status_cut` says that it goes on. `commits` are the
    newest first, each with its short id, and empty before the first commit.
    """

    branch: str | Unknown | None
    main_branch: str | Unknown | None
    user: str | Unknown | None
    status: str | Unknown
    commits: tuple[str, ...] | Unknown
    is_status_cut: bool = False


class Scope(StrEnum):
    """For what an instruction file holds."""

    USER = "user"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """An AGENTS.md; `is_cut` says that the file goes on behind `text`."""

    path: str
    scope: Scope
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An instruction file that is there and could not be read."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Working directory, machine, git, date and instruction files at one moment.

    `git` is None outside a repository. `local_date` is `YYYY-MM-DD`, None
    where no date is known. All texts are valid Unicode.
    """

    cwd: str
    is_git_repository: bool
    platform: str
    shell: str | None
    os_version: str
    git: GitState | None
    local_date: str | None
    instructions: tuple[InstructionFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def refreshed(stored: Snapshot, fresh: Snapshot) -> Snapshot:
    """The stored environment and git with the instructions and date of `fresh`: a cold resume."""
    return replace(
        stored,
        local_date=fresh.local_date,
        instructions=fresh.instructions,
        diagnostics=fresh.diagnostics,
    )


def snapshot_to_json(snapshot: Snapshot) -> dict[str, JsonValue]:
    """The snapshot as plain data."""
    data: dict[str, JsonValue] = _adapter().dump_python(snapshot, mode="json")
    return data


def snapshot_from_json(data: JsonValue) -> Snapshot:
    """The snapshot that `snapshot_to_json` wrote.

    Raises:
        BadInput: the data is no snapshot; the text names each wrong place.
    """
    try:
        return _adapter().validate_python(data)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'the whole'}: {e['msg']}, got {e['input']!r:.80}"
            for e in error.errors(include_url=False)
        )
        raise BadInput(f"a stored context snapshot cannot be read: {wrong}") from error


@cache
def _adapter() -> TypeAdapter[Snapshot]:
    return TypeAdapter(Snapshot)
