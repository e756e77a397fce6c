"""Finds the scenarios that differ most between two sides.

The largest of many differences are partly large by chance. So scenarios are ordered by the difference that remains
after it is shrunk by the noise of the repeats.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from heapq import nsmallest
from math import fsum
from statistics import fmean
from typing import NamedTuple

from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.multiple_testing import benjamini_hochberg
from cupel_core.domain.analysis.paired import PairedValues
from cupel_core.domain.analysis.paired_samples import PairedScenario
from cupel_core.domain.analysis.stratified import Stratum, stratified_p
from cupel_core.domain.statistics import Trials

MAX_CHANGES = 10_000
MIN_TRIALS = 5
"""A scenario is tested if either side has at least this many trials over all of its cases."""


class ChangeDirection(StrEnum):
    INCREASED = "increased"
    DECREASED = "decreased"
    UNCHANGED = "unchanged"

    @classmethod
    def of(cls, difference: float) -> "ChangeDirection":
        if not difference:
            return cls.UNCHANGED
        return cls.INCREASED if difference > 0 else cls.DECREASED


class ScenarioChange(NamedTuple):
    scenario_id: str
    name: str
    baseline: float
    comparison: float
    difference: float
    shrunken_difference: float | None
    """The difference expected in further repeats; None without repeats."""
    standard_error: float | None
    """None unless each case was answered several times on both sides."""
    p: float | None
    q: float | None
    """P adjusted over all scenarios by Benjamini and Hochberg; None with fewer than MIN_TRIALS trials on a side,
    and for averages of several targets."""

    @property
    def change(self) -> ChangeDirection:
        return ChangeDirection.of(self.difference)


def order_of(change: ScenarioChange) -> tuple[float, float, float, bool, str]:
    """Return a sort key that puts the largest shrunken differences first. Without repeats, the differences themselves
    count. Ties go to the largest and surest difference, then to decreases, which readers look for."""
    shrunken = change.difference if change.shrunken_difference is None else change.shrunken_difference
    q = 1.0 if change.q is None else change.q
    return -abs(shrunken), -abs(change.difference), q, change.difference > 0, change.scenario_id


def most_changed(
    scenarios: Sequence[PairedScenario], values: Sequence[PairedValues], metric: Metric
) -> tuple[ScenarioChange, ...]:
    p_values = [_p_of_trials(scenario, metric) for scenario in scenarios]
    q_values = benjamini_hochberg(p_values)
    shrunken = shrunken_differences([each.difference for each in values], _noise(scenarios))

    changes = (
        ScenarioChange(
            scenarios[number].id,
            scenarios[number].name,
            values[number].baseline,
            values[number].comparison,
            values[number].difference,
            shrunken[number],
            scenarios[number].standard_error,
            p_values[number],
            q_values[number],
        )
        for number in range(len(scenarios))
    )
    return tuple(nsmallest(MAX_CHANGES, changes, key=order_of))


def shrunken_differences(differences: Sequence[float], noise: Sequence[float] | None) -> Sequence[float | None]:
    """Return the expected true difference of each scenario by empirical Bayes (Efron and Morris 1975): d·τ²/(τ² + s²).

    `noise` is the variance s² of each difference, None if it is unknown. True differences are assumed to vary around
    zero with the variance τ², by which the squared differences exceed their noise.
    """
    if noise is None or not differences:
        return [None] * len(differences)
    of_truth = max(0.0, fmean(each**2 - own for each, own in zip(differences, noise, strict=True)))
    return [
        each * of_truth / (of_truth + own) if of_truth else 0.0 for each, own in zip(differences, noise, strict=True)
    ]


def _noise(scenarios: Sequence[PairedScenario]) -> list[float] | None:
    """Return the variance of each scenario's difference due to its repeats; None if no case has repeats on both sides.

    The variance of single answers is pooled over all scenarios of a side, because that of two or three repeats is often
    zero by chance.
    """
    before = _pooled_variance(trials for scenario in scenarios for case in scenario.cases for trials in case.baseline)
    after = _pooled_variance(trials for scenario in scenarios for case in scenario.cases for trials in case.comparison)
    if before is None or after is None:
        return None
    return [
        fsum(_error(case.baseline, before) + _error(case.comparison, after) for case in scenario.cases)
        / len(scenario.cases) ** 2
        for scenario in scenarios
    ]


def _pooled_variance(groups: Iterable[Trials]) -> float | None:
    known = [(each.variance, each.n - 1) for each in groups if each.variance is not None]
    freedom = sum(df for _, df in known)
    return fsum(variance * df for variance, df in known if variance is not None) / freedom if freedom else None


def _error(columns: Sequence[Trials], variance: float) -> float:
    return fsum(variance / each.n for each in columns) / len(columns) ** 2


def _p_of_trials(scenario: PairedScenario, metric: Metric) -> float | None:
    """Test the scenario's cases as strata; None for averages of several targets, which are no repeats either."""
    if any(len(side) != 1 for case in scenario.cases for side in case):
        return None
    strata = [Stratum(case.baseline[0], case.comparison[0]) for case in scenario.cases]
    if min(sum(each.before.n for each in strata), sum(each.after.n for each in strata)) < MIN_TRIALS:
        return None
    return stratified_p(metric, strata)
