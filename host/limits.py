"""Bounds on the agents of one session."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpawnLimits:
    """How deep agents may be nested, how many work at once, how many there may be in all, and a minute."""

    depth: int = 3
    at_work: int = 16
    in_all: int = 200
    per_minute: int = 60
