"""The process around agents: starting, addressing, storing, asking people, showing, scripting.

What is named here is loaded when it is first used: the command line lives in
this package and must show its help at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from host.host import Host
    from host.opening import open_host
    from host.session import Session
    from host.turn_stream import TurnStream
    from host.workflows import Run, load_workflow, run_workflow, workflow

__all__ = [
    "Host",
    "Run",
    "Session",
    "TurnStream",
    "load_workflow",
    "open_host",
    "run_workflow",
    "workflow",
]

_HOMES = {
    "Host": "host.host",
    "Run": "host.workflows",
    "Session": "host.session",
    "TurnStream": "host.turn_stream",
    "load_workflow": "host.workflows",
    "open_host": "host.opening",
    "run_workflow": "host.workflows",
    "workflow": "host.workflows",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
