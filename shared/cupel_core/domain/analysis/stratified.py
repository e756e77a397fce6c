"""Tests differences on exactly these scenarios, or cases of one scenario, where only the answers are random.

Answers to different scenarios, or of different personas, are not trials of the same kind, so each scenario or case is a
stratum of its own. The result says nothing about other scenarios, and one scenario is enough if it has repeats.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, fsum, sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import chi_squared_upper_tail, normal_quantile, t_quantile, t_two_sided_p
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval, Trials, wilson_interval

MAX_EXACT_TRIALS = 400
"""The exact test is used for at most this many trials over all strata and both sides; beyond that, the normal
approximation is close."""
_TIE = 1 + 1e-7
"""Probabilities that differ by less are equal but for rounding."""


class Stratum(NamedTuple):
    before: Trials
    after: Trials

    @property
    def difference(self) -> float:
        return self.after.total / self.after.n - self.before.total / self.before.n


class OwnDifference(NamedTuple):
    """Contains the mean of the strata's differences. The other fields are None if the variability of the answers is
    unknown."""

    difference: float
    interval: Interval | None
    p: float | None


def own_difference(metric: Metric, strata: Sequence[Stratum], alpha: float) -> OwnDifference | None:
    """Compare strata in which both sides have trials; None without a stratum."""
    if not strata:
        return None
    difference, p = fsum(each.difference for each in strata) / len(strata), stratified_p(metric, strata)
    if metric.is_rate:
        return OwnDifference(difference, _rate_interval(difference, strata, alpha, p), p)
    error = _welch_error(strata)
    if error is None:
        return OwnDifference(difference, None, p)
    reach = t_quantile(1 - alpha / 2, error.df) * error.of_sum / len(strata)
    return OwnDifference(difference, Interval(difference - reach, difference + reach), p)


def _rate_interval(difference: float, strata: Sequence[Stratum], alpha: float, p: float | None) -> Interval:
    """Return an interval with the variance of Agresti and Coull's rates, which has a width even if all trials pass. It
    contains zero exactly if the test does not reject zero."""
    variance = fsum(_rate_variance(trials) for each in strata for trials in each) / len(strata) ** 2
    reach = normal_quantile(1 - alpha / 2) * sqrt(variance)
    low, high = max(-1.0, difference - reach), min(1.0, difference + reach)
    if p is None or p >= alpha:
        return Interval(min(low, 0.0), max(high, 0.0))
    return Interval(max(low, 0.0), high) if difference > 0 else Interval(low, min(high, 0.0))


def _rate_variance(trials: Trials) -> float:
    rate = (trials.total + 1) / (trials.n + 2)
    return rate * (1 - rate) / trials.n


def stratified_p(metric: Metric, strata: Sequence[Stratum]) -> float | None:
    """Return the two-sided p of no difference in any stratum; None if the trials are too few or all equal."""
    if not strata or any(not trials.n for stratum in strata for trials in stratum):
        return None
    if not metric.is_rate:
        return _welch_p(strata)
    tables = tuple(sorted((each.before.n, each.before.total, each.after.n, each.after.total) for each in strata))
    if sum(before + after for before, _, after, _ in tables) <= MAX_EXACT_TRIALS:
        return _exact_p(tables)
    return _cochran_mantel_haenszel_p(tables)


def _welch_p(strata: Sequence[Stratum]) -> float | None:
    error = _welch_error(strata)
    if error is None:
        return None
    return t_two_sided_p(fsum(each.difference for each in strata) / error.of_sum, error.df)


class _WelchError(NamedTuple):
    of_sum: float
    df: float
    """Satterthwaite's formula gives the degrees of freedom."""


def _welch_error(strata: Sequence[Stratum]) -> _WelchError | None:
    """Return the error of Welch's test over all strata; None if a side has a single trial, or none varies."""
    parts = []
    for trials in (trials for stratum in strata for trials in stratum):
        if trials.variance is None:
            return None
        parts.append((trials.variance / trials.n, trials.n - 1))
    total = fsum(part for part, _ in parts)
    if not total:
        return None
    return _WelchError(sqrt(total), total**2 / fsum(part**2 / freedom for part, freedom in parts))


type _Table = tuple[int, int, int, int]
"""A table has the trials and successes before, then those after."""


@lru_cache(maxsize=10_000)
def _exact_p(tables: tuple[_Table, ...]) -> float:
    """Return the exact conditional p of a common odds ratio of 1 (Mehta, Patel and Gray 1985).

    Given the margins of each table, it is the probability of all sums of successes that are at most as probable as the
    observed one. With one table, it is Fisher's exact test.
    """
    first, law = 0, [1.0]
    for before, passed_before, after, passed_after in tables:
        successes = passed_before + passed_after
        low, high = max(0, successes - after), min(before, successes)
        total = comb(before + after, successes)
        own = [comb(before, x) * comb(after, successes - x) / total for x in range(low, high + 1)]
        first, law = first + low, _convolved(law, own)
    seen = law[sum(passed for _, passed, _, _ in tables) - first]
    return min(1.0, fsum(each for each in law if each <= seen * _TIE))


def _convolved(one: Sequence[float], other: Sequence[float]) -> list[float]:
    sums = [0.0] * (len(one) + len(other) - 1)
    for position, each in enumerate(one):
        for offset, factor in enumerate(other):
            sums[position + offset] += each * factor
    return sums


def _cochran_mantel_haenszel_p(tables: Sequence[_Table]) -> float:
    """Return the p of the Cochran-Mantel-Haenszel test without a continuity correction; 1 if no table has a
    variance."""
    excess = variance = 0.0
    for before, passed_before, after, passed_after in tables:
        total, successes = before + after, passed_before + passed_after
        excess += passed_before - before * successes / total
        variance += before * after * successes * (total - successes) / (total**2 * (total - 1))
    return chi_squared_upper_tail(excess**2 / variance, 1) if variance else 1.0


class TrialDifference(NamedTuple):
    """Contains second minus first; fields are None if the trials are too few, or all equal."""

    difference: float | None
    interval: Interval | None
    p: float | None


def compare_trials(metric: Metric, first: Trials, second: Trials, alpha: float) -> TrialDifference:
    """Compare by Newcombe's interval and Fisher's exact test for rates, and by Welch's t for decisions. The interval
    has the confidence 1 - alpha."""
    if first.mean is None or second.mean is None:
        return TrialDifference(None, None, None)
    difference = second.mean - first.mean
    if metric.is_rate:
        return TrialDifference(difference, newcombe_interval(first, second, alpha), fisher_exact_p(first, second))
    return welch(first, second, alpha)


def welch(first: Trials, second: Trials, alpha: float) -> TrialDifference:
    """Compare the means of two samples whose variances may differ (Welch 1947)."""
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
    """Return the interval of the difference of two proportions from Wilson's intervals of both (Newcombe 1998, method
    10)."""
    z = normal_quantile(1 - alpha / 2)
    before, after = (wilson_interval(sample.total, sample.n, z) for sample in (first, second))
    if before is None or after is None:
        return None
    p, q = first.total / first.n, second.total / second.n
    low = sqrt((q - after.low) ** 2 + (before.high - p) ** 2)
    high = sqrt((after.high - q) ** 2 + (p - before.low) ** 2)
    return Interval(q - p - low, q - p + high)


def fisher_exact_p(first: Trials, second: Trials) -> float:
    """Return the two-sided p: the probability of all tables with these margins that are at most as probable as this
    one."""
    successes, total = first.total + second.total, first.n + second.n
    possible = range(max(0, successes - second.n), min(successes, first.n) + 1)
    ways = {in_first: comb(first.n, in_first) * comb(second.n, successes - in_first) for in_first in possible}
    observed = ways[first.total]
    return sum(number for number in ways.values() if number <= observed) / comb(total, successes)
