"""Analyzes how answers depend on the scores of scenarios: estimates by level, trends, and a ranking of dimensions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum, sqrt

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.distributions import t_quantile, t_two_sided_p
from cupel_core.domain.analysis.estimates import GroupEstimate, group_estimate
from cupel_core.domain.analysis.matrix import CellMatrix, DimensionScores
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.ranks import kruskal_wallis
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval

MAX_LEVELS = 50
"""A dimension with more different scores than this gets a trend but no levels."""
MAX_LEVEL_ESTIMATES = 1_000
"""Over all levels and columns, at most this many estimates are made, so that an analysis fits into a response of 6 MB.
If there were more, single columns have no estimates by level."""
MAX_COLUMN_FIGURES = 3_000
"""Over all dimensions and columns, at most this many figures are computed; further dimensions are not analyzed."""
_TINY = 1e-12


@dataclass(frozen=True)
class Trend:
    """Fits the answers to the scores by least squares; the error is clustered by scenario (CR1, Student's t)."""

    slope: float
    """The slope is in points, or in the share that passes, per unit of the score."""
    correlation: float | None
    standard_error: float
    interval: Interval
    p: float | None
    """None if the answers follow the line exactly."""
    adjusted_p: float | None = None
    """The p-value is adjusted by Holm's method over the dimensions and columns of the run."""


@dataclass(frozen=True)
class LevelEffect:
    eta_squared: float | None
    """The share of the variance between scenarios that lies between levels."""
    statistic: float | None
    p: float | None
    adjusted_p: float | None = None
    """The p-value is adjusted by Holm's method over the dimensions and columns of the run."""


@dataclass(frozen=True)
class DimensionFigures:
    levels: tuple[GroupEstimate, ...]
    """The levels are in the order of the dimension's; it is empty if there are too many, also over all columns
    together."""
    effect: LevelEffect
    trend: Trend | None
    """None for fewer than MIN_SCENARIOS scenarios, or if all have the same score."""


@dataclass(frozen=True)
class DimensionAnalysis:
    name: str
    scenarios: int
    levels: tuple[float, ...]
    """The scores ascend; it is empty for more than MAX_LEVELS."""
    overall: DimensionFigures
    columns: tuple[DimensionFigures, ...]

    @property
    def parts(self) -> tuple[DimensionFigures, ...]:
        """Return the figures of all columns together, then of each, as opposite effects in columns may cancel out."""
        return (self.overall, *self.columns)

    @property
    def strength(self) -> float:
        return max(part.effect.eta_squared or 0.0 for part in self.parts)


type Grouped = Mapping[tuple[DimensionScores, Cell], int]


def analyze_dimensions(matrix: CellMatrix) -> tuple[DimensionAnalysis, ...]:
    scores = [_levels(matrix, number) for number in range(analyzed_dimensions(matrix))]
    listed = _levels_within_limit([tuple(each) if len(each) <= MAX_LEVELS else () for each in scores])
    has_columns = sum(map(len, listed)) * (len(matrix.columns) + 1) <= MAX_LEVEL_ESTIMATES
    overall = matrix.grouped(matrix.pooled)
    columns = [matrix.grouped(cells) for cells in matrix.columns]
    found = [
        DimensionAnalysis(
            name=matrix.dimensions[number],
            scenarios=sum(row.scores[number] is not None for row in matrix.scenarios),
            levels=levels,
            overall=_figures(overall, number, levels, matrix.metric, is_listed=True),
            columns=tuple(_figures(each, number, levels, matrix.metric, is_listed=has_columns) for each in columns),
        )
        for number, levels in enumerate(listed)
    ]
    return tuple(sorted(_adjusted(found), key=lambda each: (-each.strength, each.name)))


def analyzed_dimensions(matrix: CellMatrix) -> int:
    """Return how many of the matrix's dimensions are analyzed; the first in the definition's order are."""
    return min(len(matrix.dimensions), max(1, MAX_COLUMN_FIGURES // len(matrix.columns)))


def _levels(matrix: CellMatrix, number: int) -> list[float]:
    return sorted({score for row in matrix.scenarios if (score := row.scores[number]) is not None})


def _levels_within_limit(levels: Iterable[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Return the levels of each dimension in turn; those that would exceed the limit are replaced by none."""
    listed, total = [], 0
    for each in levels:
        fits = total + len(each) <= MAX_LEVEL_ESTIMATES
        listed.append(each if fits else ())
        total += len(each) * fits
    return listed


def _figures(
    grouped: Grouped, number: int, levels: Sequence[float], metric: Metric, *, is_listed: bool
) -> DimensionFigures:
    by_score: defaultdict[float, Counter[Cell]] = defaultdict(Counter)
    for (scores, cell), times in grouped.items():
        score = scores[number]
        if score is not None:
            by_score[score][cell] += times
    return DimensionFigures(
        levels=tuple(group_estimate(by_score[level]) for level in levels) if is_listed else (),
        effect=_effect([by_score[level] for level in levels], metric),
        trend=_trend(by_score, metric),
    )


def _effect(levels: Iterable[Mapping[Cell, int]], metric: Metric) -> LevelEffect:
    """Compare the means of scenarios, which are independent, unlike answers."""
    groups = [group for level in levels if (group := _means(level, metric))]
    if sum(sum(group.values()) for group in groups) < MIN_SCENARIOS:
        return LevelEffect(None, None, None)
    test = kruskal_wallis(groups)
    if test is None:
        return LevelEffect(_eta_squared(groups), None, None)
    return LevelEffect(_eta_squared(groups), test.statistic, test.p)


def _means(cells: Mapping[Cell, int], metric: Metric) -> Counter[float]:
    means = Counter[float]()
    for cell, times in cells.items():
        mean = metric.trials(cell).mean
        if mean is not None:
            means[mean] += times
    return means


def _eta_squared(groups: Sequence[Mapping[float, int]]) -> float | None:
    """Return None for one level, or if all scenarios have the same mean."""
    sizes = [sum(group.values()) for group in groups]
    means = [fsum(v * n for v, n in group.items()) / size for group, size in zip(groups, sizes, strict=True)]
    center = fsum(mean * size for mean, size in zip(means, sizes, strict=True)) / sum(sizes)
    total = fsum(n * (value - center) ** 2 for group in groups for value, n in group.items())
    if len(groups) < 2 or total < _TINY:
        return None
    between = fsum(size * (mean - center) ** 2 for mean, size in zip(means, sizes, strict=True))
    return min(1.0, between / total)


def _trend(by_score: Mapping[float, Mapping[Cell, int]], metric: Metric) -> Trend | None:
    rows = [
        (score, trials, times)
        for score in sorted(by_score)
        for cell, times in by_score[score].items()
        if (trials := metric.trials(cell)).n
    ]
    scenarios = sum(times for *_, times in rows)
    answers = sum(trials.n * times for _, trials, times in rows)
    if scenarios < MIN_SCENARIOS:
        return None
    center = fsum(score * trials.n * times for score, trials, times in rows) / answers
    mean = sum(trials.total * times for _, trials, times in rows) / answers
    spread = fsum(trials.n * times * (score - center) ** 2 for score, trials, times in rows)
    if spread < _TINY:
        return None
    slope = fsum((score - center) * (trials.total - trials.n * mean) * times for score, trials, times in rows) / spread
    residuals = fsum(
        times * ((score - center) * (trials.total - trials.n * (mean + slope * (score - center)))) ** 2
        for score, trials, times in rows
    )
    correction = scenarios / (scenarios - 1) * (answers - 1) / (answers - 2)
    error = sqrt(correction * residuals) / spread
    variation = fsum(
        times * (trials.squares - 2 * mean * trials.total + trials.n * mean**2) for _, trials, times in rows
    )
    reach = t_quantile(0.975, scenarios - 1) * error
    return Trend(
        slope=slope,
        correlation=max(-1.0, min(1.0, slope * sqrt(spread / variation))) if variation > _TINY else None,
        standard_error=error,
        interval=Interval(slope - reach, slope + reach),
        p=_p_of_slope(slope, error, scenarios - 1),
    )


def _p_of_slope(slope: float, error: float, df: int) -> float | None:
    if error > _TINY:
        return t_two_sided_p(slope / error, df)
    return None if abs(slope) > _TINY else 1.0


def _adjusted(dimensions: Sequence[DimensionAnalysis]) -> list[DimensionAnalysis]:
    """Adjust p-values over all columns together as one family of tests, and over the single columns as another."""
    overall = _adjust([dimension.overall for dimension in dimensions])
    single = iter(_adjust([figures for dimension in dimensions for figures in dimension.columns]))
    return [
        replace(dimension, overall=figures, columns=tuple(next(single) for _ in dimension.columns))
        for dimension, figures in zip(dimensions, overall, strict=True)
    ]


def _adjust(figures: Sequence[DimensionFigures]) -> list[DimensionFigures]:
    effects = holm([each.effect.p for each in figures])
    trends = holm([each.trend.p if each.trend else None for each in figures])
    return [
        replace(
            each,
            effect=replace(each.effect, adjusted_p=effect),
            trend=each.trend and replace(each.trend, adjusted_p=trend),
        )
        for each, effect, trend in zip(figures, effects, trends, strict=True)
    ]
