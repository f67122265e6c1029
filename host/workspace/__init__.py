"""The files of a session, put back to what they were: first a plan, then carried out."""

from host.workspace.plan import Found, PlannedFile, RestorePlan, Standing, merged
from host.workspace.planning import plan_restore
from host.workspace.restoring import carry_out

__all__ = [
    "Found",
    "PlannedFile",
    "RestorePlan",
    "Standing",
    "carry_out",
    "merged",
    "plan_restore",
]
