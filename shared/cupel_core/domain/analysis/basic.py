"""The basic analysis of a run, computed from its cells and sums alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from math import fsum

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.agreement import Agreement, agreement
from cupel_core.domain.analysis.cautions import Caution, CautionInput, cautions
from cupel_core.domain.analysis.column_totals import MAX_CAUSES, CauseCount, ColumnTotals
from cupel_core.domain.analysis.counts import Cell, RunCounts
from cupel_core.domain.analysis.dimensions import DimensionAnalysis, analyze_dimensions
from cupel_core.domain.analysis.estimates import GroupEstimate, group_estimate
from cupel_core.domain.analysis.extrapolation import GroupExtrapolation, RunSample, extrapolate
from cupel_core.domain.analysis.histograms import Histogram
from cupel_core.domain.analysis.matrix import CellMatrix, ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.outlier_causes import OutlierCause, outlier_cause
from cupel_core.domain.analysis.variability import ContestedScenario, Variability, contested_scenarios, variability
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.role_costs import RoleCost
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, share_interval

ALGORITHM_VERSION = "basic-3"
"""Of these figures: an analysis of an earlier one is stale."""
MAX_VERSIONS = 20


@dataclass(frozen=True)
class WinRate:
    """The win rate of one dimension in one column."""

    dimension: str
    prioritized: int
    """Answers for it: 4 and 5, or 1 and 2."""
    opposed: int
    """Answers for the other dimension."""
    neutral: int
    scenarios: int
    """Scenarios that have a decided answer."""
    rate: float | None
    """Mean over scenarios of the share for it; each scenario counts once. Never 0.5 for want of answers."""
    interval: Interval | None
    """It is Wilson's of 95 %, with the scenarios as trials; None for fewer than MIN_SCENARIOS."""


def win_rates(favors: Mapping[str, str], cells: Mapping[Cell, int]) -> tuple[WinRate, ...]:
    """`favors` has the dimensions that the codes `1` and `5` favor; `cells` say how many scenarios have each cell.

    Empty without `favors`.
    """
    return tuple(
        _win_rate(favors[code], _FOR[code], _FOR[other], cells) for code, other in (("5", "1"), ("1", "5")) if favors
    )


_FOR = {"5": (3, 4), "1": (0, 1)}
"""The positions in a cell of the codes that prioritize the dimension of a code."""


def _win_rate(dimension: str, mine: Iterable[int], others: Iterable[int], cells: Mapping[Cell, int]) -> WinRate:
    decided = [(cell, times) for cell, times in cells.items() if cell.decided]
    scenarios = sum(times for _, times in decided)
    share = fsum(sum(cell[code] for code in mine) / cell.decided * times for cell, times in decided)
    rate = share / scenarios if scenarios else None
    return WinRate(
        dimension=dimension,
        prioritized=sum(cell[code] * times for cell, times in decided for code in mine),
        opposed=sum(cell[code] * times for cell, times in decided for code in others),
        neutral=sum(cell.code_3 * times for cell, times in decided),
        scenarios=scenarios,
        rate=rate,
        interval=None if rate is None or scenarios < MIN_SCENARIOS else share_interval(rate, scenarios, scenarios),
    )


@dataclass(frozen=True)
class AnalysisInput:
    """The inputs of a run's analysis."""

    matrix: CellMatrix
    totals: Sequence[ColumnTotals]
    """By column."""
    names: tuple[str, ...]
    """Of the columns, for people."""
    probes: int
    """That the run has."""
    sample: RunSample
    has_decision_rule: bool = False
    favors: Mapping[str, str] = field(default_factory=dict)
    """The dimensions that the codes `1` and `5` favor; empty if the definition does not say."""
    personas: int = 1
    """The most that a scenario has."""

    @classmethod
    def of(
        cls,
        counts: RunCounts,
        matrix: CellMatrix,
        columns: Sequence[Column],
        content: Content,
        sample: RunSample,
    ) -> "AnalysisInput":
        """`matrix` has the cells of `counts`, with their scenarios."""
        return cls(
            matrix=matrix,
            totals=[counts.totals.column(number) for number in range(len(columns))],
            names=tuple(column.name for column in columns),
            probes=counts.plan.total,
            has_decision_rule=content.decision is not None,
            favors=content.decision.favors if content.decision else {},
            sample=sample,
            personas=max((len(scenario.cases) for scenario in counts.scenarios), default=1),
        )


@dataclass(frozen=True)
class Quantiles:
    """Of the completed probes; within 1 %."""

    mean: float
    p50: int
    p95: int
    p99: int
    max: int

    @classmethod
    def of(cls, histogram: Histogram) -> "Quantiles | None":
        mean, p50, p95 = histogram.mean, histogram.quantile(0.5), histogram.quantile(0.95)
        p99, highest = histogram.quantile(0.99), histogram.maximum
        if mean is None or p50 is None or p95 is None or p99 is None or highest is None:
            return None
        return cls(mean, p50, p95, p99, highest)


@dataclass(frozen=True)
class OperatingFigures:
    """What a column's probes took. Costs are None if no call was made, or if a price is unknown."""

    duration_ms: Quantiles | None
    turns: Quantiles | None
    input_tokens: Quantiles | None
    output_tokens: Quantiles | None
    cost_usd: float | None
    """Of all calls."""
    costs: tuple[RoleCost, ...]
    """It has a cost for each role with calls."""
    model_versions: Mapping[str, int]
    """Answers by version, the most frequent first; at most MAX_VERSIONS."""
    uncertain_usd: float = 0.0
    """Calls without an answer may have cost this much in addition."""

    @classmethod
    def of(cls, totals: ColumnTotals) -> "OperatingFigures":
        histograms = totals.histograms
        return cls(
            duration_ms=Quantiles.of(histograms["durations_ms"]),
            turns=Quantiles.of(histograms["turns"]),
            input_tokens=Quantiles.of(histograms["input_tokens"]),
            output_tokens=Quantiles.of(histograms["output_tokens"]),
            cost_usd=totals.cost_usd,
            costs=totals.role_costs,
            model_versions=dict(totals.model_versions.most_common(MAX_VERSIONS)),
            uncertain_usd=totals.uncertain_usd,
        )


@dataclass(frozen=True)
class ColumnAnalysis:
    """Of one target, asked by one prompt."""

    estimate: GroupEstimate
    extrapolated: GroupExtrapolation | None
    """To all scenarios of the definition; None unless the run is a sample, and every probe has an outcome."""
    unscored: int
    causes: tuple[CauseCount, ...]
    """Why they are unscored, the most frequent first."""
    operations: OperatingFigures
    win_rates: tuple[WinRate, ...]
    consistency: float | None
    outlier_cause: OutlierCause | None
    """It says why the target answers unlike the others; None if it does not."""

    @property
    def is_outlier(self) -> bool:
        return self.outlier_cause is not None


@dataclass(frozen=True)
class BasicAnalysis:
    metric: Metric
    scenarios: Sequence[ScenarioRow]
    overall: GroupEstimate
    """Of all columns together."""
    overall_extrapolated: GroupExtrapolation | None
    columns: tuple[ColumnAnalysis, ...]
    agreement: Agreement | None
    dimensions: tuple[DimensionAnalysis, ...]
    """The strongest first."""
    contested: tuple[ContestedScenario, ...]
    variability: Variability | None
    cautions: tuple[Caution, ...]
    sample: RunSample

    @property
    def estimates(self) -> list[GroupEstimate]:
        return [column.estimate for column in self.columns]


def analyze(given: AnalysisInput) -> BasicAnalysis:
    """The figures of a run, or of its outcomes so far."""
    matrix = given.matrix
    cells = [Counter(column) for column in matrix.columns]
    overall, estimates = group_estimate(Counter(matrix.pooled)), [group_estimate(column) for column in cells]
    dimensions, agreed = analyze_dimensions(matrix), agreement(matrix.columns, matrix.metric)
    varied = variability(matrix)
    outliers = agreed.outliers if agreed else ()
    missing = given.probes - overall.probes
    # The probes that a run has not come to are not missing at random.
    sample = None if missing else given.sample
    return BasicAnalysis(
        metric=matrix.metric,
        scenarios=matrix.scenarios,
        overall=overall,
        overall_extrapolated=extrapolate(overall, sample),
        columns=tuple(
            ColumnAnalysis(
                estimate=estimate,
                extrapolated=extrapolate(estimate, sample),
                unscored=totals.unscored,
                causes=tuple(totals.unscored_causes[:MAX_CAUSES]),
                operations=OperatingFigures.of(totals),
                win_rates=win_rates(given.favors, cells[number]),
                consistency=varied.consistency[number] if varied else None,
                outlier_cause=outlier_cause(matrix, number) if number in outliers else None,
            )
            for number, (estimate, totals) in enumerate(zip(estimates, given.totals, strict=True))
        ),
        agreement=agreed,
        dimensions=dimensions,
        contested=tuple(contested_scenarios(matrix)),
        variability=varied,
        cautions=cautions(
            CautionInput(
                matrix.metric,
                overall,
                estimates,
                dimensions,
                len(matrix.dimensions),
                len(matrix.scenarios),
                missing,
                given.has_decision_rule,
                given.totals,
                agreed,
                given.personas,
            )
        ),
        sample=given.sample,
    )
