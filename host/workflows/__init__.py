"""Scripted workflows: a coroutine that starts agents and uses what they return.

A run is not journaled yet: one that was stopped starts anew. What needs the
journal (budget, nested workflows, now, random, sleep, command, artifacts,
worktrees) is not there, so a script that names it fails at once.
"""

from host.workflows.definition import Workflow, workflow
from host.workflows.events import RunEvent, run_event_to_json
from host.workflows.gathering import Done, Failed, Outcome
from host.workflows.limits import RunLimits
from host.workflows.loading import load_workflow
from host.workflows.run import Run, RunActor
from host.workflows.runner import RunOutcome, run_workflow

__all__ = [
    "Done",
    "Failed",
    "Outcome",
    "Run",
    "RunActor",
    "RunEvent",
    "RunLimits",
    "RunOutcome",
    "Workflow",
    "load_workflow",
    "run_event_to_json",
    "run_workflow",
    "workflow",
]
