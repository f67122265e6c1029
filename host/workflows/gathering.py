"""Several calls at once: their results in the order in which they were given."""

import inspect
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import anyio

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The call came to its end with a value."""

    value: T


@dataclass(frozen=True, slots=True)
class Failed:
    """The call raised."""

    error: Exception


Outcome: TypeAlias = Done[T] | Failed


async def all_done(awaitables: Iterable[Awaitable[T]]) -> list[T]:
    """Every value; the first failure cancels what still runs.

    Raises:
        ExceptionGroup: of what failed; what was cancelled for it is not in there.
    """
    outcomes = await _gather(awaitables, stops_at_failure=True)
    errors = [outcome.error for outcome in outcomes if isinstance(outcome, Failed)]
    if errors:
        raise ExceptionGroup(f"{len(errors)} of {len(outcomes)} parallel calls failed", errors)
    return [outcome.value for outcome in outcomes if isinstance(outcome, Done)]


async def all_ended(awaitables: Iterable[Awaitable[T]]) -> list[Outcome[T]]:
    """An outcome for every call; a failure stops nothing else."""
    outcomes = await _gather(awaitables, stops_at_failure=False)
    return [outcome for outcome in outcomes if outcome is not None]


async def _gather(awaitables: Iterable[Awaitable[T]], *, stops_at_failure: bool) -> list[Outcome[T] | None]:
    """Begins the calls in their order. None stands for what was cancelled because another call failed."""
    calls: list[Awaitable[T]] = []
    try:
        calls.extend(awaitables)
        outcomes: list[Outcome[T] | None] = [None] * len(calls)
        async with anyio.create_task_group() as tasks:

            async def run(index: int) -> None:
                # One begins behind the other, as far as its first wait: trio starts tasks in any order.
                await turn[index].wait()
                turn[index + 1].set()
                try:
                    outcomes[index] = Done(await calls[index])
                except Exception as error:  # noqa: BLE001 - it becomes an outcome, or a member of the group
                    outcomes[index] = Failed(error)
                    if stops_at_failure:
                        tasks.cancel_scope.cancel()

            turn = [anyio.Event() for _ in range(len(calls) + 1)]
            turn[0].set()
            for index in range(len(calls)):
                tasks.start_soon(run, index)
        return outcomes
    finally:
        for call in calls:
            _close_unstarted(call)


def _close_unstarted(call: object) -> None:
    """A coroutine that was cancelled before its first step would be reported as forgotten."""
    if inspect.iscoroutine(call) and inspect.getcoroutinestate(call) == inspect.CORO_CREATED:
        call.close()
