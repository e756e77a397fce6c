"""Which scenarios of a definition a run takes: the same count, seed and percentage give the same ones in the same order.

A full Fisher-Yates shuffle under the seed, cut to the percentage: a larger percentage of the same seed begins with the
smaller one, which is what lets a sampled run be expanded.
"""

from random import Random


def sample(count: int, percentage: int, seed: int) -> list[int]:
    """Positions 0 … count-1 in drawn order; at least one, and all of them in order at 100 %... of an unsampled run."""
    order = list(range(count))
    rng = Random(seed)  # noqa: S311 - reproducible, not secret
    for last in range(count - 1, 0, -1):
        other = rng.randrange(last + 1)
        order[last], order[other] = order[other], order[last]
    return order[: sample_size(count, percentage)]


def sample_size(count: int, percentage: int) -> int:
    """At least one scenario, else the percentage rounded down."""
    return max(1, count * percentage // 100)
