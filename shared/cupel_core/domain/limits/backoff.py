"""How long to wait before a model call is tried again."""

from random import Random

RETRIES = 3
BASE_SECONDS = 1.0
CAP_SECONDS = 20.0


def delay_seconds(attempt: int, retry_after: float | None, rng: Random) -> float:
    """The wait after failed attempt 1, 2, … .

    Exponential with full jitter, which spreads callers that failed together furthest apart
    (aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter). When the provider says how long, it is waited
    in full, and the jitter comes on top: all callers were told the same moment.
    """
    if retry_after is None:
        return rng.uniform(0, min(CAP_SECONDS, BASE_SECONDS * 2.0 ** min(attempt - 1, 10)))
    return max(0.0, retry_after) + rng.uniform(0, BASE_SECONDS)
