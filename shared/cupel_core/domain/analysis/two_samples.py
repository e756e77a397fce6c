"""Differences between two samples of independent trials, such as the repeats of one scenario in two runs."""

from math import comb, sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import normal_quantile, t_quantile, t_two_sided_p
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval, Trials, wilson_interval


class TrialDifference(NamedTuple):
    """Second minus first. None where the trials are too few, or all equal."""

    difference: float | None
    interval: Interval | None
    p: float | None


def compare_trials(metric: Metric, first: Trials, second: Trials, alpha: float) -> TrialDifference:
    """Newcombe's interval and Fisher's exact test for rates, Welch's t for decisions; the interval has 1 - alpha."""
    if first.mean is None or second.mean is None:
        return TrialDifference(None, None, None)
    difference = second.mean - first.mean
    if metric.is_rate:
        return TrialDifference(difference, newcombe_interval(first, second, alpha), fisher_exact_p(first, second))
    return welch(first, second, alpha)


def welch(first: Trials, second: Trials, alpha: float) -> TrialDifference:
    """Welch (1947): the means of two samples whose variances may differ."""
    if first.mean is None or second.mean is None:
        return TrialDifference(None, None, None)
    difference = second.mean - first.mean
    if first.variance is None or second.variance is None or not first.variance + second.variance:
        return TrialDifference(difference, None, None)
    parts = first.variance / first.n, second.variance / second.n
    error = sqrt(sum(parts))
    df = sum(parts) ** 2 / (parts[0] ** 2 / (first.n - 1) + parts[1] ** 2 / (second.n - 1))
    reach = t_quantile(1 - alpha / 2, df) * error
    return TrialDifference(
        difference, Interval(difference - reach, difference + reach), t_two_sided_p(difference / error, df)
    )


def newcombe_interval(first: Trials, second: Trials, alpha: float) -> Interval | None:
    """Of the difference of two proportions, from Wilson's intervals of both (Newcombe 1998, method 10)."""
    z = normal_quantile(1 - alpha / 2)
    before, after = (wilson_interval(sample.total, sample.n, z) for sample in (first, second))
    if before is None or after is None:
        return None
    p, q = first.total / first.n, second.total / second.n
    low = sqrt((q - after.low) ** 2 + (before.high - p) ** 2)
    high = sqrt((after.high - q) ** 2 + (p - before.low) ** 2)
    return Interval(q - p - low, q - p + high)


def fisher_exact_p(first: Trials, second: Trials) -> float:
    """Two-sided: the probability of all tables with these margins that are at most as probable as this one."""
    successes, total = first.total + second.total, first.n + second.n
    possible = range(max(0, successes - second.n), min(successes, first.n) + 1)
    ways = {in_first: comb(first.n, in_first) * comb(second.n, successes - in_first) for in_first in possible}
    observed = ways[first.total]
    return sum(number for number in ways.values() if number <= observed) / comb(total, successes)
