"""Sampling of a definition's scenarios: the same count, seed and percentage give the same scenarios and order.

A full Fisher-Yates shuffle by the seed, cut to the percentage: a larger sample of the same seed starts with the
smaller one, so a sampled run can be expanded.
"""

from collections.abc import Sequence
from random import Random


def sample(count: int, percentage: int, seed: int) -> list[int]:
    """Positions out of 0 … count-1, ascending, at least one.

    Ascending, because neighboring scenarios are in the same page: a worker then reads a page once, not once per probe.
    """
    return sorted(_shuffled(count, seed)[: sample_size(count, percentage)])


def expand(count: int, before: int, after: int, seed: int) -> list[int]:
    """The positions added when a sample grows from percentage `before` to `after`, ascending."""
    return sorted(_shuffled(count, seed)[sample_size(count, before) : sample_size(count, after)])


def _shuffled(count: int, seed: int) -> list[int]:
    order = list(range(count))
    Random(seed).shuffle(order)  # noqa: S311 - reproducible, not secret
    return order


def sample_size(count: int, percentage: int) -> int:
    """The number of sampled scenarios: rounded down, but at least one."""
    return max(1, count * percentage // 100)


def evenly[Item](items: Sequence[Item], count: int) -> list[Item]:
    """At most so many of the items, at equal distances."""
    if len(items) <= count:
        return list(items)
    return [items[number * len(items) // count] for number in range(count)]
