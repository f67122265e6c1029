"""The entry of the command `callboard`."""

import gc
import os
import sys

from host.cli.boundary import guarded

# A host makes many small objects that live long: collecting at every 700th costs much of its time.
_GC_THRESHOLDS = (50_000, 20, 100)


def main() -> int:
    """Runs the command that the arguments name; gives the exit code of the process."""
    gc.set_threshold(*_GC_THRESHOLDS)
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        # A text that the terminal's encoding cannot show must not end a conversation.
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")
    return guarded(_command)


def _open_what_is_closed() -> None:
    """A process can be started with closed streams; the next files to be opened must not take their place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        continue
    os.close(descriptor)
    sys.stdin = sys.stdin or open(0)  # noqa: SIM115 - for as long as the process lives
    sys.stdout = sys.stdout or open(1, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w")  # noqa: SIM115


def _command() -> None:
    from host.cli.app import app

    app()


if __name__ == "__main__":
    sys.exit(main())
