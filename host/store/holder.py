"""Who holds a session's lease, as data and in words."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from host.errors import SessionBusy


@dataclass(frozen=True, slots=True)
class Holder:
    session: str
    pid: int
    since_s: float


def session_busy(root_id: str, holder: Holder | None) -> SessionBusy:
    """The refusal of a second writer; None where the holder could not be read."""
    if holder is None:
        return SessionBusy(f"session {root_id} is being written by another process", root_id=root_id)
    who = f"this process ({holder.pid})" if holder.pid == os.getpid() else f"process {holder.pid}"
    return SessionBusy(
        f"session {root_id} is being written by {who} since {_utc(holder.since_s)}; end it there first",
        root_id=root_id,
        pid=holder.pid,
        since_s=holder.since_s,
    )


def _utc(at_s: float) -> str:
    try:
        return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):  # no date that a calendar has
        return f"{at_s} s"
