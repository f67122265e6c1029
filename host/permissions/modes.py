"""Permission modes, from the narrowest to the widest."""

from enum import StrEnum


class PermissionMode(StrEnum):
    """What happens to a call that no rule speaks about.

    `plan` lets an agent read and talk to agents, nothing else. `default` asks
    before a file changes or a command runs. `accept-edits` lets files inside
    the working directory change. `bypass` asks nothing.
    """

    PLAN = "plan"
    DEFAULT = "default"
    ACCEPT_EDITS = "accept-edits"
    BYPASS = "bypass"


def narrowest(*modes: PermissionMode) -> PermissionMode:
    """The mode of a child is never wider than its parent's: the narrowest of those given."""
    return min(modes, key=tuple(PermissionMode).index)
