"""How many scenarios and repeats a comparison needs to detect a difference: planned before a run.

The variance of a scenario's difference has two parts: how much scenarios differ in what changes, which only more
scenarios average out, and the noise of single answers, which repeats average out too.
"""

from collections.abc import Iterable, Iterator
from math import ceil, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import normal_quantile
from cupel_core.domain.analysis.estimates import MIN_SCENARIOS
from cupel_core.domain.analysis.metrics import Trials
from cupel_core.domain.analysis.paired import POWER, minimum_detectable_effect

MAX_SCENARIOS = 1_000_000
"""More are not searched for."""
REPEATS = (1, 2, 3, 5, 10)


class DifferenceVariance(NamedTuple):
    between: float
    """Of the scenarios' true differences."""
    within: float
    """Of single answers, of both sides together."""

    def of_difference(self, repeats: int) -> float:
        return self.between + self.within / repeats


class PlannedRun(NamedTuple):
    repeats: int
    scenarios: int | None
    """None if more than MAX_SCENARIOS would be needed."""

    @property
    def probes(self) -> int | None:
        """Per target, without personas."""
        return None if self.scenarios is None else self.scenarios * self.repeats


class PairedTrials(NamedTuple):
    """The answers of two sides to one scenario."""

    baseline: Trials
    comparison: Trials


def variance_of(scenarios: Iterable[PairedTrials]) -> DifferenceVariance | None:
    """From two targets, or two runs, of an earlier time. None for fewer than MIN_SCENARIOS.

    Without repeats, the noise cannot be told from the scenarios' differences; then repeats are planned to help nothing.
    """
    pairs = [pair for pair in scenarios if pair.baseline.n and pair.comparison.n]
    if len(pairs) < MIN_SCENARIOS:
        return None
    means = [(pair.comparison.mean or 0.0) - (pair.baseline.mean or 0.0) for pair in pairs]
    total = variance(means)
    noise = [(before, after) for before, after in pairs if before.n > 1 and after.n > 1]
    if not noise:
        return DifferenceVariance(total, 0.0)
    within = fmean((before.variance or 0.0) + (after.variance or 0.0) for before, after in noise)
    of_means = fmean(_error_variance(before) + _error_variance(after) for before, after in noise)
    return DifferenceVariance(max(0.0, total - of_means), within)


def plan_runs(
    effect: float, differences: DifferenceVariance, alpha: float = 0.05, tests: int = 1
) -> Iterator[PlannedRun]:
    """For each number of repeats, the least number of scenarios that detects the effect with a chance of 80 %."""
    for repeats in REPEATS:
        yield PlannedRun(repeats, scenarios_for(effect, sqrt(differences.of_difference(repeats)), alpha, tests))


def scenarios_for(effect: float, spread: float, alpha: float, tests: int) -> int | None:
    """The least number of scenarios for differences with this standard deviation; at least MIN_SCENARIOS."""
    z = normal_quantile(1 - alpha / (2 * tests)) + normal_quantile(POWER)
    scenarios = max(MIN_SCENARIOS, ceil((z * spread / effect) ** 2))
    while scenarios <= MAX_SCENARIOS:
        if minimum_detectable_effect(spread / sqrt(scenarios), scenarios, alpha, tests) <= effect:
            return scenarios
        scenarios += 1
    return None


def _error_variance(trials: Trials) -> float:
    """Of the mean of a scenario's answers."""
    return (trials.variance or 0.0) / trials.n
