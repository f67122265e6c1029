"""Runs a command's work on an event loop, and decides what signals do to it."""

import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio
from anyio.abc import TaskStatus

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Who hears of a signal.

    Without a handler Ctrl-C ends the work by cancelling it, as SIGTERM and a
    lost terminal always do. `on_continue` hears when a stopped process goes on.
    """

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.ended_by: int | None = None
        self.on_continue: Callable[[], None] = lambda: None
        self._on_interrupt: Callable[[], None] | None = None

    @contextmanager
    def interrupts_go_to(self, handler: Callable[[], None]) -> Iterator[None]:
        """Inside the block Ctrl-C calls the handler instead."""
        before, self._on_interrupt = self._on_interrupt, handler
        try:
            yield
        finally:
            self._on_interrupt = before

    def end(self, number: int) -> None:
        """Cancels the work as this signal would."""
        self.ended_by = self.ended_by or number
        self.scope.cancel()

    async def watch(self, *, task_status: TaskStatus[None]) -> None:
        """Hears signals until cancelled."""
        with anyio.open_signal_receiver(*_ENDING, signal.SIGCONT) as received:
            task_status.started()
            async for number in received:
                if number == signal.SIGCONT:
                    self.on_continue()
                elif number == signal.SIGINT and self._on_interrupt is not None:
                    self._on_interrupt()
                else:
                    self.end(number)


def launch(work: Callable[[Signals], Awaitable[int]], backend: str = "asyncio") -> int:
    """Runs the work to its end; gives its exit code, or 128 and the number of the signal that ended it.

    Raises:
        BadInput: the backend is not installed.
    """
    try:
        return anyio.run(_run, work, backend=backend)
    except LookupError as error:  # of the work itself it would come in a group
        from actors.errors import BadInput

        raise BadInput(f"--backend: {error}") from error


async def _run(work: Callable[[Signals], Awaitable[int]]) -> int:
    signals = Signals()
    code = 0
    async with anyio.create_task_group() as tasks:
        await tasks.start(signals.watch)
        try:
            with signals.scope:
                code = await work(signals)
        finally:
            tasks.cancel_scope.cancel()
    return code if signals.ended_by is None else 128 + signals.ended_by
