"""A server on a loopback socket that says exactly what a test tells it to say."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import SocketAttribute, SocketStream

Answer = Callable[[SocketStream], Awaitable[None]]


@dataclass
class Loopback:
    """`requests` holds what came in, `n_connections` how often somebody connected.

    `gone` can be acquired once for every client that hung up.
    """

    port: int
    requests: list[bytes] = field(default_factory=list)
    n_connections: int = 0
    gone: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(0))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def loopback(answer: Answer) -> AsyncIterator[Loopback]:
    """Answers every request on every connection with `answer`."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server = Loopback(listener.extra(SocketAttribute.local_port))

    async def serve(stream: SocketStream) -> None:
        server.n_connections += 1
        async with stream:
            try:
                while True:
                    server.requests.append(await _read_request(stream))
                    await answer(stream)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                server.gone.release()

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield server
        tasks.cancel_scope.cancel()


async def _read_request(stream: SocketStream) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    n_bytes = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < n_bytes:
        body += await stream.receive()
    return head + b"\r\n\r\n" + body


def reply(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> Answer:
    """A whole answer at once."""
    lines = [f"HTTP/1.1 {status} x", f"content-type: {content_type}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def raw(data: bytes, *, then_close: bool = False) -> Answer:
    """These bytes, as they are."""

    async def answer(stream: SocketStream) -> None:
        await stream.send(data)
        if then_close:
            await stream.aclose()

    return answer


def chunked(*pieces: bytes, ends: bool = True, gap_s: float = 0.0, silence: bool = False) -> Answer:
    """A stream of events in chunks; `ends` False breaks it off, `silence` keeps it open."""

    async def answer(stream: SocketStream) -> None:
        await stream.send(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for piece in pieces:
            await stream.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            await anyio.sleep(gap_s)
        if silence:
            await stream.receive()
        elif ends:
            await stream.send(b"0\r\n\r\n")
        else:
            await stream.aclose()

    return answer
