import anyio


async def test_an_hour_costs_no_time() -> None:
    before = anyio.current_time()
    await anyio.sleep(3600)
    assert anyio.current_time() - before >= 3600


async def test_a_deadline_in_virtual_time_fires_before_a_later_wake_up() -> None:
    with anyio.move_on_after(5) as scope:
        await anyio.sleep(10)
    assert scope.cancelled_caught
