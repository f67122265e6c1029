"""How a tool puts bytes in place: the old ones into the store, the change into the log, then the file."""

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio.to_thread

from actors.errors import ActorError, BadInput
from actors.ports import Artifacts
from actors.records import FileChanging, FileState
from actors.tools.files import Stamp, refuse, replace_file, require_seen, require_writable, stamp_of
from actors.tools.model import ToolContext
from providers.errors import CallboardError

MAX_KEPT_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class OldFile:
    """A file as it stood when its bytes were read; `content` is None where it is too large to be kept."""

    status: os.stat_result
    sha256: str
    content: bytes | None

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.status.st_mode)


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes on their way into a file that was looked at; `old` None: there was none.

    `name` and `verb` are how the model is told of it, `missing_folders` are
    made for it, outermost first.
    """

    real: Path
    name: str
    verb: str
    data: bytes
    old: OldFile | None
    missing_folders: tuple[Path, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether the file would hold other bytes."""
        return self.old is None or self.old.content != self.data


def seen_file(context: ToolContext, real: Path, name: str, verb: str) -> OldFile:
    """A file that may be changed, and its bytes as the agent has seen them. Blocks.

    Raises:
        BadInput: not read yet, or changed since.
        OSError: it cannot be read or written.
    """
    require_seen(context.files_read, real, name, verb)
    require_writable(real)
    old = _read(real)
    # Once more: or what somebody else was just writing would be kept, in part.
    require_seen(context.files_read, real, name, verb)
    return old


async def put_in_place(context: ToolContext, change: Change) -> Stamp:
    """Changes the file and gives its new stamp; the way back is stored before.

    A call without a log keeps no way back. Cancelled or killed before the
    end, the file is untouched, or whole and with its way back.

    Raises:
        BadInput: somebody else changed the file meanwhile, or the system refused.
        ActorError: the old content could not be kept; the file was not touched.
        LogFailed: the log did not take the change; the file was not touched.
    """
    if change.old is not None and not change.is_change:
        return stamp_of(change.old.status)
    if context.services is not None and context.record_change is not None:
        record = FileChanging(
            call_id=context.call_id,
            path=str(change.real),
            before=await _before(change, context.services.artifacts),
            sha256=await anyio.to_thread.run_sync(_sha256, change.data),
            at=context.services.clock.now_s(),
            made_folders=tuple(str(folder) for folder in change.missing_folders),
        )
        await context.record_change(record)
    return await anyio.to_thread.run_sync(_replace, change)


async def kept_state(
    sha256: str, mode: int, size: int, content: bytes | None, artifacts: Artifacts
) -> FileState:
    """The state of a file, its bytes in the store; without them where the file is too large (None).

    Raises what the store raises if it does not take them.
    """
    if content is None:
        why = f"it has {size:,} bytes; up to {MAX_KEPT_BYTES:,} are kept"
        return FileState(sha256, mode, why_not_kept=why)
    return FileState(sha256, mode, await artifacts.put(content))


async def _before(change: Change, artifacts: Artifacts) -> FileState | None:
    old = change.old
    if old is None:
        return None
    try:
        return await kept_state(old.sha256, old.mode, old.status.st_size, old.content, artifacts)
    except CallboardError as exc:
        raise ActorError(
            f"{change.name} was not changed, because what it holds could not be kept for a way back: {exc}"
        ) from exc


def _read(real: Path) -> OldFile:
    with real.open("rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size > MAX_KEPT_BYTES:
            return OldFile(status, hashlib.file_digest(file, "sha256").hexdigest(), None)
        content = file.read(status.st_size)
    return OldFile(status, hashlib.sha256(content).hexdigest(), content)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replace(change: Change) -> Stamp:
    try:
        # By somebody else meanwhile, for one: then they are not ours to remove.
        made = [folder for folder in change.missing_folders if _make(folder)]
        try:
            return replace_file(change.real, change.data, partial(_require_untouched, change))
        except BaseException:
            for folder in reversed(made):
                with suppress(OSError):
                    folder.rmdir()
            raise
    except OSError as exc:
        refuse(f"cannot write {change.name}", exc)


def _make(folder: Path) -> bool:
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


def _require_untouched(change: Change) -> None:
    """Raises if the file is not any more what was looked at."""
    try:
        now: os.stat_result | None = os.lstat(change.real)
    except FileNotFoundError:
        now = None
    old = None if change.old is None else change.old.status
    if now is None or old is None:
        is_untouched = now is old
    else:
        is_untouched = os.path.samestat(now, old) and stamp_of(now) == stamp_of(old)
    if not is_untouched:
        raise BadInput(
            f"{change.name} was changed by somebody else in this moment; Read it before you {change.verb} it"
        )
