"""Finds out what putting files back would do, without touching any."""

import hashlib
from collections.abc import Sequence
from functools import partial

import anyio.to_thread

from actors.ports import Artifacts
from actors.records import FileChanging, FileState
from actors.tools.checkpoint import MAX_KEPT_BYTES
from host.errors import StoreError
from host.workspace.looking import hindrance, look
from host.workspace.plan import (
    Obstacle,
    PathChanges,
    PlannedFile,
    RestorePlan,
    by_path,
    folders_of,
    is_as_wanted,
    judged,
)


async def plan_restore(changes: Sequence[FileChanging], artifacts: Artifacts) -> RestorePlan:
    """What takes every path back to before the first of these changes.

    The changes stand in the order in which they happened; `merged` makes one
    such order of several logs. Every old content and every file that stands
    there now is read, and nothing is written. Conflicts raise nothing: the
    plan names them.
    """
    files = [await _planned(change, artifacts) for change in by_path(changes)]
    return RestorePlan(tuple(files), folders_of(changes))


async def _planned(change: PathChanges, artifacts: Artifacts) -> PlannedFile:
    sight = await anyio.to_thread.run_sync(look, change.path, abandon_on_cancel=True)
    judge = partial(judged, change, sight, max_kept_bytes=MAX_KEPT_BYTES)
    if isinstance(sight, Obstacle) or is_as_wanted(change.wanted, sight):
        return judge(None)
    if change.wanted is not None:
        content = await content_of(change.wanted, artifacts)
        if isinstance(content, str):
            return judge(content)
    return judge(await anyio.to_thread.run_sync(hindrance, change.path, abandon_on_cancel=True))


async def content_of(wanted: FileState, artifacts: Artifacts) -> bytes | str:
    """The bytes of a file that was kept; a text says why there are none, going on from the path."""
    if wanted.artifact_id is None:
        return f"was not kept: {wanted.why_not_kept or 'no reason is given'}"
    try:
        content = await artifacts.get(wanted.artifact_id)
    except StoreError as exc:
        return f"cannot be put back: what was kept of it cannot be read: {exc}"
    if content is None:
        return f"cannot be put back: the store has no artifact {wanted.artifact_id} any more"
    if await anyio.to_thread.run_sync(sha256_of, content) != wanted.sha256:
        return f"cannot be put back: artifact {wanted.artifact_id} does not hold what was kept"
    return content


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
