"""Pairs what the target's calls of two sides cost and took in their common scenarios, for ratios.

Repeats, personas and targets are averaged by their logarithms. A case counts if both sides have completed conversations
of it. A scenario has no ratio if the cost, or the time, of one of these is unknown or 0.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from statistics import fmean
from typing import NamedTuple

from cupel_core.domain.analysis.matching import (
    ColumnPair,
    ComparisonSide,
    MatchedCase,
    MatchedScenario,
    SideColumn,
)
from cupel_core.domain.analysis.paired import PairedValues
from cupel_core.domain.analysis.target_usage import CACHED, TargetUsage


class UsageMeasure(StrEnum):
    COST = "COST"
    TIME = "TIME"


class LeftOut(StrEnum):
    """The values name why a common scenario has no ratio, in descending order of how much they say about it."""

    FREE = "free"
    """A conversation cost nothing, so there is no ratio."""
    CACHED = "cached"
    """An answer came from a cache, so its time was not measured."""
    UNKNOWN = "unknown"
    """A price is unknown, a call without an answer may have been billed, or a duration was not measured or is below 1
    ms."""
    NOT_COMPLETED = "notCompleted"
    """The two sides have no case that both completed."""


class Amount(NamedTuple):
    logarithm: float
    mean: float | None
    """The mean is in dollars; None for times."""


class PairedAmounts(NamedTuple):
    logarithms: PairedValues
    means: PairedValues | None
    """The means are in dollars; None for times."""


class UsageSample(NamedTuple):
    scenarios: dict[str, PairedAmounts]
    left_out: dict[str, LeftOut]

    @property
    def ratio_of_means(self) -> float | None:
        """Return the ratio of the mean costs over the scenarios, each of which counts once; None for times."""
        means = [each.means for each in self.scenarios.values() if each.means]
        before, after = sum(each.baseline for each in means), sum(each.comparison for each in means)
        return after / before if before else None


def usage_sample(
    measure: UsageMeasure,
    pair: ColumnPair,
    baseline: ComparisonSide,
    comparison: ComparisonSide,
    common: Iterable[MatchedScenario],
) -> UsageSample:
    def amounts(case: MatchedCase) -> PairedAmounts | LeftOut:
        before = _amount(measure, baseline, pair.baseline, case.baseline)
        after = _amount(measure, comparison, pair.comparison, case.comparison)
        if LeftOut.NOT_COMPLETED in (before, after):
            return LeftOut.NOT_COMPLETED
        if isinstance(before, LeftOut) or isinstance(after, LeftOut):
            return _main_reason(each for each in (before, after) if isinstance(each, LeftOut))
        return _paired(before, after)

    sample = UsageSample({}, {})
    for scenario in common:
        found = [each for each in map(amounts, scenario.cases) if each is not LeftOut.NOT_COMPLETED]
        reasons = [each for each in found if isinstance(each, LeftOut)]
        if reasons or not found:
            sample.left_out[scenario.id] = _main_reason(reasons)
        else:
            sample.scenarios[scenario.id] = _mean([each for each in found if not isinstance(each, LeftOut)])
    return sample


def merged_sample(samples: Sequence[UsageSample]) -> UsageSample:
    """Return each scenario's means over the samples, for the scenarios that all of them have."""
    merged = UsageSample({}, {})
    for scenario_id in {**samples[0].scenarios, **samples[0].left_out}:
        reasons = [each.left_out[scenario_id] for each in samples if scenario_id in each.left_out]
        if reasons:
            merged.left_out[scenario_id] = _main_reason(reasons)
        else:
            merged.scenarios[scenario_id] = _mean([each.scenarios[scenario_id] for each in samples])
    return merged


def _amount(
    measure: UsageMeasure, side: ComparisonSide, columns: Iterable[SideColumn], cases: Sequence[int]
) -> Amount | LeftOut:
    """Return the mean over the columns; none of them may be missing, because columns differ in cost and time."""
    amounts = []
    for column in columns:
        total = TargetUsage()
        for case in cases:
            total = total.plus(side.usage(column.number, case))
        found = _OF_USAGE[measure](total) if total.completed else LeftOut.NOT_COMPLETED
        if isinstance(found, LeftOut):
            return found
        amounts.append(found)
    means = [each.mean for each in amounts if each.mean is not None]
    return Amount(fmean(each.logarithm for each in amounts), fmean(means) if means else None)


def _cost(usage: TargetUsage) -> Amount | LeftOut:
    if usage.mean_usd is None:
        return LeftOut.UNKNOWN
    return LeftOut.FREE if usage.mean_log_usd is None else Amount(usage.mean_log_usd, usage.mean_usd)


def _time(usage: TargetUsage) -> Amount | LeftOut:
    if usage.mean_log_ms is None:
        return LeftOut.CACHED if usage.pico_log_ms == CACHED else LeftOut.UNKNOWN
    return Amount(usage.mean_log_ms, None)


_OF_USAGE: dict[UsageMeasure, Callable[[TargetUsage], Amount | LeftOut]] = {
    UsageMeasure.COST: _cost,
    UsageMeasure.TIME: _time,
}


def _main_reason(reasons: Iterable[LeftOut]) -> LeftOut:
    """Return the reason that says most about the scenario; without a common case, nothing is completed in common."""
    return min(reasons, key=list(LeftOut).index, default=LeftOut.NOT_COMPLETED)


def _paired(before: Amount, after: Amount) -> PairedAmounts:
    means = None if before.mean is None or after.mean is None else PairedValues(before.mean, after.mean)
    return PairedAmounts(PairedValues(before.logarithm, after.logarithm), means)


def _mean(amounts: Sequence[PairedAmounts]) -> PairedAmounts:
    means = [each.means for each in amounts if each.means]
    return PairedAmounts(_mean_pair([each.logarithms for each in amounts]), _mean_pair(means) if means else None)


def _mean_pair(pairs: Sequence[PairedValues]) -> PairedValues:
    return PairedValues(fmean(pair.baseline for pair in pairs), fmean(pair.comparison for pair in pairs))
