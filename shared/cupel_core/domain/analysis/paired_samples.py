"""Pairs the answers of two sides to their common scenarios, from which a comparison is computed.

A case counts if both sides have an answer to it. Repeats are averaged, not paired one by one: the third repeat of one
run has nothing in common with the third of another.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import fsum, sqrt
from statistics import fmean
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import ColumnPair, ComparisonSide, MatchedScenario, SideColumn
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.paired import PairedValues
from cupel_core.domain.statistics import DECISION_CODES, OTHER, Trials


class Incomparable(StrEnum):
    NO_BASELINE = "noBaselineAnswer"
    NO_COMPARISON = "noComparisonAnswer"
    NO_ANSWER = "noAnswer"
    NO_COMMON_CASE = "noCommonPersona"


class CaseTrials(NamedTuple):
    baseline: tuple[Trials, ...]
    comparison: tuple[Trials, ...]

    @property
    def values(self) -> PairedValues:
        return PairedValues(_mean(self.baseline), _mean(self.comparison))

    @property
    def error_variance(self) -> float | None:
        """Return the variance of the difference from the repeats; None unless each side has one column with several."""
        if len(self.baseline) != 1 or len(self.comparison) != 1:
            return None
        (before,), (after,) = self
        if before.variance is None or after.variance is None:
            return None
        return before.variance / before.n + after.variance / after.n


class PairedScenario(NamedTuple):
    id: str
    name: str
    cases: tuple[CaseTrials, ...]

    @property
    def values(self) -> PairedValues:
        if len(self.cases) == 1:
            return self.cases[0].values
        values = [case.values for case in self.cases]
        return PairedValues(*(fmean(side) for side in zip(*values, strict=True)))

    @property
    def standard_error(self) -> float | None:
        variances = [variance for case in self.cases if (variance := case.error_variance) is not None]
        return sqrt(fsum(variances)) / len(self.cases) if len(variances) == len(self.cases) else None

    @property
    def pooled(self) -> tuple[Trials, Trials]:
        before = [trials for case in self.cases for trials in case.baseline]
        after = [trials for case in self.cases for trials in case.comparison]
        return _pool(before), _pool(after)


@dataclass(frozen=True)
class PairedSample:
    pair: ColumnPair
    scenarios: tuple[PairedScenario, ...]
    incomparable: Counter[Incomparable]
    totals: tuple[Cell, Cell]


def paired_sample(
    pair: ColumnPair,
    baseline: ComparisonSide,
    comparison: ComparisonSide,
    common: Iterable[MatchedScenario],
    metric: Metric,
) -> PairedSample:
    scenarios, incomparable = list[PairedScenario](), Counter[Incomparable]()
    totals = (_CellSum(), _CellSum())
    for scenario in common:
        cases = []
        for case in scenario.cases:
            before = _cells(baseline, pair.baseline, case.baseline)
            after = _cells(comparison, pair.comparison, case.comparison)
            totals[0].add(before)
            totals[1].add(after)
            cases.append(CaseTrials(_trials(metric, before), _trials(metric, after)))
        comparable = tuple(case for case in cases if case.baseline and case.comparison)
        if comparable:
            scenarios.append(PairedScenario(scenario.id, scenario.name, comparable))
        else:
            incomparable[_reason(cases)] += 1
    return PairedSample(pair, tuple(scenarios), incomparable, (totals[0].cell, totals[1].cell))


def primary_metric(
    baseline: ComparisonSide, comparison: ComparisonSide, scenarios: Sequence[MatchedScenario]
) -> Metric:
    """Return DECISION if both sides decided anything in the common scenarios, else PASS_RATE."""
    cases = [case for scenario in scenarios for case in scenario.cases]
    before = _has_decisions(baseline, (case.baseline for case in cases))
    after = _has_decisions(comparison, (case.comparison for case in cases))
    return Metric.DECISION if before and after else Metric.PASS_RATE


class _CellSum:
    def __init__(self) -> None:
        self._counts = [0] * len(Cell._fields)

    def add(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            for position, count in enumerate(cell):
                self._counts[position] += count

    @property
    def cell(self) -> Cell:
        return Cell(*self._counts)


def _cells(side: ComparisonSide, columns: Iterable[SideColumn], cases: Iterable[int]) -> list[Cell]:
    first, *others = cases
    cells = [side.cell(column.number, first) for column in columns]
    for case in others:
        cells = [cell.plus(side.cell(column.number, case)) for cell, column in zip(cells, columns, strict=True)]
    return cells


def _trials(metric: Metric, cells: Iterable[Cell]) -> tuple[Trials, ...]:
    return tuple(trials for trials in map(metric.trials, cells) if trials.n)


def _reason(cases: Sequence[CaseTrials]) -> Incomparable:
    if not cases:
        return Incomparable.NO_COMMON_CASE
    has_baseline = any(case.baseline for case in cases)
    has_comparison = any(case.comparison for case in cases)
    if has_baseline == has_comparison:
        return Incomparable.NO_ANSWER
    return Incomparable.NO_COMPARISON if has_baseline else Incomparable.NO_BASELINE


def _has_decisions(side: ComparisonSide, cases: Iterable[tuple[int, ...]]) -> bool:
    return any(cell.decided for numbers in cases for cell in _cells(side, side.columns, numbers))


def _mean(side: Sequence[Trials]) -> float:
    return side[0].total / side[0].n if len(side) == 1 else fmean(trials.total / trials.n for trials in side)


def _pool(side: Sequence[Trials]) -> Trials:
    return side[0] if len(side) == 1 else Trials(*(sum(numbers) for numbers in zip(*side, strict=True)))


class DistributionShift(NamedTuple):
    """Counts decisions of either side. `total_variation` is the share of answers that differ between the
    distributions."""

    baseline: dict[str, int]
    comparison: dict[str, int]
    total_variation: float | None


def distribution_shift(totals: tuple[Cell, Cell]) -> DistributionShift:
    before, after = (dict(zip((*DECISION_CODES, OTHER), cell, strict=False)) for cell in totals)
    first, second = (sum(counts.values()) for counts in (before, after))
    if not (first and second and any(cell.decided for cell in totals)):
        return DistributionShift(before, after, None)
    differences = (abs(after[code] / second - before[code] / first) for code in before)
    return DistributionShift(before, after, sum(differences) / 2)
