"""Which scenarios of a definition a run takes: same count, seed and percentage, same scenarios in the same order.

A full Fisher-Yates shuffle under the seed, cut to the percentage: a larger percentage of the same seed begins with the
smaller one, which is what lets a sampled run be expanded.
"""

from random import Random


def sample(count: int, percentage: int, seed: int) -> list[int]:
    """Positions 0 … count-1 in drawn order, at least one of them."""
    order = list(range(count))
    Random(seed).shuffle(order)  # noqa: S311 - reproducible, not secret
    return order[: sample_size(count, percentage)]


def sample_size(count: int, percentage: int) -> int:
    """At least one scenario, else the percentage rounded down."""
    return max(1, count * percentage // 100)
