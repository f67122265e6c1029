"""Bounds on one run of a workflow."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How many agents work at once (they wait for models, not for cores), and how many there may be in all.

    Over the first a call waits, over the second it is refused.
    """

    at_once: int = 16
    agents: int = 1_000
