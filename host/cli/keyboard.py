"""The mode of a terminal in which keys arrive one by one and nothing is echoed."""

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from host.cli.output import put

_LOCAL = 3
_CONTROL = 6
_PASTE_ON = "\x1b[?2004h"
_PASTE_OFF = "\x1b[?2004l"


class Keyboard:
    """A terminal as it was before, and how to have its keys. Ctrl-C and Ctrl-Z stay signals."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before = termios.tcgetattr(descriptor)

    @contextmanager
    def keys(self) -> Iterator[None]:
        """Keys inside the block; the terminal is as before behind it, whatever happens."""
        self.take()
        try:
            yield
        finally:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
            put(_PASTE_OFF)

    def take(self) -> None:
        """Switches to keys; again after the process was stopped, when the shell has switched back."""
        mode = termios.tcgetattr(self._descriptor)
        mode[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
        control = list(mode[_CONTROL])
        control[termios.VMIN], control[termios.VTIME] = 1, 0
        mode[_CONTROL] = control
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, mode)
        put(_PASTE_ON)


def is_terminal(*streams: object) -> bool:
    """Whether all of these are terminals."""
    return all(bool(getattr(stream, "isatty", lambda: False)()) for stream in streams)


def is_live() -> bool:
    """Whether a person sits at a terminal that can move its cursor."""
    import os

    return is_terminal(sys.stdin, sys.stdout) and os.environ.get("TERM", "dumb") != "dumb"
