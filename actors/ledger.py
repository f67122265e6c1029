"""The one door to an agent's log: submit in order, fold on completion."""

from collections.abc import Callable
from functools import partial

import anyio

from actors.errors import LogFailed
from actors.ports import Log
from actors.records import Record
from actors.state import AgentFold

Completed = Callable[[Exception | None], None]


class Ledger:
    """Writes records and folds each into the state once the store has it.

    After a failed write nothing is written any more: a log with a hole in it
    would fold into something that never was. `on_failure` hears of it once.
    """

    def __init__(self, log: Log, fold: AgentFold, on_failure: Callable[[Exception], None]) -> None:
        self._log = log
        self._on_failure = on_failure
        self.fold = fold
        self.failure: Exception | None = None
        self._n_pending = 0
        self._settled: anyio.Event | None = None

    def submit(self, *records: Record, then: Completed | None = None) -> None:
        """Submits records as one unit, without waiting. `then` runs when they are stored or lost."""
        if self.failure is not None:
            if then is not None:
                then(self.failure)
            return
        self._n_pending += 1
        self._log.submit(records, partial(self._completed, records, then))

    async def commit(self, *records: Record) -> None:
        """Submits records and waits until the store has them.

        Cancelling stops the waiting, not the writing.

        Raises:
            LogFailed: the store did not take them.
        """
        waiter = _Waiter()
        self.submit(*records, then=waiter.completed)
        await waiter.wait()

    async def settled(self) -> None:
        """Waits until everything submitted so far is stored and folded.

        Raises:
            LogFailed: the store lost a record.
        """
        while self._n_pending and self.failure is None:
            if self._settled is None:
                self._settled = anyio.Event()
            await self._settled.wait()
        if self.failure is not None:
            raise _as_log_failure(self.failure)

    def _completed(
        self, records: tuple[Record, ...], then: Completed | None, error: Exception | None
    ) -> None:
        self._n_pending -= 1
        if error is None:
            for record in records:
                self.fold.apply(record)
        elif self.failure is None:
            self.failure = error
            self._on_failure(error)
        if self._settled is not None and (self._n_pending == 0 or self.failure is not None):
            self._settled.set()
            self._settled = None
        if then is not None:
            then(error)


def _as_log_failure(error: Exception) -> LogFailed:
    if isinstance(error, LogFailed):
        return error
    failure = LogFailed(f"the store did not take a record: {error}")
    failure.__cause__ = error
    return failure


class _Waiter:
    """Waits for one completion; costs no event where the store completes at once."""

    def __init__(self) -> None:
        self._is_done = False
        self._error: Exception | None = None
        self._event: anyio.Event | None = None

    def completed(self, error: Exception | None) -> None:
        self._is_done = True
        self._error = error
        if self._event is not None:
            self._event.set()

    async def wait(self) -> None:
        if not self._is_done:
            self._event = anyio.Event()
            await self._event.wait()
        if self._error is not None:
            raise _as_log_failure(self._error)
