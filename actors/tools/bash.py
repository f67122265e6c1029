"""Bash: a command, its output and its exit code."""

import signal
from typing import Annotated

from pydantic import Field

from actors.errors import BadInput
from actors.history import ResultStatus
from actors.permission import PermissionClass
from actors.tools.function import tool
from actors.tools.head_and_tail import HeadAndTail
from actors.tools.model import Tool, ToolContext, ToolOutput
from actors.tools.process import Ended, run_group

DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 600
GRACE_S = 2.0
HEAD_BYTES = 500_000
TAIL_BYTES = 500_000


def bash_tool(grace_s: float = GRACE_S) -> Tool:
    """`grace_s` is what processes get between SIGTERM and SIGKILL."""

    async def bash(
        context: ToolContext,
        command: Annotated[str, Field(min_length=1, description="What `bash -c` is to run.")],
        timeout_s: Annotated[
            float, Field(gt=0, le=MAX_TIMEOUT_S, description="After this time it is stopped.")
        ] = DEFAULT_TIMEOUT_S,
    ) -> ToolOutput:
        """Runs a command with bash and gives its output, errors included, and its exit code.

        Every call starts anew in the working directory, with no input; a changed directory or variable is
        gone afterwards. Nothing stays in the background: when the command ends, its processes are stopped.
        """
        try:
            ended = await run_group(
                ("bash", "-c", command),
                cwd=context.cwd,
                environment=context.environment,
                timeout_s=timeout_s,
                grace_s=grace_s,
                output=HeadAndTail(HEAD_BYTES, TAIL_BYTES),
            )
        except (OSError, ValueError) as exc:
            raise BadInput(f"the command cannot be started in {context.cwd}: {exc}") from exc
        return _told(ended, timeout_s)

    return tool(name="Bash", permission=PermissionClass.EXECUTE, subject="command")(bash)


def _told(ended: Ended, timeout_s: float) -> ToolOutput:
    is_ok = ended.exit_code == 0
    notes = [_how(ended.exit_code, timeout_s)]
    if ended.left_behind:
        notes.append("[processes that it left in the background were stopped]")
    output = ended.output.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if output and not output.endswith("\n"):
        output += "\n"
    text = (output or "(no output)\n") + "\n".join(notes)
    return ToolOutput(text, ResultStatus.OK if is_ok else ResultStatus.ERROR)


def _how(exit_code: int | None, timeout_s: float) -> str:
    if exit_code is None:
        return f"[stopped with all its processes: not finished after {timeout_s:g} s]"
    if exit_code < 0:
        return f"[ended by {_signal_name(-exit_code)}]"
    return f"[exit code {exit_code}]"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
