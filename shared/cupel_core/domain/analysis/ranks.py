from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt, sumprod
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import chi_squared_upper_tail, t_two_sided_p

_TINY = 1e-12
MIN_PAIRS = 5
"""With fewer pairs, a correlation of ranks is mostly chance."""


class Correlation(NamedTuple):
    """`p` tests the hypothesis of no correlation."""

    value: float
    p: float


class RankTest(NamedTuple):
    """Tests whether the values of several groups have the same ranks (Kruskal and Wallis 1952)."""

    statistic: float
    p: float


def average_ranks(counts: Mapping[float, int]) -> dict[float, float]:
    """Return the rank of each value, given how often it occurs; equal values share the mean of their ranks, from 1."""
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = below + (counts[value] + 1) / 2
        below += counts[value]
    return ranks


def weighted_correlation(first: Sequence[float], second: Sequence[float], weights: Sequence[int]) -> float | None:
    """Return Pearson's correlation of pairs that occur `weights` times; None if either series is constant."""
    count = sum(weights)
    if not count:
        return None
    center_first, center_second = sumprod(weights, first) / count, sumprod(weights, second) / count
    deviations_first = [value - center_first for value in first]
    deviations_second = [value - center_second for value in second]
    weighted = [weight * deviation for weight, deviation in zip(weights, deviations_first, strict=True)]
    spread_second = sumprod(weights, [deviation * deviation for deviation in deviations_second])
    spread = sumprod(weighted, deviations_first) * spread_second
    if spread < _TINY:
        return None
    return max(-1.0, min(1.0, sumprod(weighted, deviations_second) / sqrt(spread)))


def correlation_p(correlation: float, count: int) -> float:
    if abs(correlation) >= 1:
        return 0.0
    df = count - 2
    return t_two_sided_p(correlation * sqrt(df / (1 - correlation**2)), df)


def spearman(first: Sequence[float], second: Sequence[float], weights: Sequence[int]) -> Correlation | None:
    """Return Spearman's rank correlation of pairs that occur `weights` times; None for fewer than MIN_PAIRS."""
    count = sum(weights)
    if count < MIN_PAIRS:
        return None
    rho = weighted_correlation(_ranks(first, weights), _ranks(second, weights), weights)
    return None if rho is None else Correlation(rho, correlation_p(rho, count))


def _ranks(values: Sequence[float], weights: Sequence[int]) -> list[float]:
    counts = Counter[float]()
    if max(weights) == 1:
        counts.update(values)
    else:
        for value, weight in zip(values, weights, strict=True):
            counts[value] += weight
    ranks = average_ranks(counts)
    return [ranks[value] for value in values]


def kruskal_wallis(groups: Iterable[Mapping[float, int]]) -> RankTest | None:
    """Test groups of values, given how often each value occurs; None for one group, or if all values are equal."""
    filled = [group for group in groups if group]
    counts: dict[float, int] = {}
    for group in filled:
        for value, number in group.items():
            counts[value] = counts.get(value, 0) + number
    total = sum(counts.values())
    if len(filled) < 2 or len(counts) < 2:
        return None
    ranks = average_ranks(counts)
    squares = fsum(
        fsum(ranks[value] * number for value, number in group.items()) ** 2 / sum(group.values()) for group in filled
    )
    statistic = 12 * squares / (total * (total + 1)) - 3 * (total + 1)
    ties = sum(number**3 - number for number in counts.values())
    statistic = max(0.0, statistic / (1 - ties / (total**3 - total)))
    return RankTest(statistic, chi_squared_upper_tail(statistic, len(filled) - 1))
