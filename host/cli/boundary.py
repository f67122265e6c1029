"""The one place where errors become words and exit codes."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from enum import IntEnum

from host.cli.output import OutputClosed, OutputFailed
from providers.errors import CallboardError, InstallFailed


class ExitCode(IntEnum):
    """How the process ends. `BROKEN` is a defect of the program; signals end it with 128 and their number."""

    DONE = 0
    FAILED = 1
    UNUSABLE = 2
    BROKEN = 70
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141


def guarded(command: Callable[[], None]) -> int:
    """Runs a command; its errors are told on stderr, in one message each."""
    try:
        command()
    except SystemExit as end:
        return _flushed(_code_of(end))
    except BaseException as error:  # noqa: BLE001 - nothing may leave the process but an exit code
        return _told(error)
    return _flushed(ExitCode.DONE)


def _told(error: BaseException) -> int:
    leaves = tuple(_leaves(error))
    if any(isinstance(leaf, OutputClosed) for leaf in leaves):
        return _output_closed()
    unexpected = [leaf for leaf in leaves if not isinstance(leaf, CallboardError | KeyboardInterrupt)]
    if unexpected:
        traceback.print_exception(error)
        return _flushed(ExitCode.BROKEN)
    if any(isinstance(leaf, KeyboardInterrupt) for leaf in leaves):
        return _flushed(ExitCode.INTERRUPTED)
    for text in dict.fromkeys(str(leaf) for leaf in leaves):
        print(f"callboard: {text}", file=sys.stderr)
    return _flushed(max(exit_code_of(leaf) for leaf in leaves))


def exit_code_of(error: BaseException) -> ExitCode:
    """1 where something was tried and failed, 2 where it could not even be tried."""
    from actors.errors import ActorStopped, LogFailed, TurnFailed
    from host.errors import RestoreFailed

    attempts = TurnFailed | ActorStopped | LogFailed | RestoreFailed | InstallFailed | OutputFailed
    return ExitCode.FAILED if isinstance(error, attempts) else ExitCode.UNUSABLE


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _code_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or ExitCode.DONE
    print(end.code, file=sys.stderr)
    return ExitCode.FAILED


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _output_closed()
    except OSError as error:
        _output_closed()
        if code == ExitCode.DONE:
            print(f"callboard: the output cannot be written: {error.strerror}", file=sys.stderr)
            return ExitCode.FAILED
    return code


def _output_closed() -> int:
    """Nobody reads any more; what is still buffered must not make the interpreter complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OUTPUT_CLOSED
