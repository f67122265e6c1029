"""A command in a process group of its own, of which nothing is left when it ends."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process

from actors.tools.head_and_tail import HeadAndTail
from actors.tools.process_group import is_group_alive

# What a command's own helpers (`tee` in a pipe, say) get to write their last words.
_DRAIN_S = 0.3
_POLL_S = 0.02
_GONE_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `exit_code` is negative for a signal, None when the time ran out.

    `left_behind`: processes of its group were still there and were stopped.
    """

    exit_code: int | None
    output: str
    left_behind: bool


async def run_group(
    command: tuple[str, ...],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None,
    timeout_s: float,
    grace_s: float,
    output: HeadAndTail,
) -> Ended:
    """Runs a command with no input; what it writes goes into `output`, errors too.

    However this ends, by cancellation too, the whole group is stopped first:
    SIGTERM, and SIGKILL for what is left after `grace_s`. A process that
    leaves its group (`setsid`) escapes this.

    Raises:
        OSError: the command cannot be started.
    """
    with anyio.CancelScope(shield=True):  # a start that is cancelled halfway could lose the process
        process = await anyio.open_process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    exit_code: int | None = None
    try:
        async with anyio.create_task_group() as group:
            at_end = anyio.Event()
            group.start_soon(_collect, process, output, at_end)
            try:
                with anyio.move_on_after(timeout_s):
                    exit_code = await process.wait()
                    with anyio.move_on_after(_DRAIN_S):
                        await at_end.wait()
            finally:
                # Shielded: whoever cancels us may rely on it that nothing runs any more.
                with anyio.CancelScope(shield=True):
                    left_behind = await _stop(process, grace_s)
            with anyio.move_on_after(_DRAIN_S):
                await at_end.wait()
            group.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(_GONE_WITHIN_S, shield=True):
            await process.aclose()
    return Ended(exit_code, output.text(), left_behind and exit_code is not None)


async def _collect(process: Process, output: HeadAndTail, at_end: anyio.Event) -> None:
    if process.stdout is not None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                output.add(await process.stdout.receive())
    at_end.set()


async def _stop(process: Process, grace_s: float) -> bool:
    """Ends the group; False if there was nothing left of it."""
    if not is_group_alive(process.pid):
        with anyio.move_on_after(_GONE_WITHIN_S):
            await process.wait()
        return False
    _signal(process.pid, signal.SIGTERM)
    with anyio.move_on_after(grace_s):
        await _gone(process)
        return True
    _signal(process.pid, signal.SIGKILL)
    with anyio.move_on_after(_GONE_WITHIN_S):
        await _gone(process)
    return True


async def _gone(process: Process) -> None:
    await process.wait()
    while is_group_alive(process.pid):  # noqa: ASYNC110 - nothing rings when a grandchild ends
        await anyio.sleep(_POLL_S)


def _signal(group_id: int, number: int) -> None:
    # Gone by itself in this moment, or run by another user (sudo) whom we cannot signal.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group_id, number)
