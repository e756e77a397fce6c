"""Detects that a run makes no progress although the queue of its provider is never empty."""

from dataclasses import replace
from datetime import datetime, timedelta

from cupel_core.base.deferred import dataclass

FIRST_PATIENCE = timedelta(minutes=15)
"""No probe waits this long in a queue that works, except behind other runs."""


@dataclass(frozen=True)
class Stall:
    """Records how many outcomes a run had, since when, and how often it was dispatched again since then."""

    recorded: int
    since: datetime
    redispatches: int = 0

    def observe(self, recorded: int, now: datetime) -> "Stall":
        """Return the stall after another observation; progress starts a new one."""
        return self if recorded == self.recorded else Stall(recorded, now)

    def is_due(self, now: datetime) -> bool:
        """Return whether to dispatch again. The time doubles, because the messages may exist and wait behind those of
        others."""
        return now - self.since >= FIRST_PATIENCE * (1 << self.redispatches)

    def redispatched(self, now: datetime) -> "Stall":
        return replace(self, since=now, redispatches=self.redispatches + 1)
