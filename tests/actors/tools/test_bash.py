import os
import time
from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue

from actors.errors import BadInput
from actors.history import ResultStatus
from actors.tools import ToolOutput
from actors.tools.bash import bash_tool
from tests.actors.tools.fakes import context_in

QUICK = bash_tool(grace_s=0.3)


def bash(cwd: Path, command: str, backend: str = "asyncio", **sent: JsonValue) -> ToolOutput:
    async def main() -> ToolOutput:
        with anyio.fail_after(30):
            return await QUICK.run(context_in(cwd), {"command": command, **sent})

    return anyio.run(main, backend=backend)


def is_alive(pid: int) -> bool:
    """Whether it runs; a zombie waits only for its parent."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def pids_in(folder: Path) -> list[int]:
    """The ids that a command wrote down, one a file; empty if it was stopped in the act."""
    return [int(text) for file in folder.glob("*.pid") if (text := file.read_text())]


def assert_none_is_left(folder: Path, n_wanted: int) -> None:
    pids = pids_in(folder)
    assert len(pids) == n_wanted
    assert [pid for pid in pids if is_alive(pid)] == []


def test_output_errors_and_exit_code_come_back(tmp_path: Path, real_backend: str) -> None:
    output = bash(tmp_path, "echo out; echo err >&2; pwd; exit 3", real_backend)
    assert output == ToolOutput(f"out\nerr\n{tmp_path}\n[exit code 3]", ResultStatus.ERROR)
    assert bash(tmp_path, "true", real_backend) == ToolOutput("(no output)\n[exit code 0]")


def test_a_command_has_no_input_and_no_terminal(tmp_path: Path) -> None:
    assert bash(tmp_path, "cat; tty").content == "not a tty\n[exit code 1]"


def test_a_command_sees_the_environment_of_its_agent_only(tmp_path: Path) -> None:
    async def main() -> ToolOutput:
        context = context_in(tmp_path)
        context.environment = {"PATH": os.environ["PATH"], "WORD": "yes"}
        return await QUICK.run(context, {"command": "echo $WORD ${HOME-none}"})

    assert str(anyio.run(main).content).startswith("yes none\n")


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    text = str(bash(tmp_path, r"printf 'a\xff\xfe\0b'").content)
    assert text == "a" + "\N{REPLACEMENT CHARACTER}" * 3 + "b\n[exit code 0]"


def test_a_command_ended_by_a_signal_names_it(tmp_path: Path) -> None:
    output = bash(tmp_path, "kill -KILL $$")
    assert (output.content, output.status) == ("(no output)\n[ended by SIGKILL]", ResultStatus.ERROR)


def test_of_a_hundred_megabytes_both_ends_are_kept(tmp_path: Path, real_backend: str) -> None:
    output = bash(
        tmp_path, "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last", real_backend
    )
    text = str(output.content)
    assert text.startswith("first\nxxx")
    assert text.endswith("xxx\nlast\n[exit code 0]")
    assert "bytes left out here" in text
    assert len(text) < 1_100_000


def test_after_its_time_a_command_is_stopped_with_its_grandchildren(
    tmp_path: Path, real_backend: str
) -> None:
    command = "echo $$ > a.pid; echo begun; (sleep 999 & echo $! > b.pid; sleep 999) & wait"
    output = bash(tmp_path, command, real_backend, timeout_s=0.5)
    assert output.status is ResultStatus.ERROR
    assert output.content == "begun\n[stopped with all its processes: not finished after 0.5 s]"
    assert_none_is_left(tmp_path, 2)


def test_a_command_that_ignores_the_first_signal_is_killed(tmp_path: Path, real_backend: str) -> None:
    child = "(trap '' TERM; echo $BASHPID > b.pid; sleep 999)"
    command = f"trap '' TERM; echo $$ > a.pid; {child} & while :; do sleep 1; done"
    began = time.monotonic()
    output = bash(tmp_path, command, real_backend, timeout_s=0.5)
    assert "not finished after 0.5 s" in str(output.content)
    assert time.monotonic() - began < 5
    assert_none_is_left(tmp_path, 2)


def test_a_command_may_tidy_up_when_it_is_stopped(tmp_path: Path) -> None:
    command = "trap 'echo tidied; exit 1' TERM; sleep 999 & wait"
    assert "tidied" in str(bash(tmp_path, command, timeout_s=0.5).content)


@pytest.mark.parametrize("ignores", ["", "trap '' TERM;"])
def test_cancelling_leaves_no_process(tmp_path: Path, real_backend: str, ignores: str) -> None:
    command = f"{ignores} echo $$ > a.pid; (sleep 999 & echo $! > b.pid; touch ready; wait)"

    async def run() -> None:
        await QUICK.run(context_in(tmp_path), {"command": command})

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            with anyio.fail_after(10):
                while not (tmp_path / "ready").exists():  # noqa: ASYNC110 - another process makes it
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        # Not polled for: when the block is left they are gone.
        assert_none_is_left(tmp_path, 2)

    anyio.run(main, backend=real_backend)


def test_cancelling_at_any_moment_leaves_no_process(tmp_path: Path, real_backend: str) -> None:
    async def main() -> None:
        for number in range(20):
            with anyio.move_on_after(number / 1_000):
                command = f"echo $$ > {number}.pid; sleep 999"
                await QUICK.run(context_in(tmp_path), {"command": command})

    anyio.run(main, backend=real_backend)
    assert [pid for pid in pids_in(tmp_path) if is_alive(pid)] == []


def test_a_background_process_does_not_hold_the_call_and_is_stopped(
    tmp_path: Path, real_backend: str
) -> None:
    began = time.monotonic()
    output = bash(tmp_path, "sleep 999 & echo $! > a.pid; echo done", real_backend)
    assert time.monotonic() - began < 5
    assert output == ToolOutput(
        "done\n[exit code 0]\n[processes that it left in the background were stopped]"
    )
    assert_none_is_left(tmp_path, 1)


def test_a_process_that_left_the_group_does_not_hold_the_call(tmp_path: Path) -> None:
    began = time.monotonic()
    output = bash(tmp_path, "setsid sleep 4 & echo done")
    assert time.monotonic() - began < 3
    assert str(output.content).startswith("done\n")


def test_what_helpers_still_write_is_waited_for(tmp_path: Path) -> None:
    output = bash(tmp_path, "echo hello > >(sleep 0.1; cat)")
    assert str(output.content).startswith("hello\n")


def test_calls_side_by_side_do_not_disturb_each_other(tmp_path: Path, real_backend: str) -> None:
    async def main() -> None:
        outputs: dict[int, ToolOutput] = {}

        async def one(number: int) -> None:
            command = {"command": f"sleep 0.1; seq {number} 1000{number} | tail -1"}
            outputs[number] = await QUICK.run(context_in(tmp_path), dict(command))

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(one, number)
        assert [outputs[number].content for number in range(8)] == [
            f"1000{number}\n[exit code 0]" for number in range(8)
        ]

    anyio.run(main, backend=real_backend)


@pytest.mark.parametrize("command", ["echo \0", "echo " + "x" * 3_000_000])
def test_a_command_that_cannot_be_started_is_refused(tmp_path: Path, real_backend: str, command: str) -> None:
    with pytest.raises(BadInput, match="the command cannot be started"):
        bash(tmp_path, command, real_backend)


def test_a_working_directory_that_is_gone_is_named(tmp_path: Path, real_backend: str) -> None:
    with pytest.raises(BadInput, match=r"cannot be started in .*gone"):
        bash(tmp_path / "gone", "true", real_backend)
