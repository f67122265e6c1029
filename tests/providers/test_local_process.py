"""Real child processes that only pretend to serve: what can go wrong with one, told apart and cleaned up."""

import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from providers.errors import LocalModelMissing, ProviderUnusable
from providers.local_process import LocalServer

SERVE = """
import json, sys
order = json.loads(sys.stdin.readline())
print(json.dumps({"url": "http://127.0.0.1:9"}), flush=True)
sys.stdin.read()
"""


def child(code: str, **options: float) -> LocalServer:
    return LocalServer(
        command=lambda: (sys.executable, "-c", code), weights=lambda: Path("weights.gguf"), **options
    )


def run(main: Callable[[], Awaitable[None]], backend: str) -> None:
    anyio.run(main, backend=backend)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone_within(seconds: float, pid: int) -> bool:
    end = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_alive(pid)


def test_entering_the_block_starts_nothing(real_backend: str) -> None:
    async def main() -> None:
        async with child("raise SystemExit(1)") as server:
            await anyio.sleep(0.05)
            assert server.n_starts == 0

    run(main, real_backend)


def test_concurrent_callers_share_one_start(real_backend: str) -> None:
    async def main() -> None:
        found: list[object] = []

        async def ask(server: LocalServer) -> None:
            found.append(await server.running())

        async with child(SERVE) as server:
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(ask, server)
            assert server.n_starts == 1
            assert len(set(map(id, found))) == 1

    run(main, real_backend)


def test_the_child_is_gone_after_the_block(real_backend: str) -> None:
    pids: list[int] = []

    async def main() -> None:
        async with child(SERVE) as server:
            pids.append((await server.running()).pid)
            assert is_alive(pids[0])

    run(main, real_backend)
    assert not is_alive(pids[0])


def test_the_child_is_in_a_session_of_its_own(real_backend: str) -> None:
    async def main() -> None:
        async with child(SERVE) as server:
            pid = (await server.running()).pid
            assert os.getsid(pid) == pid

    run(main, real_backend)


def test_each_start_has_a_key_of_its_own(real_backend: str) -> None:
    async def main() -> None:
        keys = set()
        for _ in range(2):
            async with child(SERVE) as server:
                keys.add((await server.running()).key)
        assert len(keys) == 2
        assert min(map(len, keys)) >= 32

    run(main, real_backend)


def what_others_see_of(pid: int) -> bytes:
    return b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ"))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_the_key_stands_in_no_argument_of_the_child(real_backend: str) -> None:
    async def main() -> None:
        async with child(SERVE) as server:
            running = await server.running()
            assert running.key.encode() not in what_others_see_of(running.pid)

    run(main, real_backend)


def test_a_child_that_does_not_listen_is_killed(real_backend: str) -> None:
    deaf = SERVE.replace("sys.stdin.read()", "import time; time.sleep(1000)")
    pids: list[int] = []

    async def main() -> None:
        async with child(deaf, farewell_s=0.1) as server:
            pids.append((await server.running()).pid)

    run(main, real_backend)
    assert not is_alive(pids[0])


def test_an_error_of_the_block_comes_out_as_it_is(real_backend: str) -> None:
    async def main() -> None:
        async with child(SERVE) as server:
            await server.running()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(main, real_backend)


@pytest.mark.parametrize("after_s", [0.0, 0.005, 0.05, 0.3])
def test_cancelling_the_block_leaves_no_child(real_backend: str, after_s: float, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    code = f"import os, pathlib; pathlib.Path({str(noted)!r}).write_text(str(os.getpid()))\n" + SERVE

    async def main() -> None:
        with anyio.move_on_after(after_s):
            async with child(code) as server:
                await server.running()
                await anyio.sleep_forever()

    run(main, real_backend)
    text = noted.read_text() if noted.exists() else ""
    assert not text or gone_within(0.5, int(text))


def test_a_caller_that_gives_up_does_not_stop_the_start_of_others(real_backend: str) -> None:
    slow = "import time; time.sleep(0.3)\n" + SERVE

    async def main() -> None:
        async with child(slow) as server:
            with anyio.move_on_after(0.05) as scope:
                await server.running()
            assert scope.cancelled_caught
            await server.running()
            assert server.n_starts == 1

    run(main, real_backend)


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("import sys; sys.exit('no such weights')", r"(?s)exit status 1.*no such weights"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
        ("print('hello', flush=True); input()", r"its answer is no address \(JSONDecodeError\)"),
        ("print('{}', flush=True); input()", r"its answer is no address \(KeyError\)"),
        ("print('[1]', flush=True); input()", r"its answer is no address \(TypeError\)"),
        ("print('x' * 100_000, flush=True); input()", r"its answer is no address \(DelimiterNotFound\)"),
        ("import time; time.sleep(100)", r"no answer within 0\.3 s"),
        ("import sys; sys.stdin.close(); sys.stdout.close(); import time; time.sleep(100)", "did not start"),
    ],
)
def test_a_child_that_does_not_serve_is_told_apart(real_backend: str, code: str, complaint: str) -> None:
    async def main() -> None:
        async with child(code, start_timeout_s=0.3, farewell_s=0.1) as server:
            for _ in range(2):
                with pytest.raises(ProviderUnusable, match=complaint):
                    await server.running()
            assert server.n_starts == 2

    run(main, real_backend)


def test_a_program_that_is_not_there_is_said(real_backend: str) -> None:
    async def main() -> None:
        server = LocalServer(command=lambda: ("/no/such/program",), weights=lambda: Path("w"))
        async with server:
            with pytest.raises(ProviderUnusable, match="/no/such/program"):
                await server.running()

    run(main, real_backend)


def test_a_flood_of_messages_neither_blocks_nor_fills_memory(real_backend: str) -> None:
    flood = "import sys\nfor n in range(20000): print('x' * 100, n, file=sys.stderr)\n" + SERVE

    async def main() -> None:
        async with child(flood) as server:
            running = await server.running()
            os.kill(running.pid, 9)
            error = await server.crash(running, within_s=2)
            assert error is not None
            assert "x 19999" in str(error)
            assert len(str(error)) < 2_000

    run(main, real_backend)


def test_a_crash_is_told_and_the_next_request_starts_again(real_backend: str) -> None:
    async def main() -> None:
        async with child("import sys; print('loading', file=sys.stderr)\n" + SERVE) as server:
            first = await server.running()
            assert await server.crash(first, within_s=0.02) is None
            os.kill(first.pid, 9)
            error = await server.crash(first, within_s=2)
            assert error is not None
            assert "killed by signal 9" in str(error)
            assert "loading" in str(error)
            second = await server.running()
            assert second.pid != first.pid
            assert "another one" in str(await server.crash(first, within_s=0.02))

    run(main, real_backend)


def test_outside_of_its_block_a_server_is_not_started(real_backend: str) -> None:
    async def main() -> None:
        server = child(SERVE)
        with pytest.raises(ProviderUnusable, match="outside of its block"):
            await server.running()

    run(main, real_backend)


def test_without_weights_the_error_says_how_to_install(real_backend: str) -> None:
    def missing() -> Path:
        raise LocalModelMissing("install the local model with `callboard model install`")

    async def main() -> None:
        async with LocalServer(weights=missing) as server:
            with pytest.raises(LocalModelMissing, match="callboard model install"):
                await server.running()
            assert server.n_starts == 0

    run(main, real_backend)


def children() -> set[str]:
    """The children of this process; none where the system does not list them."""
    tasks = Path("/proc/self/task")
    pids: set[str] = set()
    for task in tasks.iterdir() if tasks.exists() else ():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that ended since it was listed
            pids.update((task / "children").read_text().split())
    return pids


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    """Every test here leaves this process with the children that it had: servers of other tests, for one."""
    before = children()
    yield
    assert children() <= before
