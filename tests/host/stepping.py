"""Cancels something at a chosen step, so that a test can do it at every one."""

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel


async def cancelled_after(n_steps: int, work: Callable[[], Awaitable[object]]) -> bool:
    """Lets the loop go round `n_steps` times, then cancels; says whether the work was not done by then."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:

            async def cancel() -> None:
                for _ in range(n_steps):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()

            tasks.start_soon(cancel)
            await work()
            tasks.cancel_scope.cancel()
    return scope.cancelled_caught
