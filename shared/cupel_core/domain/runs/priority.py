"""Defines the priority of a run's probes, in a module of its own because the settings of every function need only
this."""

from enum import StrEnum


class Priority(StrEnum):
    LOW = "LOW"
    NORMAL = "NORMAL"
    HIGH = "HIGH"

    @property
    def rank(self) -> int:
        """Return 0 for the highest priority, which is served first."""
        return (Priority.HIGH, Priority.NORMAL, Priority.LOW).index(self)
