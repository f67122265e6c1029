"""Concrete classes against their protocols, checked by mypy: one assignment for each.

Nothing inherits from a protocol, so this is where a drifting signature shows. The functions are never called.
"""

from actors.ports import Clock, Permissions
from host.permissions import PermissionBroker
from host.testing import VirtualClock


def clocks(virtual: VirtualClock) -> list[Clock]:
    return [virtual]


def permissions(broker: PermissionBroker) -> list[Permissions]:
    return [broker]
