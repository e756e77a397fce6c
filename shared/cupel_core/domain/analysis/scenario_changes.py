"""The scenarios that differ most between two sides."""

from collections.abc import Sequence
from enum import StrEnum
from heapq import nsmallest
from typing import NamedTuple

from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.multiple_testing import benjamini_hochberg
from cupel_core.domain.analysis.paired import PairedValues
from cupel_core.domain.analysis.paired_samples import PairedScenario
from cupel_core.domain.analysis.two_samples import compare_trials

MAX_CHANGES = 10_000
"""Scenarios that are listed per pair of columns."""
MIN_TRIALS = 5
"""On either side, for a test of a single scenario."""


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
    standard_error: float | None
    """None unless each case was answered several times on both sides."""
    p: float | None
    q: float | None
    """Adjusted over all scenarios by Benjamini and Hochberg. None with fewer than MIN_TRIALS trials on a side."""

    @property
    def change(self) -> ChangeDirection:
        return ChangeDirection.of(self.difference)


def order_of(change: ScenarioChange) -> tuple[float, float, bool, str]:
    """Sort the largest differences first; of equal ones the surest, then decreases, which are what is looked for."""
    return -abs(change.difference), 1.0 if change.q is None else change.q, change.difference > 0, change.scenario_id


def most_changed(
    scenarios: Sequence[PairedScenario], values: Sequence[PairedValues], metric: Metric, alpha: float
) -> tuple[ScenarioChange, ...]:
    """`values` are those of the scenarios."""
    p_values = [_p_of_trials(scenario, metric, alpha) for scenario in scenarios]
    q_values = benjamini_hochberg(p_values)

    changes = (
        ScenarioChange(
            scenarios[number].id,
            scenarios[number].name,
            values[number].baseline,
            values[number].comparison,
            values[number].difference,
            scenarios[number].standard_error,
            p_values[number],
            q_values[number],
        )
        for number in range(len(scenarios))
    )
    return tuple(nsmallest(MAX_CHANGES, changes, key=order_of))


def _p_of_trials(scenario: PairedScenario, metric: Metric, alpha: float) -> float | None:
    before, after = scenario.pooled
    if min(before.n, after.n) < MIN_TRIALS:
        return None
    return compare_trials(metric, before, after, alpha).p
