"""Estimates paired differences between two sides with the same scenarios; undefined figures are None."""

from collections import Counter
from collections.abc import Sequence
from math import ceil, fsum, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import (
    binomial_mid_p,
    binomial_upper_bound,
    t_quantile,
    t_two_sided_p,
    t_upper_tail,
)
from cupel_core.domain.analysis.paired_rates import POWER
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, standard_error

_MAX_UNUSUAL = 4
"""The standard error is not relied on if at most this many scenarios, and at most a tenth, differ from the others."""
_ROUNDING = 1e-12
"""Differences of means of whole numbers that are closer than this are equal."""


class PairedValues(NamedTuple):
    baseline: float
    comparison: float

    @property
    def difference(self) -> float:
        difference = self.comparison - self.baseline
        return 0.0 if abs(difference) < _ROUNDING else difference


@dataclass(frozen=True)
class PairedEstimate:
    scenarios: int
    difference: float | None = None
    standard_error: float | None = None
    interval: Interval | None = None
    equivalence_interval: Interval | None = None
    """The level is 1 - 2 alpha: the sides are equivalent if the interval lies within the margin (two one-sided
    tests)."""
    p: float | None = None
    effect_size: float | None = None
    """The difference is in standard deviations of scenarios; it is None if all scenarios have the same value."""
    is_rare: bool = False
    """Nearly all scenarios differ by the same amount, so their standard error says little."""


def paired_estimate(values: Sequence[PairedValues], alpha: float, range_of_values: float) -> PairedEstimate:
    """Compute Student's paired t, or a sign test if hardly any scenario differs from the others. `range_of_values` is
    the largest possible difference between two values."""
    if not values:
        return PairedEstimate(0)
    differences = [pair.difference for pair in values]
    mean, error, size = fmean(differences), standard_error(differences), effect_size(values)
    if error is None or len(values) < MIN_SCENARIOS:
        return PairedEstimate(len(values), mean, error, effect_size=size)
    if (usual := usual_difference(differences)) is not None:
        return _rare_estimate(differences, usual, alpha, range_of_values, size)
    df = len(values) - 1
    return PairedEstimate(
        scenarios=len(values),
        difference=mean,
        standard_error=error,
        interval=_interval(mean, t_quantile(1 - alpha / 2, df) * error),
        equivalence_interval=_interval(mean, t_quantile(1 - alpha, df) * error),
        p=t_two_sided_p(mean / error, df),
        effect_size=size,
    )


def usual_difference(differences: Sequence[float]) -> float | None:
    """Return the difference that nearly all scenarios have; None if there is none."""
    usual, times = Counter(differences).most_common(1)[0]
    is_usual = len(differences) - times <= min(_MAX_UNUSUAL, len(differences) // 10)
    return usual if is_usual else None


def _rare_estimate(
    differences: Sequence[float], usual: float, alpha: float, limit: float, size: float | None
) -> PairedEstimate:
    """Estimate the difference if nearly all scenarios differ by the same amount, so that their spread says little.

    The p is that of a sign test in its mid-p form. The interval allows for as many unusual scenarios as may be unseen,
    which may differ by as much as possible; it ends at zero if the sign test rejects zero.
    """
    signs = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    p, mean = binomial_mid_p(min(signs), sum(signs)), fmean(differences)
    unusual = sum(each != usual for each in differences)

    def interval(level: float) -> Interval:
        share = binomial_upper_bound(unusual, len(differences), level / 2)
        center, reach = (1 - share) * usual, limit * share
        low, high = max(-limit, min(mean, center - reach)), min(limit, max(mean, center + reach))
        if p < level:
            return Interval(max(low, 0.0), high) if mean > 0 else Interval(low, min(high, 0.0))
        return Interval(min(low, 0.0), max(high, 0.0))

    return PairedEstimate(
        scenarios=len(differences),
        difference=mean,
        standard_error=standard_error(differences),
        interval=interval(alpha),
        equivalence_interval=interval(2 * alpha),
        p=p,
        effect_size=size,
        is_rare=True,
    )


def effect_size(values: Sequence[PairedValues]) -> float | None:
    """Return the mean difference in units of the scenarios' spread on both sides (Cohen's d with the average
    variance)."""
    if len(values) < 2:
        return None
    spread = variance(pair.baseline for pair in values) + variance(pair.comparison for pair in values)
    mean = fsum(pair.difference for pair in values) / len(values)
    return mean / sqrt(spread / 2) if spread > _ROUNDING else None


def minimum_detectable_effect(standard_error: float, scenarios: int, alpha: float, tests: int = 1) -> float:
    """Return the least true difference that one of this many tests had an 80 % chance to detect."""
    df = scenarios - 1
    return (t_quantile(1 - alpha / (2 * tests), df) + t_quantile(POWER, df)) * standard_error


def scenarios_needed(effect: float, detectable_effect: float, scenarios: int) -> int:
    """Return about how many scenarios would detect `effect`; the error falls with the root of their number."""
    return ceil(scenarios * (detectable_effect / effect) ** 2)


def equivalence_p(difference: float, standard_error: float, scenarios: int, margin: float) -> float:
    """Return the larger p of two one-sided tests that the difference is below the margin and above minus the margin."""
    return t_upper_tail((margin - abs(difference)) / standard_error, scenarios - 1)


def _interval(center: float, reach: float) -> Interval:
    return Interval(center - reach, center + reach)
