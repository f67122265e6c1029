"""What a tool may do to the world."""

from enum import StrEnum


class PermissionClass(StrEnum):
    """The permission mode decides a call by the class of its tool.

    `read` looks at files and never asks. `edit` changes files of the
    workspace; accept-edits lets it pass. `execute` runs commands and asks
    unless a rule or bypass allows it. `agent` starts or addresses agents of
    this host and never asks; limits hold. `own` is a function of the program
    itself: it runs unless a rule says otherwise, and not in plan mode.
    """

    READ = "read"
    EDIT = "edit"
    EXECUTE = "execute"
    AGENT = "agent"
    OWN = "own"
