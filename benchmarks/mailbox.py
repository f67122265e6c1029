"""Messages a second in memory: two that answer each other, and a hundred that write to one."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial

import anyio

from actors.ports import Log
from benchmarks.harness import Contender, Contest, Measurement, Shown, Stopwatch
from benchmarks.mailboxes import Desk, ForgetfulLog, draft, stored_log
from host.store.memory import MemoryStore

_N_ROUND_TRIPS = 2_000
_N_SENDERS = 100
_N_EACH = 60
_CAPACITY = 128

LogOf = Callable[[str], Awaitable[Log]]


def measurements() -> Iterator[Measurement]:
    yield _contest(
        "ping-pong, round trips a second", _queue_ping_pong, _stream_ping_pong, _ping_pong, (0.4, 0.25)
    )
    yield _contest(
        f"{_N_SENDERS} senders to one at capacity {_CAPACITY}, messages a second",
        _queue_fan_in,
        _stream_fan_in,
        _fan_in,
        (0.15, 0.15),
    )


def _contest(
    title: str,
    queue: Callable[[], Awaitable[float]],
    streams: Callable[[], Awaitable[float]],
    mailbox: Callable[[LogOf], Awaitable[float]],
    aims: tuple[float, float],
) -> Contest:
    contenders = [Contender("asyncio.Queue", partial(anyio.run, queue))]
    for backend, aim in zip(("asyncio", "trio"), aims, strict=True):
        run = partial(anyio.run, backend=backend)
        contenders += [
            Contender(f"anyio memory streams, {backend}", partial(run, streams)),
            Contender(f"mailbox, {backend}", partial(run, mailbox, _forget), aim_of_floor=aim),
            Contender(f"mailbox on the store in memory, {backend}", partial(run, _on_memory_store, mailbox)),
        ]
    return Contest(title, tuple(contenders), Shown.RATE)


async def _forget(_name: str) -> Log:
    return ForgetfulLog()


async def _on_memory_store(mailbox: Callable[[LogOf], Awaitable[float]]) -> float:
    async with MemoryStore() as store:
        return await mailbox(partial(stored_log, store))


# Two that answer each other


async def _ping_pong(log_of: LogOf) -> float:
    ping = Desk("ping", await log_of("ping"), _CAPACITY)
    pong = Desk("pong", await log_of("pong"), _CAPACITY)

    async def answer() -> None:
        for number in range(_N_ROUND_TRIPS):
            await pong.take()
            ping.mailbox.put_nowait(draft("pong", number))

    with Stopwatch() as watch:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer)
            for number in range(_N_ROUND_TRIPS):
                pong.mailbox.put_nowait(draft("ping", number))
                await ping.take()
    ping.close()
    pong.close()
    return watch.seconds / _N_ROUND_TRIPS


async def _queue_ping_pong() -> float:
    there: asyncio.Queue[int] = asyncio.Queue(_CAPACITY)
    back: asyncio.Queue[int] = asyncio.Queue(_CAPACITY)

    async def answer() -> None:
        for _ in range(_N_ROUND_TRIPS):
            await back.put(await there.get())

    with Stopwatch() as watch:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer)
            for number in range(_N_ROUND_TRIPS):
                await there.put(number)
                await back.get()
    return watch.seconds / _N_ROUND_TRIPS


async def _stream_ping_pong() -> float:
    send_there, receive_there = anyio.create_memory_object_stream[int](_CAPACITY)
    send_back, receive_back = anyio.create_memory_object_stream[int](_CAPACITY)

    async def answer() -> None:
        for _ in range(_N_ROUND_TRIPS):
            await send_back.send(await receive_there.receive())

    with send_there, receive_there, send_back, receive_back, Stopwatch() as watch:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer)
            for number in range(_N_ROUND_TRIPS):
                await send_there.send(number)
                await receive_back.receive()
    return watch.seconds / _N_ROUND_TRIPS


# A hundred that write to one


async def _fan_in(log_of: LogOf) -> float:
    desk = Desk("one", await log_of("one"), _CAPACITY)

    async def send(sender: str) -> None:
        for number in range(_N_EACH):
            await desk.mailbox.put(draft(sender, number))

    async def receive() -> None:
        n_left = _N_SENDERS * _N_EACH
        while n_left:
            n_left -= len(await desk.take())

    seconds = await _timed_fan_in(send, receive)
    desk.close()
    return seconds


async def _queue_fan_in() -> float:
    queue: asyncio.Queue[str] = asyncio.Queue(_CAPACITY)

    async def send(sender: str) -> None:
        for _ in range(_N_EACH):
            await queue.put(sender)

    async def receive() -> None:
        for _ in range(_N_SENDERS * _N_EACH):
            await queue.get()

    return await _timed_fan_in(send, receive)


async def _stream_fan_in() -> float:
    inlet, outlet = anyio.create_memory_object_stream[str](_CAPACITY)

    async def send(sender: str) -> None:
        for _ in range(_N_EACH):
            await inlet.send(sender)

    async def receive() -> None:
        for _ in range(_N_SENDERS * _N_EACH):
            await outlet.receive()

    with inlet, outlet:
        return await _timed_fan_in(send, receive)


async def _timed_fan_in(
    send: Callable[[str], Coroutine[None, None, None]], receive: Callable[[], Coroutine[None, None, None]]
) -> float:
    with Stopwatch() as watch:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            for at in range(_N_SENDERS):
                tasks.start_soon(send, f"sender-{at}")
    return watch.seconds / (_N_SENDERS * _N_EACH)
