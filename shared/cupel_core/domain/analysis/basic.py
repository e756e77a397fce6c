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
"""An analysis that was computed by another version is stale."""
MAX_VERSIONS = 20


@dataclass(frozen=True)
class WinRate:
    dimension: str
    prioritized: int
    """Answers count as prioritizing the dimension with the codes 4 and 5, or 1 and 2."""
    opposed: int
    neutral: int
    scenarios: int
    """Scenarios count if they have a decided answer."""
    rate: float | None
    """The rate is the mean over scenarios of the share of answers that favor the dimension; it is None without
    answers."""
    interval: Interval | None
    """Wilson's 95 % interval takes the scenarios as trials; it is None for fewer than MIN_SCENARIOS."""


def win_rates(favors: Mapping[str, str], cells: Mapping[Cell, int]) -> tuple[WinRate, ...]:
    """Return a win rate for each of the two dimensions that codes favor, or nothing if `favors` is empty. `favors` maps
    the codes `1` and `5` to the dimension that they favor; `cells` has the number of scenarios by cell."""
    return tuple(
        _win_rate(favors[code], _FOR[code], _FOR[other], cells) for code, other in (("5", "1"), ("1", "5")) if favors
    )


_FOR = {"5": (3, 4), "1": (0, 1)}
"""The positions in a cell of the codes that favor the dimension of code 5 or of code 1."""


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
    matrix: CellMatrix
    totals: Sequence[ColumnTotals]
    names: tuple[str, ...]
    probes: int
    sample: RunSample
    has_decision_rule: bool = False
    favors: Mapping[str, str] = field(default_factory=dict)
    """The codes `1` and `5` favor these dimensions; it is empty if the definition does not say."""
    personas: int = 1

    @classmethod
    def of(
        cls,
        counts: RunCounts,
        matrix: CellMatrix,
        columns: Sequence[Column],
        content: Content,
        sample: RunSample,
    ) -> "AnalysisInput":
        """Collect the inputs; `matrix` has the cells of `counts` with their scenarios."""
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
    """Quantiles are over completed probes and accurate within 1 %."""

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
    duration_ms: Quantiles | None
    turns: Quantiles | None
    input_tokens: Quantiles | None
    output_tokens: Quantiles | None
    cost_usd: float | None
    costs: tuple[RoleCost, ...]
    model_versions: Mapping[str, int]
    """The most frequent version comes first, and at most MAX_VERSIONS are counted."""
    uncertain_usd: float = 0.0
    """Calls without an answer may have cost up to this much more."""

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
    estimate: GroupEstimate
    extrapolated: GroupExtrapolation | None
    """Figures are extrapolated to all scenarios of the definition; None unless the run is a sample without missing
    probes."""
    unscored: int
    causes: tuple[CauseCount, ...]
    operations: OperatingFigures
    win_rates: tuple[WinRate, ...]
    consistency: float | None
    outlier_cause: OutlierCause | None

    @property
    def is_outlier(self) -> bool:
        return self.outlier_cause is not None


@dataclass(frozen=True)
class BasicAnalysis:
    metric: Metric
    scenarios: Sequence[ScenarioRow]
    overall: GroupEstimate
    overall_extrapolated: GroupExtrapolation | None
    columns: tuple[ColumnAnalysis, ...]
    agreement: Agreement | None
    dimensions: tuple[DimensionAnalysis, ...]
    contested: tuple[ContestedScenario, ...]
    variability: Variability | None
    cautions: tuple[Caution, ...]
    sample: RunSample

    @property
    def estimates(self) -> list[GroupEstimate]:
        return [column.estimate for column in self.columns]


def analyze(given: AnalysisInput) -> BasicAnalysis:
    matrix = given.matrix
    cells = [Counter(column) for column in matrix.columns]
    overall, estimates = group_estimate(Counter(matrix.pooled)), [group_estimate(column) for column in cells]
    dimensions, agreed = analyze_dimensions(matrix), agreement(matrix.columns, matrix.metric)
    varied = variability(matrix)
    outliers = agreed.outliers if agreed else ()
    missing = given.probes - overall.probes
    # Probes that a run has not reached are not missing at random.
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
