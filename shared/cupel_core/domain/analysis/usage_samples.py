"""Pairs what the target's calls of two sides cost and took in their common scenarios, for ratios.

A case counts if both sides have completed conversations of it whose cost, or time, is known and not 0. Repeats are
averaged first: costs as they are, because what a scenario costs is a mean, and times by their logarithms.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from math import log
from statistics import fmean
from typing import NamedTuple

from cupel_core.domain.analysis.matching import ColumnPair, ComparisonSide, MatchedScenario, SideColumn
from cupel_core.domain.analysis.paired import PairedValues
from cupel_core.domain.analysis.target_usage import TargetUsage


class UsageMeasure(StrEnum):
    COST = "COST"
    TIME = "TIME"


class LeftOut(StrEnum):
    """The values name why a common scenario has no ratio."""

    NOT_COMPLETED = "notCompleted"
    """A side has no completed conversation in common with the other."""
    UNKNOWN = "unknown"
    """A price is not known, or a duration was not measured or is below a millisecond."""
    FREE = "free"
    """The calls of a side cost nothing, so there is no ratio."""


class UsageSample(NamedTuple):
    """The mean logarithms of both sides, by scenario id, and how many common scenarios have none."""

    scenarios: dict[str, PairedValues]
    left_out: Counter[LeftOut]


def usage_sample(
    measure: UsageMeasure,
    pair: ColumnPair,
    baseline: ComparisonSide,
    comparison: ComparisonSide,
    common: Iterable[MatchedScenario],
) -> UsageSample:
    scenarios, left_out = dict[str, PairedValues](), Counter[LeftOut]()
    for scenario in common:
        values, reasons = list[PairedValues](), list[LeftOut]()
        for case in scenario.cases:
            before = _logarithm(measure, baseline, pair.baseline, case.baseline)
            after = _logarithm(measure, comparison, pair.comparison, case.comparison)
            reasons += (each for each in (before, after) if isinstance(each, LeftOut))
            if not isinstance(before, LeftOut) and not isinstance(after, LeftOut):
                values.append(PairedValues(before, after))
        if values:
            scenarios[scenario.id] = _mean(values)
        else:
            left_out[_main_reason(reasons)] += 1
    return UsageSample(scenarios, left_out)


def merged_sample(samples: Sequence[UsageSample]) -> UsageSample:
    """Return each scenario's means over the samples that have it. None of its scenarios is counted as left out."""
    values: dict[str, list[PairedValues]] = {}
    for sample in samples:
        for scenario_id, pair in sample.scenarios.items():
            values.setdefault(scenario_id, []).append(pair)
    return UsageSample({scenario_id: _mean(pairs) for scenario_id, pairs in values.items()}, Counter())


def _logarithm(
    measure: UsageMeasure, side: ComparisonSide, columns: Iterable[SideColumn], cases: Sequence[int]
) -> float | LeftOut:
    """Return the mean over the columns; none of them may be missing, because columns differ in what they take."""
    logarithms = []
    for column in columns:
        total = TargetUsage()
        for case in cases:
            total = total.plus(side.usage(column.number, case))
        found = _OF_USAGE[measure](total)
        if isinstance(found, LeftOut):
            return found
        logarithms.append(found)
    return fmean(logarithms)


def _log_of_cost(usage: TargetUsage) -> float | LeftOut:
    if usage.mean_usd is None:
        return LeftOut.UNKNOWN if usage.completed else LeftOut.NOT_COMPLETED
    return log(usage.mean_usd) if usage.mean_usd else LeftOut.FREE


def _log_of_time(usage: TargetUsage) -> float | LeftOut:
    if usage.mean_log_ms is None:
        return LeftOut.UNKNOWN if usage.completed else LeftOut.NOT_COMPLETED
    return usage.mean_log_ms


_OF_USAGE: dict[UsageMeasure, Callable[[TargetUsage], float | LeftOut]] = {
    UsageMeasure.COST: _log_of_cost,
    UsageMeasure.TIME: _log_of_time,
}


def _main_reason(reasons: Sequence[LeftOut]) -> LeftOut:
    """Return the reason that says most about the scenario; without a common case, nothing is completed in common."""
    return next((each for each in (LeftOut.FREE, LeftOut.UNKNOWN) if each in reasons), LeftOut.NOT_COMPLETED)


def _mean(pairs: Sequence[PairedValues]) -> PairedValues:
    return PairedValues(fmean(pair.baseline for pair in pairs), fmean(pair.comparison for pair in pairs))
