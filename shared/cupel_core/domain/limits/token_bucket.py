"""A token bucket: what a limit per minute has left. It is lent to workers in parts and settled by what they used."""

from dataclasses import dataclass

BURST_SECONDS = 2.0
"""So much of the rate may come at once; providers enforce a limit per minute over shorter times too."""


@dataclass(frozen=True)
class Meter:
    """`level` may be negative: what was used beyond what was lent is paid off before more is."""

    level: float
    at: float

    def refilled(self, per_minute: float, now: float) -> "Meter":
        gained = max(0.0, now - self.at) * per_minute / 60
        return Meter(min(capacity(per_minute), self.level + gained), max(self.at, now))

    def settled(self, lent: float, used: float, per_minute: float) -> "Meter":
        """After a worker has brought back what it was lent, less what it used."""
        return Meter(min(capacity(per_minute), self.level + lent - used), self.at)

    def without(self, lent: float) -> "Meter":
        return Meter(self.level - lent, self.at)

    def seconds_until(self, wanted: float, per_minute: float) -> float:
        return max(0.0, wanted - self.level) * 60 / per_minute


def capacity(per_minute: float) -> float:
    """At least one, or a slow limit would never let anything through."""
    return max(1.0, per_minute * BURST_SECONDS / 60)


def full(per_minute: float, now: float) -> Meter:
    return Meter(capacity(per_minute), now)
