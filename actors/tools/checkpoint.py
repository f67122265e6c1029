"""The way back, kept before a tool changes a file."""

from actors.ports import Artifacts
from actors.records import FileState

MAX_KEPT_BYTES = 50_000_000


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
