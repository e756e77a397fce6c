"""Plans how many scenarios and repeats a comparison needs to detect a difference.

The variance of a scenario's difference has two parts: how much scenarios differ in what changes, which only more
scenarios average out, and the noise of single answers, which repeats average out too.
"""

from collections.abc import Iterator
from math import ceil, sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import chi_squared_quantile, normal_quantile
from cupel_core.domain.analysis.paired import minimum_detectable_effect
from cupel_core.domain.analysis.paired_rates import POWER
from cupel_core.domain.statistics import MIN_SCENARIOS

MAX_SCENARIOS = 1_000_000
"""The search for the number of scenarios ends here."""
REPEATS = (1, 2, 3, 5, 10)
_PILOT_CONFIDENCE = 0.8


class DifferenceVariance(NamedTuple):
    between: float
    within: float
    """The variance of single answers, of both sides together."""

    def of_difference(self, answers: float) -> float:
        """Return the variance of a scenario's difference if either side has this many answers to it, over all
        personas."""
        return self.between + self.within / answers

    @classmethod
    def split(cls, total: float, within: float, answers: float) -> "DifferenceVariance":
        """Divide a variance that was observed with this many answers of either side to a scenario. Without repeats,
        nothing is known of the noise (`within` is 0); then plans assume that repeats do not help."""
        return cls(max(0.0, total - within / answers), within)

    @classmethod
    def of_pilot(
        cls, total: float, within: float, answers: float, scenarios: int | None = None
    ) -> "DifferenceVariance":
        return cls.split(total if scenarios is None else upper_variance(total, scenarios), within, answers)


def upper_variance(variance: float, scenarios: int) -> float:
    """Return the upper 80 % confidence bound of a variance that was estimated from this many scenarios. A plan from the
    estimate itself has less than its power in about half of all cases (Browne 1995, Statistics in Medicine 14:1933)."""
    df = scenarios - 1
    return variance * df / chi_squared_quantile(1 - _PILOT_CONFIDENCE, df)


def rate_variance(rate: float, effect: float) -> float | None:
    """Return the variance of the difference of two independent answers with pass probabilities `rate` and `rate` ±
    `effect`.

    The sign with the larger variance counts; the result is None if neither gives a probability. Answers of two targets
    to one scenario agree more often than independent ones, which makes the true variance smaller.
    """
    others = [other for other in (rate - effect, rate + effect) if 0 <= other <= 1]
    return max((rate * (1 - rate) + other * (1 - other) for other in others), default=None)


class PlannedRun(NamedTuple):
    repeats: int
    scenarios: int | None
    """None if more than MAX_SCENARIOS would be needed."""

    personas: float = 1.0

    @property
    def probes(self) -> int | None:
        return None if self.scenarios is None else ceil(self.scenarios * self.repeats * self.personas)


def plan_runs(
    effect: float, differences: DifferenceVariance, alpha: float = 0.05, tests: int = 1, personas: float = 1.0
) -> Iterator[PlannedRun]:
    """Yield, for each number of repeats, the least number of scenarios that detects the effect with a chance of 80
    %."""
    for repeats in REPEATS:
        spread = sqrt(differences.of_difference(repeats * personas))
        yield PlannedRun(repeats, scenarios_for(effect, spread, alpha, tests), personas)


def scenarios_for(effect: float, spread: float, alpha: float, tests: int) -> int | None:
    """Return the least number of scenarios, at least MIN_SCENARIOS, for differences with this standard deviation."""
    z = normal_quantile(1 - alpha / (2 * tests)) + normal_quantile(POWER)
    scenarios = max(MIN_SCENARIOS, ceil((z * spread / effect) ** 2))
    while scenarios <= MAX_SCENARIOS:
        if minimum_detectable_effect(spread / sqrt(scenarios), scenarios, alpha, tests) <= effect:
            return scenarios
        scenarios += 1
    return None
