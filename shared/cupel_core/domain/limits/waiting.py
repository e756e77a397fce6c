"""Bounds the requests that wait: each takes an execution environment, a process on one machine, until its response."""

from cupel_core.base.deferred import dataclass

RETRY_AFTER_SECONDS = 5
"""A request that may not wait should be repeated after this time."""


@dataclass(frozen=True)
class WaitingLimits:
    per_owner: int
    total: int

    def have_room(self, own: int, used: int) -> bool:
        return own <= self.per_owner and used <= self.total
