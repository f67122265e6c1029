"""The local model's server as a child process: started when first wanted, shared, gone with its block."""

import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, Process, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from providers.errors import ConnectionFailed, LocalModelMissing, ProviderUnusable
from providers.install import HOW_TO_INSTALL, find_weights, has_server

LOCAL_MODEL: Final = "smollm2-135m"

_CHILD: Final = Path(__file__).with_name("local_server.py")
_MAX_ANSWER_BYTES: Final = 4_096
_KEPT_BYTES: Final = 16_384
_KEPT_LINES: Final = 6


@dataclass(frozen=True, slots=True)
class Running:
    """Where the server listens (loopback only), the key of this start, and its process."""

    base_url: str
    key: str
    pid: int


class _Life:
    """One start of the child, from its order to its end."""

    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.ended = anyio.Event()
        self.running: Running | None = None
        self.status: int | None = None
        self.problem = ""
        self._said = bytearray()

    def started(self, running: Running) -> None:
        self.running = running
        self.settled.set()

    def over(self, status: int | None) -> None:
        self.status = status
        self.settled.set()
        self.ended.set()

    async def listen(self, stderr: ByteReceiveStream) -> None:
        async for chunk in stderr:
            self._said += chunk
            del self._said[:-_KEPT_BYTES]

    def last_words(self) -> str:
        lines = self._said.decode("utf-8", "replace").splitlines()[-_KEPT_LINES:]
        return "\n".join(f"  {line}" for line in lines) or "  (nothing)"


def _child_command() -> tuple[str, ...]:
    # -P: the child lies beside modules whose names it must not find (http, errors)
    return (sys.executable, "-P", str(_CHILD))


def _weights_or_refuse() -> Path:
    weights = find_weights()
    if weights is None or not has_server():
        missing = "its weights" if has_server() else "its server (the extra `local`)"
        raise LocalModelMissing(f"the local model cannot run: {missing} cannot be found; {HOW_TO_INSTALL}")
    return weights


class LocalServer:
    """The local model's server; entering the block starts nothing yet.

    All agents of a host share one. The child lives in a session of its own
    and ends when its standard input closes: at the end of the block, or when
    this process dies; one that goes on for `farewell_s` is killed. The block
    must be left in the task that entered it. `n_starts` counts the children.
    """

    def __init__(
        self,
        *,
        command: Callable[[], Sequence[str]] = _child_command,
        weights: Callable[[], Path] = _weights_or_refuse,
        start_timeout_s: float = 60.0,
        farewell_s: float = 2.0,
    ) -> None:
        self._command = command
        self._weights = weights
        self._start_timeout_s = start_timeout_s
        self._farewell_s = farewell_s
        self._tasks: TaskGroup | None = None
        self._life: _Life | None = None
        self.n_starts = 0

    async def __aenter__(self) -> "LocalServer":
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        tasks, self._tasks = self._tasks, None
        assert tasks is not None, "a server is left once"
        tasks.cancel_scope.cancel()
        # without the block's error: the group would wrap it, and it passes by itself
        await tasks.__aexit__(None, None, None)

    async def running(self) -> Running:
        """The server, started if it does not run; waiting callers share one start.

        Cancelling a caller does not stop the start that others wait for.

        Raises:
            LocalModelMissing: weights or server are not installed.
            ProviderUnusable: the child ended or was silent instead of serving.
        """
        if self._tasks is None:
            raise ProviderUnusable("the local model's server was asked for outside of its block")
        life = self._life
        if life is None or life.ended.is_set():
            weights = self._weights()
            life = self._life = _Life()
            self.n_starts += 1
            self._tasks.start_soon(self._live, life, weights)
        await life.settled.wait()
        if life.running is None:
            raise ProviderUnusable(
                f"the local model's server did not start ({life.problem or _ending(life.status)});"
                f" it said:\n{life.last_words()}"
            )
        return life.running

    async def crash(self, running: Running, *, within_s: float) -> ConnectionFailed | None:
        """The error to raise if this very start of the server has ended or does so in time, else None."""
        life = self._life
        if life is None or life.running is not running:
            return ConnectionFailed("the local model's server ended; another one has been started since")
        with anyio.move_on_after(within_s):
            await life.ended.wait()
        if not life.ended.is_set():
            return None
        return ConnectionFailed(
            f"the local model's server ended ({_ending(life.status)}); it said:\n{life.last_words()}"
        )

    async def _live(self, life: _Life, weights: Path) -> None:
        process: Process | None = None
        try:
            # shielded: a start that is cut in the middle could leave a child that nobody knows
            with anyio.CancelScope(shield=True):
                process = await self._spawn()
            assert process is not None, "the scope is never cancelled itself"
            await self._serve(life, process, weights)
        except OSError as exc:
            life.problem = f"{type(exc).__name__}: {exc}"
        finally:
            with anyio.CancelScope(shield=True):
                if process is not None:
                    await _end(process, self._farewell_s)
            life.over(None if process is None else process.returncode)

    async def _spawn(self) -> Process:
        return await anyio.open_process(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    async def _serve(self, life: _Life, process: Process, weights: Path) -> None:
        assert process.stderr is not None, "it was opened with a pipe"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(life.listen, process.stderr)
            running = await self._ordered(life, process, weights)
            if running is None:
                with anyio.CancelScope(shield=True):
                    await _end(process, self._farewell_s)
                return
            life.started(running)
            await process.wait()

    async def _ordered(self, life: _Life, process: Process, weights: Path) -> Running | None:
        """Tells the child what to serve and waits for its address; None, and why, if it gives none."""
        assert process.stdin is not None, "it was opened with a pipe"
        assert process.stdout is not None, "it was opened with a pipe"
        key = secrets.token_urlsafe(32)
        order = json.dumps({"weights": str(weights), "name": LOCAL_MODEL, "key": key}) + "\n"
        answer = BufferedByteReceiveStream(process.stdout)
        try:
            with anyio.fail_after(self._start_timeout_s):
                await process.stdin.send(order.encode())
                line = await answer.receive_until(b"\n", _MAX_ANSWER_BYTES)
            return Running(json.loads(line)["url"] + "/v1", key, process.pid)
        except TimeoutError:
            life.problem = f"no answer within {self._start_timeout_s:g} s"
        except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the child ended; its status and last words say why
        except (anyio.DelimiterNotFound, ValueError, KeyError, TypeError) as exc:
            life.problem = f"its answer is no address ({type(exc).__name__})"
        return None


async def _end(process: Process, farewell_s: float) -> None:
    """Asks the child to end by closing its input, insists after a while, and takes its status."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(farewell_s):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    await process.aclose()


def _ending(status: int | None) -> str:
    if status is None:
        return "it could not be run"
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"
