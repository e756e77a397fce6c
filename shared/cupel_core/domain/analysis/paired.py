"""Paired differences: the same scenarios on two sides. Numbers in, numbers out; None where a figure is undefined."""

from collections.abc import Sequence
from math import ceil, fsum, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from cupel_core.deferred import dataclass
from cupel_core.domain.analysis.distributions import (
    binomial_lower_tail,
    binomial_probability,
    t_quantile,
    t_two_sided_p,
    t_upper_tail,
)
from cupel_core.domain.analysis.estimates import MIN_SCENARIOS
from cupel_core.domain.statistics import Interval, standard_error

POWER = 0.80
"""The chance with which a minimum detectable effect is detected, as is customary."""
_ROUNDING = 1e-12
"""Differences of means of whole numbers that are closer than this are equal."""


class PairedValues(NamedTuple):
    """The values of one scenario."""

    baseline: float
    comparison: float

    @property
    def difference(self) -> float:
        difference = self.comparison - self.baseline
        return 0.0 if abs(difference) < _ROUNDING else difference


@dataclass(frozen=True)
class PairedEstimate:
    """The mean of the differences, each scenario counting once, and how well it is known."""

    scenarios: int
    difference: float | None = None
    standard_error: float | None = None
    interval: Interval | None = None
    """Student's t with one degree of freedom less than scenarios."""
    equivalence_interval: Interval | None = None
    """Of level 1 - 2 alpha: the sides are equivalent if it lies within the margin (two one-sided tests)."""
    p: float | None = None
    effect_size: float | None = None
    """The difference in standard deviations of scenarios; None if all scenarios have the same value."""


def paired_estimate(values: Sequence[PairedValues], alpha: float) -> PairedEstimate:
    """Student's paired t. With differences that are all equal, p is 1 if they are zero and undefined otherwise."""
    if not values:
        return PairedEstimate(0)
    differences = [pair.difference for pair in values]
    mean, error, size = fmean(differences), standard_error(differences), effect_size(values)
    if error is None or len(values) < MIN_SCENARIOS:
        return PairedEstimate(len(values), mean, error, effect_size=size)
    if error < _ROUNDING:
        if mean:
            return PairedEstimate(len(values), mean, 0.0, effect_size=size)
        return PairedEstimate(len(values), 0.0, 0.0, Interval(0, 0), Interval(0, 0), 1.0, size)
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


def mcnemar_mid_p(gained: int, lost: int) -> float:
    """Of single pass/fail trials per scenario: those passed on one side only are as likely on either side.

    The mid-p form counts half of the observed outcome (Fagerland, Lydersen and Laake 2013); the exact test is too
    conservative with few discordant scenarios.
    """
    fewer, discordant = min(gained, lost), gained + lost
    if not discordant:
        return 1.0
    tail = binomial_lower_tail(fewer, discordant, 0.5)
    return min(1.0, 2 * tail - binomial_probability(fewer, discordant, 0.5))


def effect_size(values: Sequence[PairedValues]) -> float | None:
    """The mean difference in units of the scenarios' spread on both sides (Cohen's d with the average variance)."""
    if len(values) < 2:
        return None
    spread = variance(pair.baseline for pair in values) + variance(pair.comparison for pair in values)
    mean = fsum(pair.difference for pair in values) / len(values)
    return mean / sqrt(spread / 2) if spread > _ROUNDING else None


def minimum_detectable_effect(standard_error: float, scenarios: int, alpha: float, tests: int = 1) -> float:
    """The least true difference that one of so many tests had an 80 % chance to detect."""
    df = scenarios - 1
    return (t_quantile(1 - alpha / (2 * tests), df) + t_quantile(POWER, df)) * standard_error


def scenarios_needed(effect: float, detectable_effect: float, scenarios: int) -> int:
    """About how many scenarios would detect `effect`: the error falls with the root of their number."""
    return ceil(scenarios * (detectable_effect / effect) ** 2)


def equivalence_p(difference: float, standard_error: float, scenarios: int, margin: float) -> float:
    """The larger p of two one-sided tests: that the difference is below the margin, and above minus the margin."""
    if not standard_error:
        return 0.0 if abs(difference) < margin else 1.0
    return t_upper_tail((margin - abs(difference)) / standard_error, scenarios - 1)


def _interval(center: float, reach: float) -> Interval:
    return Interval(center - reach, center + reach)
