"""The entry of the command `callboard`."""

import gc
import sys

from host.cli.boundary import guarded

# A host makes many small objects that live long: collecting at every 700th costs much of its time.
_GC_THRESHOLDS = (50_000, 20, 100)


def main() -> int:
    """Runs the command that the arguments name; gives the exit code of the process."""
    gc.set_threshold(*_GC_THRESHOLDS)
    for stream in (sys.stdout, sys.stderr):
        # A text that the terminal's encoding cannot show must not end a conversation.
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")
    return guarded(_command)


def _command() -> None:
    from host.cli.app import app

    app()


if __name__ == "__main__":
    sys.exit(main())
