"""The priority of a run's probes. A module of its own, because the settings of every function need it and no more."""

from enum import StrEnum


class Priority(StrEnum):
    LOW = "LOW"
    NORMAL = "NORMAL"
    HIGH = "HIGH"

    @property
    def rank(self) -> int:
        """0 for the one that is served first."""
        return (Priority.HIGH, Priority.NORMAL, Priority.LOW).index(self)
