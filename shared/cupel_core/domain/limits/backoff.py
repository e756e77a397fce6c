from random import Random

MAX_ATTEMPTS = 4
"""The number counts calls that may be billed; a run or a target may set another one. Requested waits do not count."""
MOST_ATTEMPTS, MOST_DELAY_SECONDS = 10, 60
"""A run or a target may set at most these values."""
BASE_SECONDS = 0.5
"""The first wait is short because most failed calls succeed the next time."""
GROWTH = 3.0
"""The third wait is long enough to outlast a short outage."""
CAP_SECONDS = 20.0
_LEAST_SPREAD_SECONDS = 0.1
"""Callers that were asked to wait for almost no time are spread over this time."""


def delay_seconds(attempt: int, retry_after: float | None, rng: Random, base_seconds: float | None = None) -> float:
    """Return the wait after failed attempt 1, 2, …: at most `base_seconds` after the first, then three times as much
    each.

    The limit grows until CAP_SECONDS or `base_seconds` itself. The wait is exponential with full jitter, which spreads
    callers that failed together furthest apart (aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter). A
    wait that the provider requests is respected in full. All callers got the same time, so up to a quarter of it is
    added, within the bounds of `_LEAST_SPREAD_SECONDS` and BASE_SECONDS: a short wait stays short.
    """
    if retry_after is None:
        base = BASE_SECONDS if base_seconds is None else base_seconds
        return rng.uniform(0, min(max(CAP_SECONDS, base), base * GROWTH ** min(attempt - 1, 10)))
    asked = max(0.0, retry_after)
    return asked + rng.uniform(0, min(BASE_SECONDS, max(_LEAST_SPREAD_SECONDS, asked / 4)))
