"""Implements a token bucket for a limit per minute. Tokens are lent to workers; unused ones are returned."""

from cupel_core.base.deferred import dataclass

BURST_SECONDS = 2.0
"""At most this much of the rate may be used at once, because providers also enforce per-minute limits over shorter
times."""


@dataclass(frozen=True)
class TokenBucket:
    """`level` may be negative: usage beyond a loan is paid off before more is lent. `at` is a Unix time."""

    level: float
    at: float

    def refilled(self, per_minute: float, now: float) -> "TokenBucket":
        gained = max(0.0, now - self.at) * per_minute / 60
        return TokenBucket(min(capacity(per_minute), self.level + gained), max(self.at, now))

    def after_return(self, lent: float, used: float, per_minute: float) -> "TokenBucket":
        """Return the bucket after a worker returned its loan, less what it used."""
        return TokenBucket(min(capacity(per_minute), self.level + lent - used), self.at)

    def after_loan(self, lent: float) -> "TokenBucket":
        return TokenBucket(self.level - lent, self.at)

    def seconds_until(self, amount: float, per_minute: float) -> float:
        return max(0.0, amount - self.level) * 60 / per_minute


def capacity(per_minute: float) -> float:
    """Return the burst size, which is at least one, or a slow limit would never allow a call."""
    return max(1.0, per_minute * BURST_SECONDS / 60)


def full_bucket(per_minute: float, now: float) -> TokenBucket:
    return TokenBucket(capacity(per_minute), now)
