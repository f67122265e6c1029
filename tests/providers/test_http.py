import ast
import gc
from pathlib import Path

import anyio
import pytest

from providers.errors import (
    ConnectionFailed,
    IllegalRequest,
    ProtocolMismatch,
    ProviderError,
    ProviderTimeout,
    ProviderUnusable,
    StreamBroken,
)
from providers.http import Call, Http, HttpReply, body_bytes, open_http, read_body
from tests.providers.loopback import chunked, loopback, raw, reply

ROOT = Path(__file__).parents[2]
DEADLINE_S = 10


def call(url: str, *, idle_timeout_s: float = 5.0, **headers: str) -> Call:
    return Call("box", url, headers, connect_timeout_s=2.0, idle_timeout_s=idle_timeout_s)


def test_no_other_module_imports_the_http_library() -> None:
    importers = {
        str(path.relative_to(ROOT))
        for room in ("providers", "actors", "host")
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(name.name.split(".")[0] == "httpx" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "httpx")
    }
    assert importers == {"providers/http.py"}


def test_a_request_and_its_answer_arrive_as_they_are(real_backend: str) -> None:
    async def main() -> None:
        async with loopback(reply(418, b'{"a": 1}', Retry_After="3")) as server, open_http() as http:
            got = await http.post_json(call(f"{server.url}/x", authorization="Bearer k"), {"ä": "👩‍🚀"})
            await http.get_json(call(f"{server.url}/y"))
        assert (got.status, got.body, got.headers["retry-after"]) == (418, b'{"a": 1}', "3")
        post, get = server.requests
        assert post.startswith(b"POST /x HTTP/1.1\r\n")
        assert b"authorization: Bearer k\r\n" in post
        assert post.endswith('\r\n\r\n{"ä":"👩‍🚀"}'.encode())
        assert get.startswith(b"GET /y HTTP/1.1\r\n")
        assert server.n_connections == 1

    anyio.run(main, backend=real_backend)


def test_an_environment_proxy_is_not_used(real_backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def main() -> None:
        async with loopback(reply(200, b"{}")) as server, open_http() as http:
            assert (await http.get_json(call(server.url))).status == 200

    anyio.run(main, backend=real_backend)


def test_a_configured_proxy_is_used_but_never_for_this_machine(real_backend: str) -> None:
    async def main() -> None:
        async with (
            loopback(reply(200, b"{}")) as server,
            loopback(reply(200, b'"proxy"')) as proxy,
            open_http(proxy_url=proxy.url) as http,
        ):
            assert (await http.get_json(call(server.url))).body == b"{}"
            assert (await http.get_json(call("http://box.invalid/"))).body == b'"proxy"'
        assert len(server.requests) == len(proxy.requests) == 1

    anyio.run(main, backend=real_backend)


@pytest.mark.parametrize(
    "url", ["ftp://me:sk-secret@box", "http://me:sk-secret@box:port", "socks5://me:sk-secret@box"]
)
def test_a_proxy_that_cannot_be_used_is_refused_without_being_shown(real_backend: str, url: str) -> None:
    async def main() -> None:
        with pytest.raises(ProviderUnusable, match="proxy") as caught:
            async with open_http(proxy_url=url):
                pass
        assert "sk-secret" not in str(caught.value)

    anyio.run(main, backend=real_backend)


async def failure_of(http: Http, url: str, *, idle_timeout_s: float = 5.0) -> ProviderError:
    try:
        await http.get_json(call(url, idle_timeout_s=idle_timeout_s))
    except ProviderError as error:
        return error
    raise AssertionError("nothing was raised")


def test_failures_of_a_connection_are_told_apart(real_backend: str) -> None:
    async def main() -> None:
        async with open_http() as http:
            async with loopback(raw(b"", then_close=True)) as closing:
                lost = await failure_of(http, closing.url)
            refused = await failure_of(http, closing.url)
            async with loopback(
                raw(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", then_close=True)
            ) as half:
                cut = await failure_of(http, half.url)
            async with loopback(raw(b"")) as silent:
                late = await failure_of(http, silent.url, idle_timeout_s=0.1)
            async with loopback(raw(b"SSH-2.0-OpenSSH\r\n", then_close=True)) as ssh:
                strange = await failure_of(http, ssh.url)
        assert type(lost) is ConnectionFailed
        assert type(refused) is ConnectionFailed
        assert f"box: no connection to {closing.url}" in str(refused)
        assert type(cut) is StreamBroken
        assert type(late) is ProviderTimeout
        assert "0.1 s" in str(late)
        assert type(strange) is ConnectionFailed

    anyio.run(main, backend=real_backend)


def test_the_idle_limit_counts_silence_and_not_the_whole_answer(real_backend: str) -> None:
    async def main() -> None:
        async with open_http() as http:
            async with loopback(chunked(*[b"x"] * 8, gap_s=0.1)) as slow:
                assert (await http.get_json(call(slow.url, idle_timeout_s=0.5))).body == b"x" * 8
            async with loopback(chunked(b"x", silence=True)) as stalled:
                error = await failure_of(http, stalled.url, idle_timeout_s=0.2)
        assert type(error) is ProviderTimeout
        assert "middle" in str(error)

    anyio.run(main, backend=real_backend)


def test_cancelling_closes_the_connection_at_once(real_backend: str) -> None:
    async def main() -> None:
        async with loopback(chunked(b"x", silence=True)) as server, open_http() as http:
            with anyio.move_on_after(0.2) as scope:
                async with http.stream(call(server.url), {}) as response:
                    async for _ in response.chunks:
                        pass
            assert scope.cancelled_caught
            with anyio.fail_after(DEADLINE_S):
                await server.gone.acquire()

    anyio.run(main, backend=real_backend)


def test_cancelling_before_the_answer_closes_the_connection_at_once(real_backend: str) -> None:
    async def main() -> None:
        async with loopback(raw(b"")) as server, open_http() as http:
            with anyio.move_on_after(0.2) as scope:
                await http.post_json(call(server.url), {})
            assert scope.cancelled_caught
            with anyio.fail_after(DEADLINE_S):
                await server.gone.acquire()
            async with loopback(reply(200, b"{}")) as other:
                assert (await http.get_json(call(other.url))).status == 200

    anyio.run(main, backend=real_backend)


def test_cancelling_while_a_request_is_sent_leaves_no_generator_to_the_collector(real_backend: str) -> None:
    async def main() -> None:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")  # accepts and never reads
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with listener, open_http() as http:
            with anyio.move_on_after(0.3) as scope:
                await http.post_json(call(f"http://127.0.0.1:{port}/"), "x" * 50_000_000)
            assert scope.cancelled_caught
            gc.collect()  # a generator left behind warns here, and warnings are errors

    anyio.run(main, backend=real_backend)


def test_leaving_a_stream_early_leaves_no_generator_to_the_collector(real_backend: str) -> None:
    async def main() -> None:
        async with loopback(chunked(*[b"abc"] * 50, silence=True)) as server, open_http() as http:
            for n_read in (0, 1, 3):
                async with http.stream(call(server.url), {}) as response:
                    for _ in range(n_read):
                        await anext(response.chunks)
            gc.collect()  # a generator left behind warns here, and warnings are errors
            with anyio.fail_after(DEADLINE_S):
                for _ in range(3):
                    await server.gone.acquire()

    anyio.run(main, backend=real_backend)


def test_many_streams_run_at_once_over_one_client(real_backend: str) -> None:
    n_streams = 100

    async def main() -> None:
        bodies: list[HttpReply] = []
        async with loopback(chunked(b"a", b"b", gap_s=0.2)) as server, open_http() as http:

            async def ask() -> None:
                bodies.append(await http.post_json(call(server.url), {}))

            with anyio.fail_after(DEADLINE_S):
                async with anyio.create_task_group() as tasks:
                    for _ in range(n_streams):
                        tasks.start_soon(ask)
            assert server.n_connections == n_streams
        assert [body.body for body in bodies] == [b"ab"] * n_streams

    anyio.run(main, backend=real_backend)


def test_a_body_that_never_ends_is_refused(real_backend: str) -> None:
    async def main() -> None:
        async with (
            loopback(chunked(*[b"x" * 1000] * 20)) as server,
            open_http() as http,
            http.stream(call(server.url), {}) as response,
        ):
            with pytest.raises(ProtocolMismatch, match="1,500 bytes"):
                await read_body(call(server.url), response, max_bytes=1500)

    anyio.run(main, backend=real_backend)


@pytest.mark.parametrize("value", ["a\nb", "a\x00b", "ä", "a\r\nx: y"])
def test_a_header_that_cannot_be_sent_is_not_shown(real_backend: str, value: str) -> None:
    async def main() -> None:
        async with loopback(reply(200, b"{}")) as server, open_http() as http:
            with pytest.raises(ProviderUnusable) as caught:
                await http.get_json(call(server.url, x=f"sk-secret{value}"))
        error: BaseException | None = caught.value
        while error is not None:
            assert "sk-secret" not in str(error)
            error = error.__cause__

    anyio.run(main, backend=real_backend)


@pytest.mark.parametrize("url", ["http://[::1", "http://box:port/", "box"])
def test_what_is_no_url_is_refused(real_backend: str, url: str) -> None:
    async def main() -> None:
        async with open_http() as http:
            with pytest.raises(ProviderUnusable):
                await http.get_json(call(url))

    anyio.run(main, backend=real_backend)


def test_a_body_has_one_byte_form_and_half_characters_do_not_stop_it() -> None:
    assert body_bytes("box", {"b": [1, None, "ä\ud83d"], "a": 1.5}) == '{"b":[1,null,"ä?"],"a":1.5}'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_know_is_refused(value: float) -> None:
    with pytest.raises(IllegalRequest, match="box"):
        body_bytes("box", {"a": value})
