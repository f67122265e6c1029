"""What a model sees: the history of an agent as the messages of one legal request."""

from actors.projection.align import Made
from actors.projection.changes import Change, ChangeKind, Changes, ToolChange, compare
from actors.projection.incremental import Projector
from actors.projection.model import Projection, ProjectionOptions, Repair, RepairRule
from actors.projection.pipeline import project
from actors.projection.thinking import has_sealed, same_tools
from actors.projection.why import why_left_out, why_moved

__all__ = [
    "Change",
    "ChangeKind",
    "Changes",
    "Made",
    "Projection",
    "ProjectionOptions",
    "Projector",
    "Repair",
    "RepairRule",
    "ToolChange",
    "compare",
    "has_sealed",
    "project",
    "same_tools",
    "why_left_out",
    "why_moved",
]
