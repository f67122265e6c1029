"""Where an agent finds itself: the context source of a host, and one that never looks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from actors.context import Snapshot
from actors.context.source import refresh_snapshot, take_snapshot
from actors.ports import Clock


class Surroundings(Protocol):
    """Gives an agent's snapshot. Nothing it meets is an error: unknown parts are told as unknown."""

    async def look(self, cwd: Path) -> Snapshot:
        """Everything, for an agent that starts."""
        ...

    async def look_again(self, stored: Snapshot) -> Snapshot:
        """For an agent that is resumed: instruction files and date anew, the rest as stored."""
        ...


class Machine:
    """The machine as it is."""

    def __init__(self, environ: Mapping[str, str], clock: Clock) -> None:
        self._environ = environ
        self._clock = clock

    async def look(self, cwd: Path) -> Snapshot:
        return await take_snapshot(cwd, environ=self._environ, date=self._clock.local_date())

    async def look_again(self, stored: Snapshot) -> Snapshot:
        return await refresh_snapshot(stored, environ=self._environ, date=self._clock.local_date())


class Unseen:
    """A place without git and instruction files; for tests in virtual time."""

    async def look(self, cwd: Path) -> Snapshot:
        return Snapshot(
            cwd=str(cwd),
            is_git_repository=False,
            platform="virtual",
            shell=None,
            os_version="virtual",
            git=None,
            local_date=None,
        )

    async def look_again(self, stored: Snapshot) -> Snapshot:
        return stored
