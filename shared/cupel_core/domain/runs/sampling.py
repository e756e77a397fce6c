"""Which scenarios of a definition a run takes: same count, seed and percentage, same scenarios in the same order.

A full Fisher-Yates shuffle under the seed, cut to the percentage: a larger percentage of the same seed begins with the
smaller one, which is what lets a sampled run be expanded.
"""

from random import Random


def sample(count: int, percentage: int, seed: int) -> list[int]:
    """Positions out of 0 … count-1, ascending, at least one.

    Ascending, because neighbours lie in the same page of scenarios: a worker reads a page once, not once a probe.
    """
    return sorted(_drawn(count, seed)[: sample_size(count, percentage)])


def expand(count: int, before: int, after: int, seed: int) -> list[int]:
    """What a sample grows by from one percentage to a larger one, ascending."""
    return sorted(_drawn(count, seed)[sample_size(count, before) : sample_size(count, after)])


def _drawn(count: int, seed: int) -> list[int]:
    order = list(range(count))
    Random(seed).shuffle(order)  # noqa: S311 - reproducible, not secret
    return order


def sample_size(count: int, percentage: int) -> int:
    """At least one scenario, else the percentage rounded down."""
    return max(1, count * percentage // 100)
