"""Compares two sides scenario by scenario: two runs, or targets or prompts of one run.

The scenario is the unit, because its repeats and personas are not independent. Each scenario counts once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from statistics import fmean
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.cautions import ComparisonCaution, data_cautions, error_cautions, size_cautions
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import (
    ColumnPair,
    ComparisonSide,
    MatchedBy,
    MatchedScenario,
    SideColumn,
    match_scenarios,
    pair_columns,
)
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.operating_differences import OperatingDifferences, SideOperations
from cupel_core.domain.analysis.paired import (
    PairedEstimate,
    PairedValues,
    equivalence_p,
    minimum_detectable_effect,
    paired_estimate,
    scenarios_needed,
)
from cupel_core.domain.analysis.paired_rates import PairCounts, RatePair, count_pairs
from cupel_core.domain.analysis.paired_samples import (
    DistributionShift,
    Incomparable,
    PairedSample,
    PairedScenario,
    distribution_shift,
    paired_sample,
    primary_metric,
)
from cupel_core.domain.analysis.scenario_changes import ChangeDirection, ScenarioChange, most_changed
from cupel_core.domain.analysis.significance import SignificanceTest
from cupel_core.domain.analysis.stratified import OwnDifference, Stratum, compare_trials, own_difference
from cupel_core.domain.analysis.usage_ratios import RowNames, UsageComparison, UsageRatio
from cupel_core.domain.analysis.usage_samples import UsageMeasure
from cupel_core.domain.analysis.verdicts import (
    ComparisonVerdict,
    EffectSize,
    Evidence,
    further_sentences,
    sentence_of,
    verdict_of,
)
from cupel_core.domain.statistics import MIN_SCENARIOS

_CODE_RANGE = 4


@dataclass(frozen=True)
class ComparisonRow:
    baseline: tuple[SideColumn, ...]
    comparison: tuple[SideColumn, ...]
    baseline_mean: float | None
    comparison_mean: float | None
    estimate: PairedEstimate
    test: SignificanceTest
    adjusted_p: float | None
    detectable_effect: float | None
    scenarios_needed: int | None
    """About this many scenarios would detect a difference as large as the margin."""
    equivalence_p: float | None
    changes: dict[ChangeDirection, int]
    incomparable: dict[Incomparable, int]
    shift: DistributionShift
    operations: OperatingDifferences
    cautions: tuple[ComparisonCaution, ...]
    verdict: ComparisonVerdict = ComparisonVerdict.INCONCLUSIVE
    sentence: str = ""
    notes: tuple[str, ...] = ()
    most_changed: tuple[ScenarioChange, ...] = ()
    """The changes descend by absolute difference, then id; at most MAX_CHANGES. It is None for all pairs together."""
    own_difference: OwnDifference | None = None
    """The difference on exactly these scenarios; None for all pairs together."""
    errors_fail_difference: float | None = None
    """The difference of pass rates if errored probes count as failures; None without errors."""
    usage: Mapping[UsageMeasure, UsageRatio] = field(default_factory=dict)

    @property
    def is_substituted(self) -> bool:
        return ColumnPair(self.baseline, self.comparison).is_substituted

    @property
    def effect_size(self) -> EffectSize | None:
        return None if self.estimate.effect_size is None else EffectSize.of(self.estimate.effect_size)


@dataclass(frozen=True)
class ComparisonFigures:
    metric: Metric
    alpha: float
    margin: float
    matched_by: MatchedBy
    common_scenarios: int
    only_baseline: int
    only_comparison: int
    rows: tuple[ComparisonRow, ...]
    overall: ComparisonRow | None
    """The overall row tests each scenario's mean over all pairs; it is None for a single pair."""
    unpaired_baseline: tuple[SideColumn, ...]
    unpaired_comparison: tuple[SideColumn, ...]


class _Levels(NamedTuple):
    metric: Metric
    alpha: float
    margin: float


def compare(
    baseline: ComparisonSide, comparison: ComparisonSide, options: ComparisonOptions | None = None
) -> ComparisonFigures:
    """Compute the figures of a comparison. Raises NotMatchable if the sides have no scenario in common."""
    options = options or ComparisonOptions()
    matched = match_scenarios(baseline.scenarios, comparison.scenarios)
    columns = pair_columns(baseline, comparison)
    metric = options.metric or primary_metric(baseline, comparison, matched.common)
    levels = _Levels(metric, options.alpha, metric.default_margin if options.margin is None else options.margin)
    means, errors_fail_means, sides = _ScenarioMeans(), _ScenarioMeans(), _ComparedSides(baseline, comparison)
    rows = []
    for pair in columns.pairs:
        sample = paired_sample(pair, baseline, comparison, matched.common, metric)
        errors_fail = _sample_with_errors(sample, sides, matched.common, metric)
        means.add(sample)
        errors_fail_means.add(errors_fail or sample)
        row = _row_of(sample, sides, levels, tests=len(columns.pairs))
        rows.append(
            _with_errors_difference(row, [each.values for each in errors_fail.scenarios] if errors_fail else None)
        )
    if len(rows) > 1:
        has_errors = any(row.errors_fail_difference is not None for row in rows)
        overall = means.row(columns.pairs, sides, levels)
        rows.append(_with_errors_difference(overall, errors_fail_means.values if has_errors else None))
    concluded = _with_usage(_with_verdicts(rows, levels), columns.pairs, sides, matched.common, levels.alpha)
    return ComparisonFigures(
        metric=metric,
        alpha=levels.alpha,
        margin=levels.margin,
        matched_by=matched.matched_by,
        common_scenarios=len(matched.common),
        only_baseline=matched.only_baseline,
        only_comparison=matched.only_comparison,
        rows=tuple(concluded[: len(columns.pairs)]),
        overall=concluded[-1] if len(columns.pairs) > 1 else None,
        unpaired_baseline=columns.only_baseline,
        unpaired_comparison=columns.only_comparison,
    )


class _ComparedSides(NamedTuple):
    baseline: ComparisonSide
    comparison: ComparisonSide

    def operations(self, pair: ColumnPair, answers: tuple[Cell, Cell]) -> OperatingDifferences:
        named = zip(self, pair, answers, strict=True)
        return OperatingDifferences(
            *(SideOperations.of((side.totals(each.number) for each in columns), cell) for side, columns, cell in named)
        )


def _row_of(sample: PairedSample, sides: _ComparedSides, levels: _Levels, tests: int) -> ComparisonRow:
    values = [scenario.values for scenario in sample.scenarios]
    pooled = [Stratum(*scenario.pooled) for scenario in sample.scenarios]
    if len(values) == 1:
        test = SignificanceTest.FISHER if levels.metric.is_rate else SignificanceTest.WELCH_T
        tested = _TestedEstimate(_estimate_of_trials(sample.scenarios[0], values[0], levels), test)
    else:
        tested = _paired(values, [(each.before.n, each.after.n) for each in pooled], levels, tests)
    operations = sides.operations(sample.pair, sample.totals)
    row = _row(sample.pair, values, tested, operations, levels)
    return replace(
        row,
        incomparable=dict(sample.incomparable),
        shift=distribution_shift(sample.totals),
        cautions=(*row.cautions, *data_cautions(sample, levels.metric)),
        most_changed=most_changed(sample.scenarios, values, levels.metric),
        own_difference=own_difference(levels.metric, pooled, levels.alpha),
    )


def _sample_with_errors(
    sample: PairedSample, sides: _ComparedSides, common: Sequence[MatchedScenario], metric: Metric
) -> PairedSample | None:
    """Return the sample with errored probes as failures; None if that is the same, or if no pass rates are compared."""
    before, after = sample.totals
    if metric is not Metric.PASS_RATE or not (before.errored or after.errored) or not (before.judged or after.judged):
        return None
    return paired_sample(sample.pair, *sides, common, Metric.PASS_RATE_ERRORS_FAIL)


def _with_errors_difference(row: ComparisonRow, errors_fail: Sequence[PairedValues] | None) -> ComparisonRow:
    """Add the difference with errors; `errors_fail` are the scenarios' pass rates with errored probes as failures."""
    if not errors_fail:
        return row
    difference = fmean(each.difference for each in errors_fail)
    cautions = (*row.cautions, *error_cautions(row.estimate.difference, difference))
    return replace(row, errors_fail_difference=difference, cautions=cautions)


class _TestedEstimate(NamedTuple):
    estimate: PairedEstimate
    test: SignificanceTest
    detectable_effect: float | None = None
    equivalence_p: float | None = None


def _row(
    pair: ColumnPair,
    values: Sequence[PairedValues],
    tested: _TestedEstimate,
    operations: OperatingDifferences,
    levels: _Levels,
) -> ComparisonRow:
    counts = Counter(ChangeDirection.of(each.difference) for each in values)
    estimate, detectable = tested.estimate, tested.detectable_effect
    return ComparisonRow(
        baseline=pair.baseline,
        comparison=pair.comparison,
        baseline_mean=fmean(each.baseline for each in values) if values else None,
        comparison_mean=fmean(each.comparison for each in values) if values else None,
        estimate=estimate,
        test=tested.test,
        adjusted_p=estimate.p,
        detectable_effect=detectable,
        scenarios_needed=_scenarios_needed(estimate, detectable, levels),
        equivalence_p=tested.equivalence_p,
        changes={change: counts[change] for change in ChangeDirection},
        incomparable={},
        shift=DistributionShift({}, {}, None),
        operations=operations,
        cautions=tuple(size_cautions(estimate)),
    )


def _paired(
    values: Sequence[PairedValues], answers: Sequence[tuple[int, int]], levels: _Levels, tests: int
) -> _TestedEstimate:
    """Compare scenarios; `answers` has the number of answers on each side per scenario."""
    estimate = paired_estimate(values, levels.alpha, _CODE_RANGE)
    if estimate.scenarios < MIN_SCENARIOS:
        return _TestedEstimate(
            estimate, SignificanceTest.MCNEMAR if levels.metric.is_rate else SignificanceTest.PAIRED_T
        )
    if levels.metric.is_rate:
        pairs = count_pairs([RatePair(*each, *number) for each, number in zip(values, answers, strict=True)])
        return _rates(pairs, estimate, levels, tests)
    if estimate.is_rare or not estimate.standard_error or estimate.difference is None:
        return _TestedEstimate(estimate, SignificanceTest.SIGN)
    error, scenarios = estimate.standard_error, estimate.scenarios
    return _TestedEstimate(
        estimate,
        SignificanceTest.PAIRED_T,
        minimum_detectable_effect(error, scenarios, levels.alpha, tests),
        equivalence_p(estimate.difference, error, scenarios, levels.margin),
    )


def _rates(pairs: PairCounts, estimate: PairedEstimate, levels: _Levels, tests: int) -> _TestedEstimate:
    """Replace the intervals and the test of `estimate`, which is computed as for decisions, by those for rates."""
    compared = replace(
        estimate,
        interval=pairs.interval(levels.alpha),
        equivalence_interval=pairs.interval(2 * levels.alpha),
        p=pairs.p,
        is_rare=False,
    )
    detectable = pairs.detectable_effect(levels.alpha, tests)
    return _TestedEstimate(compared, SignificanceTest.MCNEMAR, detectable, pairs.equivalence_p(levels.margin))


def _estimate_of_trials(scenario: PairedScenario, values: PairedValues, levels: _Levels) -> PairedEstimate:
    """Estimate the difference of a single scenario, whose trials are the units."""
    before, after = scenario.pooled
    result = compare_trials(levels.metric, before, after, levels.alpha)
    equivalence = compare_trials(levels.metric, before, after, 2 * levels.alpha)
    return PairedEstimate(
        scenarios=1,
        difference=values.difference,
        standard_error=scenario.standard_error,
        interval=result.interval,
        equivalence_interval=equivalence.interval,
        p=result.p,
    )


def _scenarios_needed(estimate: PairedEstimate, detectable: float | None, levels: _Levels) -> int | None:
    if detectable is None or not levels.margin:
        return None
    return scenarios_needed(levels.margin, detectable, estimate.scenarios)


class _ScenarioMeans:
    def __init__(self) -> None:
        self._values: dict[str, list[PairedValues]] = {}
        self._numbers: dict[str, tuple[int, int]] = {}
        self._answers = (Cell(), Cell())

    def add(self, sample: PairedSample) -> None:
        before, after = (mine.plus(its) for mine, its in zip(self._answers, sample.totals, strict=True))
        self._answers = (before, after)
        for scenario in sample.scenarios:
            self._values.setdefault(scenario.id, []).append(scenario.values)
            first, second = self._numbers.get(scenario.id, (0, 0))
            pooled = scenario.pooled
            self._numbers[scenario.id] = first + pooled[0].n, second + pooled[1].n

    @property
    def values(self) -> list[PairedValues]:
        return [
            PairedValues(fmean(each.baseline for each in of_scenario), fmean(each.comparison for each in of_scenario))
            for of_scenario in self._values.values()
        ]

    def row(self, pairs: Sequence[ColumnPair], sides: _ComparedSides, levels: _Levels) -> ComparisonRow:
        values = self.values
        pair = ColumnPair(
            tuple(column for each in pairs for column in each.baseline),
            tuple(column for each in pairs for column in each.comparison),
        )
        tested = _paired(values, list(self._numbers.values()), levels, 1)
        return _row(pair, values, tested, sides.operations(pair, self._answers), levels)


def _with_verdicts(rows: Sequence[ComparisonRow], levels: _Levels) -> list[ComparisonRow]:
    """Adjust the p-values over these rows, and set what follows from them."""
    adjusted = holm([row.estimate.p for row in rows])
    return [_with_verdict(replace(row, adjusted_p=p), levels) for row, p in zip(rows, adjusted, strict=True)]


def _with_verdict(row: ComparisonRow, levels: _Levels) -> ComparisonRow:
    evidence = Evidence(
        metric=levels.metric,
        alpha=levels.alpha,
        margin=levels.margin,
        scenarios=row.estimate.scenarios,
        difference=row.estimate.difference,
        interval=row.estimate.interval,
        equivalence_interval=row.estimate.equivalence_interval,
        p=row.estimate.p,
        adjusted_p=row.adjusted_p,
        detectable_effect=row.detectable_effect,
        scenarios_needed=row.scenarios_needed,
    )
    verdict = verdict_of(evidence)
    return replace(
        row,
        verdict=verdict,
        sentence=sentence_of(verdict, evidence, *_names(row)),
        notes=tuple(further_sentences(evidence, row.own_difference, row.errors_fail_difference)),
    )


def _with_usage(
    rows: Sequence[ComparisonRow],
    pairs: Sequence[ColumnPair],
    sides: _ComparedSides,
    common: Sequence[MatchedScenario],
    alpha: float,
) -> list[ComparisonRow]:
    usage = UsageComparison(pairs, [_names(row) for row in rows], *sides, common, alpha)
    ratios = {measure: usage.ratios(measure) for measure in UsageMeasure}
    return [
        replace(row, usage={measure: of_rows[number] for measure, of_rows in ratios.items()})
        for number, row in enumerate(rows)
    ]


def _names(row: ComparisonRow) -> RowNames:
    return RowNames(_name(row.comparison), _name(row.baseline) if row.is_substituted else "in the baseline")


def _name(columns: Sequence[SideColumn]) -> str:
    return columns[0].name if len(columns) == 1 else f"the mean of {len(columns)} targets"
