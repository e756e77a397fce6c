"""Whether a run stands still although the queue of its provider is never empty."""

from dataclasses import replace
from datetime import datetime, timedelta

from cupel_core.base.deferred import dataclass

FIRST_PATIENCE = timedelta(minutes=15)
"""Longer than any wait of a probe in a queue that works; other runs may be ahead of it, though."""


@dataclass(frozen=True)
class Stall:
    """How many outcomes a run had, since when, and how often it was dispatched again since then."""

    recorded: int
    since: datetime
    redispatches: int = 0

    def observe(self, recorded: int, now: datetime) -> "Stall":
        """The same after another look; progress starts it anew."""
        return self if recorded == self.recorded else Stall(recorded, now)

    def is_due(self, now: datetime) -> bool:
        """Whether to dispatch again. The time doubles: the messages may exist, and wait behind those of others."""
        return now - self.since >= FIRST_PATIENCE * (1 << self.redispatches)

    def redispatched(self, now: datetime) -> "Stall":
        return replace(self, since=now, redispatches=self.redispatches + 1)
