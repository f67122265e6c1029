"""Takes away what nothing refers to, and gives the room in a store's file back."""

from pathlib import Path

import anyio.to_thread

from host.cli.amounts import bytes_text, count_text
from host.cli.output import put
from host.errors import StoreBusy, StoreUnavailable
from host.store.compacting import compact
from host.store.ports import Keeping
from host.store.sizes import FileSize

UNASKED_BYTES = 256 * 2**20


async def collect_and_tell(store: Keeping, *, is_all: bool = False) -> FileSize:
    """Collects, and says what went and what is still there; gives what the file takes then.

    Without `is_all`, what was left as it is goes without saying.
    """
    removed = await store.collect()
    if removed.n_artifacts:
        put(
            f"removed {count_text(removed.n_artifacts, 'large text')} that nothing referred to"
            f" ({bytes_text(removed.artifact_bytes)})\n"
        )
    elif is_all:
        put("there was nothing to remove\n")
    if removed.n_spared and is_all:
        verb = "is" if removed.n_spared == 1 else "are"
        put(
            f"{count_text(removed.n_spared, 'large text')} ({bytes_text(removed.spared_bytes)}) that nothing"
            f" refers to {verb} not yet a day old\n"
        )
    if not removed.is_wal_empty:
        put(
            "somebody reads the store, so the write-ahead log beside it may still hold what was deleted;"
            " `callboard collect` empties it later\n"
        )
    return removed.after


async def write_anew(path: Path, size: FileSize, *, at_most_bytes: float = UNASKED_BYTES) -> None:
    """Leaves nothing in the file but what is stored, where nobody has it open and it does not take long.

    Says what came of it.

    Raises:
        StoreDamaged: it cannot be read whole.
    """
    used_bytes = size.file_bytes - size.free_bytes
    reason = f"it is larger than {bytes_text(UNASKED_BYTES)}"
    if used_bytes <= at_most_bytes:
        try:
            n_bytes = await anyio.to_thread.run_sync(compact, path)
        except (StoreBusy, StoreUnavailable) as error:
            reason = str(error)
        else:
            put(f"the store takes {bytes_text(n_bytes)} now, {bytes_text(size.file_bytes)} before\n")
            return
    put(
        f"the store's file was not written anew: {reason}. Until `callboard collect` does that,"
        f" {bytes_text(size.free_bytes)} in it are only free for what comes, and snippets of deleted text"
        " may be left in it\n"
    )
