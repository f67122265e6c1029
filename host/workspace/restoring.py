"""Puts files back: what stands there is kept, the new contents are staged, and only then do files change."""

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import anyio
import anyio.to_thread

from actors.ports import Artifacts
from actors.records import FileRestored, FileState
from actors.tools.checkpoint import MAX_KEPT_BYTES, kept_state
from host.errors import RestoreFailed, RestoreRefused
from host.workspace.looking import look_inside, stamp_at
from host.workspace.plan import Found, PlannedFile, RestorePlan, Stamp
from host.workspace.planning import content_of
from host.workspace.staging import Staging, waiting

# An empty folder goes; one that is in use, is gone or is something else now stays as it is.
_FOLDER_STAYS = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.EBUSY}


async def carry_out(plan: RestorePlan, artifacts: Artifacts, *, overwrite: bool) -> tuple[FileRestored, ...]:
    """Every file of the plan as it was before the changes, and what stood there until now.

    A path that is as wanted already is named too, with the same state twice.
    What stands there now is in the store before the first file changes, and
    every new content is on the disk. Killed or failed in the middle, it can be
    planned and carried out again, and goes on. Cancelling leaves either all or
    none of the files changed.

    Raises:
        RestoreRefused: a path cannot be put back, or somebody else changed it
            and `overwrite` is not set; nothing was touched.
        RestoreFailed: the disk or a right failed; says what is done and what is not.
        StoreError: what stands there could not be kept; nothing was touched.
    """
    plan.check(overwrite)
    jobs = [await _kept(file, artifacts) for file in plan.to_put_back]
    staging = Staging(file.path for file in plan.files)
    try:
        await _stage(jobs, staging, artifacts)
        await anyio.to_thread.run_sync(_put_in_place, jobs, plan.made_folders)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(staging.clear)
    replaced = {job.file.path: job.replaced for job in jobs}
    return tuple(
        FileRestored(file.path, replaced.get(file.path, file.wanted), file.wanted) for file in plan.files
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """A file to put back; `stamp` tells whether what was kept still stands there."""

    file: PlannedFile
    replaced: FileState | None
    stamp: Stamp | None


async def _kept(file: PlannedFile, artifacts: Artifacts) -> _Job:
    look = partial(look_inside, file.path, max_bytes=MAX_KEPT_BYTES)
    sight, content = await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
    if sight is None and file.found is None:
        return _Job(file, None, None)
    if not isinstance(sight, Found) or file.found is None or sight.sha256 != file.found.sha256:
        reason = "changed while putting it back was prepared"
        raise RestoreRefused.of({}, {file.path: reason})
    replaced = await kept_state(sight.sha256, sight.mode, sight.size, content, artifacts)
    return _Job(file, replaced, sight.stamp)


async def _stage(jobs: Sequence[_Job], staging: Staging, artifacts: Artifacts) -> None:
    for job in jobs:
        path, wanted = job.file.path, job.file.wanted
        if wanted is None:
            continue
        content = await content_of(wanted, artifacts)
        if isinstance(content, str):
            raise RestoreRefused.of({}, {path: content})
        try:
            await anyio.to_thread.run_sync(staging.put, path, content, wanted.mode)
        except OSError as exc:
            raise _failed(path, exc, jobs, 0) from exc


def _put_in_place(jobs: Sequence[_Job], made_folders: Sequence[str]) -> None:
    # In one worker thread for all, which a cancellation waits for.
    for n_done, job in enumerate(jobs):
        try:
            _put_one(job)
        except OSError as exc:
            raise _failed(job.file.path, exc, jobs, n_done) from exc
    for folder in made_folders:
        try:
            _remove_if_empty(folder)
        except OSError as exc:
            raise _failed(folder, exc, jobs, len(jobs)) from exc
    for folder in {os.path.dirname(job.file.path) for job in jobs}:
        _make_durable(folder)


def _put_one(job: _Job) -> None:
    path = job.file.path
    if stamp_at(path) != job.stamp:
        raise OSError(errno.EBUSY, "somebody else changed it in this moment")
    if job.file.wanted is None:
        os.unlink(path)
    else:
        os.replace(waiting(path), path)


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError as exc:
        if exc.errno not in _FOLDER_STAYS:
            raise


def _make_durable(folder: str) -> None:
    # Not every file system can, and a folder may be gone; the contents themselves are on the disk.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _failed(path: str, error: OSError, jobs: Sequence[_Job], n_done: int) -> RestoreFailed:
    paths = [job.file.path for job in jobs]
    return RestoreFailed(f"{path}: {error.strerror}", done=paths[:n_done], left=paths[n_done:])
