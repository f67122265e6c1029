"""What a model sees: the history of an agent as the messages of one legal request."""

from actors.projection.incremental import Projector
from actors.projection.model import Projection, ProjectionOptions, Repair, RepairRule
from actors.projection.pipeline import project
from actors.projection.thinking import has_sealed

__all__ = ["Projection", "ProjectionOptions", "Projector", "Repair", "RepairRule", "has_sealed", "project"]
