"""Virtual time: whole runs of agents in milliseconds, on asyncio and on trio.

Time stands still while anything can run and jumps to the next deadline when
nothing can. Threads, sockets and processes know nothing of it: keep them out
of such tests.
"""

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any

import anyio

_DEADLOCK_AFTER_S = 10.0


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of sleeping for a timeout, moves the clock by it."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            ready = super().select(_DEADLOCK_AFTER_S)
            if not ready:
                raise RuntimeError("deadlock: every task waits and no timer is set")
            return ready
        if timeout > 0:
            ready = super().select(0)
            if ready:
                return ready
            self.now_s += timeout
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An asyncio loop whose clock jumps; pass it as `loop_factory`.

    Raises:
        RuntimeError: from the running loop, when every task waits for ever.
    """

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now_s


def virtual_asyncio() -> tuple[str, dict[str, Any]]:
    """Backend name and options for anyio: asyncio with a clock that jumps."""
    return "asyncio", {"loop_factory": JumpingLoop}


def virtual_trio() -> tuple[str, dict[str, Any]]:
    """Backend name and options for anyio: trio with a clock that jumps (needs trio)."""
    from trio.testing import MockClock

    return "trio", {"clock": MockClock(autojump_threshold=0)}


class VirtualClock:
    """A host's clock on the loop's time, from a fixed day on."""

    def __init__(self, start_s: float = 1_800_000_000.0, dates: Mapping[int, str] | None = None) -> None:
        self._start_s = start_s
        self._dates = dates or {0: "2027-01-15"}

    def now_s(self) -> float:
        return self._start_s + anyio.current_time()

    def local_date(self) -> str:
        day = int(anyio.current_time() // 86_400)
        known = max((k for k in self._dates if k <= day), default=min(self._dates))
        return self._dates[known]
