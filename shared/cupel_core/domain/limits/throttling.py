"""Decides whether a provider throttles an account, by the share of throttled calls and never by a single one.

Providers answer some calls with 429 at random, whatever the load. Such a call is retried after its own wait; slowing
down the whole account would only waste time. An account that sends too fast is throttled at a much higher share.
"""

from math import comb

from cupel_core.base.deferred import dataclass

THROTTLED_FRACTION = 0.1
"""Retrying this share of the calls costs less than a lower limit."""
SIGNIFICANCE = 0.002
"""The observed throttles must be this improbable for an account with that share: three of three calls are significant,
and 32 of 200, but not one of one or two of four."""
MAX_CALLS = 200
"""More calls would not change the decision, and would delay it when the provider's load changes."""
HALF_LIFE_SECONDS = 10.0


@dataclass(frozen=True)
class RecentCalls:
    """Contains the latest calls of an account; older ones count less. `at` is the Unix time of the last update."""

    calls: float = 0.0
    throttles: float = 0.0
    at: float = 0.0

    def with_calls(self, calls: int, throttles: int, now: float) -> "RecentCalls":
        weight: float = 0.5 ** (max(0.0, now - self.at) / HALF_LIFE_SECONDS)
        total = self.calls * weight + calls
        scale = min(1.0, MAX_CALLS / total) if total else 1.0
        return RecentCalls(total * scale, (self.throttles * weight + throttles) * scale, now)

    @property
    def are_throttled(self) -> bool:
        calls, throttles = round(self.calls), round(self.throttles)
        return throttles > THROTTLED_FRACTION * calls and _probability_of_at_least(throttles, calls) < SIGNIFICANCE


def _probability_of_at_least(throttles: int, calls: int) -> float:
    """Return the upper tail of the binomial distribution with the share THROTTLED_FRACTION."""
    share = THROTTLED_FRACTION
    return sum(
        comb(calls, count) * share**count * (1 - share) ** (calls - count) for count in range(throttles, calls + 1)
    )
