"""Limits the requests of a caller and of its workspace, over all instances of the authorizer.

The shared bucket is one number, the time at which it will be full again. An instance takes several permits at once, and
a few requests per second without any, so that ordinary callers cost no write. The limit is therefore exceeded by at
most that allowance, once per instance.
"""

from dataclasses import replace
from enum import StrEnum

from cupel_core.base.deferred import dataclass

PERMITS_PER_DRAW = 10
FREE_PER_SECOND = 2.0
FREE_BURST = 5.0
_PERMITS_EXPIRE_AFTER_SECONDS = 10.0


class LimitScope(StrEnum):
    """The values state whose limit a request exceeds. A user of an identity provider counts as a token."""

    TOKEN = "token"  # noqa: S105 - no secret
    WORKSPACE = "workspace"


@dataclass(frozen=True)
class RequestLimit:
    per_second: float
    burst: int

    @property
    def window_seconds(self) -> float:
        """Return how long an empty bucket takes to become full: `burst` requests are allowed per window."""
        return self.burst / self.per_second

    @property
    def draw_seconds(self) -> float:
        """Return by how much a draw postpones the time at which the bucket is full."""
        return min(PERMITS_PER_DRAW, self.burst) / self.per_second


@dataclass(frozen=True)
class LocalPermits:
    """Contains what one instance may still admit of one caller. Times are Unix times."""

    at: float
    free: float = FREE_BURST
    drawn: int = 0
    drawn_at: float = 0.0
    refused_until: float = 0.0

    def refilled(self, now: float) -> "LocalPermits":
        free = min(FREE_BURST, self.free + max(0.0, now - self.at) * FREE_PER_SECOND)
        drawn = self.drawn if now - self.drawn_at < _PERMITS_EXPIRE_AFTER_SECONDS else 0
        return replace(self, at=now, free=free, drawn=drawn)

    def after_request(self) -> "LocalPermits | None":
        if self.drawn > 0:
            return replace(self, drawn=self.drawn - 1)
        return replace(self, free=self.free - 1) if self.free >= 1 else None

    def after_draw(self, limit: RequestLimit, now: float) -> "LocalPermits":
        return replace(self, drawn=min(PERMITS_PER_DRAW, limit.burst), drawn_at=now)

    def after_refusal(self, limit: RequestLimit, now: float) -> "LocalPermits":
        return replace(self, refused_until=now + limit.draw_seconds)
