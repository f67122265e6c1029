"""What putting files back would do to each path, decided from the records and from what was found. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from actors.records import FileChanging, FileState
from host.errors import RestoreRefused


class Standing(StrEnum):
    """What a restore means for one path.

    `as_wanted`: nothing to do. `ready`: what stands there was put or found
    there by the changes. `conflict`: somebody else changed it since, and that
    would be replaced. `impossible`: it cannot be put back, asked or not.
    """

    AS_WANTED = "as_wanted"
    READY = "ready"
    CONFLICT = "conflict"
    IMPOSSIBLE = "impossible"


Stamp: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it stands: the SHA-256 of its bytes, its permission bits, its size in bytes.

    `stamp` is another one after any change, also after one that left the bytes alone.
    """

    sha256: str
    mode: int
    size: int
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something at a path that is no file to be replaced; `reason` goes on from the path: "is a folder"."""

    reason: str


Sight: TypeAlias = Found | Obstacle | None
"""What was seen at a path; None: nothing."""


@dataclass(frozen=True, slots=True)
class PathChanges:
    """All changes of one path. `wanted` stood there before the first; None: there was no file.

    `known` are the SHA-256 of every content that one of the changes found or
    put there, with None if one found no file.
    """

    path: str
    wanted: FileState | None
    known: frozenset[str | None]


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One path of a plan. `reason` says in words what hinders it, and is empty where nothing does."""

    path: str
    wanted: FileState | None
    found: Found | None
    standing: Standing
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What a restore would do, one line for each path, in the order of their first changes.

    `made_folders` were made for new files, innermost first; empty ones go.
    """

    files: tuple[PlannedFile, ...]
    made_folders: tuple[str, ...] = ()

    @property
    def conflicts(self) -> tuple[PlannedFile, ...]:
        return self._of(Standing.CONFLICT)

    @property
    def impossible(self) -> tuple[PlannedFile, ...]:
        return self._of(Standing.IMPOSSIBLE)

    @property
    def to_put_back(self) -> tuple[PlannedFile, ...]:
        """What a restore that is not refused writes or removes."""
        return self._of(Standing.READY, Standing.CONFLICT)

    @property
    def changed_paths(self) -> tuple[str, ...]:
        """The paths that are not as they were before the changes."""
        return tuple(file.path for file in self.files if file.standing is not Standing.AS_WANTED)

    def check(self, overwrite: bool) -> None:
        """Whether the plan can be carried out; `overwrite` takes what others changed as well.

        Raises:
            RestoreRefused: names every path in the way, and why.
        """
        conflicts = () if overwrite else self.conflicts
        if self.impossible or conflicts:
            raise RestoreRefused.of(_reasons(conflicts), _reasons(self.impossible))

    def _of(self, *standings: Standing) -> tuple[PlannedFile, ...]:
        return tuple(file for file in self.files if file.standing in standings)


def by_path(changes: Iterable[FileChanging]) -> tuple[PathChanges, ...]:
    """The changes of each path, in the order in which the paths first came."""
    first: dict[str, FileState | None] = {}
    known: dict[str, set[str | None]] = {}
    for change in changes:
        first.setdefault(change.path, change.before)
        before = None if change.before is None else change.before.sha256
        known.setdefault(change.path, set()).update((before, change.sha256))
    return tuple(PathChanges(path, wanted, frozenset(known[path])) for path, wanted in first.items())


def folders_of(changes: Iterable[FileChanging]) -> tuple[str, ...]:
    """Every folder that the changes made, each behind those inside it."""
    folders = {folder for change in changes for folder in change.made_folders}
    return tuple(sorted(folders, key=lambda folder: (-folder.count("/"), folder)))


def judged(change: PathChanges, sight: Sight, hindrance: str | None, *, max_kept_bytes: int) -> PlannedFile:
    """One line of a plan. `hindrance` is why the path could not be written, if it could not."""
    wanted = change.wanted
    if isinstance(sight, Obstacle):
        return PlannedFile(change.path, wanted, None, Standing.IMPOSSIBLE, sight.reason)
    if is_as_wanted(wanted, sight):
        return PlannedFile(change.path, wanted, sight, Standing.AS_WANTED)
    if hindrance is not None:
        return PlannedFile(change.path, wanted, sight, Standing.IMPOSSIBLE, hindrance)
    if (None if sight is None else sight.sha256) in change.known:
        return PlannedFile(change.path, wanted, sight, Standing.READY)
    if sight is None:
        return PlannedFile(change.path, wanted, sight, Standing.CONFLICT, "was deleted since")
    if sight.size > max_kept_bytes:
        reason = (
            f"was changed since and has {sight.size:,} bytes; up to {max_kept_bytes:,} can be kept,"
            " so move it away first"
        )
        return PlannedFile(change.path, wanted, sight, Standing.IMPOSSIBLE, reason)
    return PlannedFile(change.path, wanted, sight, Standing.CONFLICT, "was changed since by somebody else")


def is_as_wanted(wanted: FileState | None, found: Found | None) -> bool:
    """Whether bytes and permission bits are those wanted; or nothing is there, and nothing is wanted."""
    if wanted is None or found is None:
        return wanted is None and found is None
    return (wanted.sha256, wanted.mode) == (found.sha256, found.mode)


def merged(logs: Sequence[Sequence[FileChanging]]) -> tuple[FileChanging, ...]:
    """The changes of several logs in the order of their times; the order of each log stays.

    A clock that was set back does not reorder a log: a change counts as no
    earlier than the one before it.
    """
    timed: list[tuple[float, FileChanging]] = []
    for log in logs:
        latest = float("-inf")
        for change in log:
            latest = max(latest, change.at)
            timed.append((latest, change))
    return tuple(change for _, change in sorted(timed, key=lambda pair: pair[0]))


def _reasons(files: Sequence[PlannedFile]) -> Mapping[str, str]:
    return {file.path: file.reason for file in files}
