"""Takes away what nothing refers to, and gives the room in a store's file back."""

from pathlib import Path

import anyio.to_thread

from host.cli.amounts import bytes_text, count_text
from host.cli.output import put
from host.errors import StoreBusy, StoreUnavailable
from host.store.compacting import compact
from host.store.ports import Keeping
from host.store.sizes import FileSize

COMPACTED_UNASKED_BYTES = 256 * 2**20


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
    if not removed.is_wiped:
        put(
            "somebody reads the store, so the write-ahead log beside it may still hold what was deleted;"
            " `callboard collect` empties it later\n"
        )
    return removed.after


async def give_back(path: Path, size: FileSize, *, at_most_bytes: float = COMPACTED_UNASKED_BYTES) -> None:
    """Shortens the file where nobody has it open and copying it does not take long; says what came of it.

    Raises:
        StoreDamaged: it cannot be read whole.
    """
    free_bytes = size.free_bytes
    used_bytes = size.file_bytes - free_bytes
    if not free_bytes:
        return
    reason = f"it is larger than {bytes_text(COMPACTED_UNASKED_BYTES)}"
    if used_bytes <= at_most_bytes:
        try:
            await anyio.to_thread.run_sync(compact, path)
        except (StoreBusy, StoreUnavailable) as error:
            reason = str(error)
        else:
            put(f"the store takes {bytes_text(used_bytes)} now; {bytes_text(free_bytes)} were given back\n")
            return
    put(
        f"{bytes_text(free_bytes)} of the store's file are free for what comes; `callboard collect` gives"
        f" them back to the disk, which was not done: {reason}\n"
    )
