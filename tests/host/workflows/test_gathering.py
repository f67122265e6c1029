"""Several awaitables at once."""

from collections.abc import Iterator

import anyio
import pytest

from host.workflows.gathering import Done, Failed, all_done, all_ended


async def after(seconds: float, value: str) -> str:
    await anyio.sleep(seconds)
    return value


async def fails(seconds: float) -> str:
    await anyio.sleep(seconds)
    raise ValueError(f"after {seconds:g}")


async def test_results_come_in_the_order_given_whatever_the_order_of_completion() -> None:
    assert await all_done([after(3, "a"), after(1, "b"), after(2, "c")]) == ["a", "b", "c"]
    assert anyio.current_time() > 0
    assert await all_done([]) == []


async def test_the_first_failure_cancels_what_still_runs() -> None:
    began = anyio.current_time()
    with pytest.raises(ExceptionGroup) as caught:
        await all_done([after(50, "a"), fails(1), fails(2)])
    assert [str(error) for error in caught.value.exceptions] == ["after 1"]
    assert caught.value.message == "1 of 3 parallel calls failed"
    assert anyio.current_time() - began == pytest.approx(1)


async def test_every_call_has_an_outcome_where_failures_are_returned() -> None:
    outcomes = await all_ended([after(3, "a"), fails(1), after(2, "c")])
    assert outcomes[0] == Done("a")
    assert isinstance(outcomes[1], Failed)
    assert str(outcomes[1].error) == "after 1"
    assert outcomes[2] == Done("c")


async def test_calls_that_never_began_are_closed_without_a_warning() -> None:
    def calls(n_bad: int) -> Iterator[object]:
        for _ in range(n_bad):
            yield after(1, "a")
        raise RuntimeError("the list itself fails")

    with pytest.raises(RuntimeError, match="the list itself"):
        await all_done(calls(3))  # type: ignore[arg-type]  # an iterator that fails
    with anyio.CancelScope() as scope:
        scope.cancel()
        await all_done([after(1, "a"), after(1, "b")])
    assert scope.cancelled_caught


async def test_cancelling_from_outside_is_no_failure() -> None:
    with anyio.move_on_after(1) as scope:
        await all_ended([after(50, "a"), after(50, "b")])
    assert scope.cancelled_caught


async def test_calls_begin_in_the_order_given() -> None:
    begun: list[int] = []

    async def begin(n: int) -> None:
        begun.append(n)
        await anyio.sleep(1)

    await all_done(begin(n) for n in range(50))
    assert begun == list(range(50))
