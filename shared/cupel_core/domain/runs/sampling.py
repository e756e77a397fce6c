"""Samples a definition's scenarios: the same count, seed and percentage give the same scenarios and order.

The sample is a full Fisher-Yates shuffle by the seed, cut to the percentage: a larger sample of the same seed starts
with the smaller one, so a sampled run can be expanded.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from random import Random

SEED_COUNT = 2**31
"""A seed that is drawn for a run is below this."""


def sample(count: int, percentage: int, seed: int) -> list[int]:
    """Return at least one position out of 0 … count-1, ascending. Neighboring scenarios are in the same page, so in
    ascending order a worker reads a page once, not once per probe."""
    return sorted(_shuffled(count, seed)[: sample_size(count, percentage)])


def expand(count: int, before: int, after: int, seed: int) -> list[int]:
    """Return the positions added when a sample grows from percentage `before` to `after`, ascending."""
    return sorted(_shuffled(count, seed)[sample_size(count, before) : sample_size(count, after)])


def _shuffled(count: int, seed: int) -> list[int]:
    order = list(range(count))
    Random(seed).shuffle(order)  # noqa: S311 - reproducible, not secret
    return order


def sample_size(count: int, percentage: int) -> int:
    """Return the number of sampled scenarios: rounded down, but at least one."""
    return max(1, count * percentage // 100)


def evenly[Item](items: Sequence[Item], count: int) -> list[Item]:
    """Return at most `count` of the items, at equal distances."""
    if len(items) <= count:
        return list(items)
    return [items[number * len(items) // count] for number in range(count)]


def from_few_groups[Item](
    groups: Sequence[Sequence[Item]], sizes: Sequence[float], max_groups: int, count: int
) -> list[Item]:
    """Return about `count` items, from at most `max_groups` of the groups, whose mean is about the mean of all items.

    Ordered by the mean size of their items, the groups are divided into parts of about equal total size, so that a few
    large items count as much as many small ones of the same size together. The group of its middle item represents each
    part, with as many items as the part has of all; if it has fewer, some of them count more than once.
    """
    parts: dict[int, list[Sequence[Item]]] = {}
    total, before = sum(sizes), 0.0
    for size, group in sorted(zip(sizes, groups, strict=True), key=lambda each: each[0] / len(each[1])):
        parts.setdefault(int(max_groups * (before + size / 2) / total), []).append(group)
        before += size
    items = sum(map(len, groups))
    chosen: list[Item] = []
    for part in parts.values():
        ends = list(accumulate(map(len, part)))
        group = part[bisect_right(ends, ends[-1] // 2)]
        wanted = max(1, round(min(count, items) * ends[-1] / items))
        chosen += (group[number * len(group) // wanted] for number in range(wanted))
    return chosen
