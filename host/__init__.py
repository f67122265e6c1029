"""The process around agents: starting, addressing, storing, asking people, showing, scripting."""

from host.host import Host
from host.opening import open_host
from host.session import Session, TurnStream

__all__ = ["Host", "Session", "TurnStream", "open_host"]
