"""Arranges the cells of a run as a matrix from which its analysis is computed.

It has one row per scenario and one column per target and prompt; the cells of a scenario's personas are added up.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell, RunCounts
from cupel_core.domain.analysis.metrics import Metric

MAX_DIMENSIONS = 50
"""Further dimensions of a run's scenarios are not analyzed."""

type DimensionScores = tuple[float | None, ...]
"""A scenario's scores in the matrix's dimensions; None stands for no score."""


class ScenarioRow(NamedTuple):
    id: str
    name: str
    scores: DimensionScores


class Variation(NamedTuple):
    """Measures how much the repeats of one column and scenario differ. It holds the squared deviations from the means
    of the cases, and the degrees of freedom of their sum."""

    squares: float
    freedom: int

    @property
    def variance(self) -> float | None:
        """Return the unbiased variance; None without a case that has two answers."""
        return self.squares / self.freedom if self.freedom else None


@dataclass(frozen=True)
class CellMatrix:
    scenarios: Sequence[ScenarioRow]
    dimensions: tuple[str, ...]
    columns: Sequence[Sequence[Cell]]
    """The cells are by column, then by scenario."""
    variations: Sequence[Sequence[Variation]] | None
    """The variations of the metric are by column, then by scenario; it is None for a run without repeats."""
    metric: Metric

    @cached_property
    def pooled(self) -> list[Cell]:
        if len(self.columns) == 1:
            return list(self.columns[0])
        intern: dict[Cell, Cell] = {}
        sums = (Cell(*map(sum, zip(*cells, strict=True))) for cells in zip(*self.columns, strict=True))
        return [intern.setdefault(cell, cell) for cell in sums]

    @cached_property
    def answer_variances(self) -> list[float | None]:
        """Return the variance between repeats of a case for each column; None without repeats. It is pooled over all
        scenarios, because the variance of a few repeats is often zero by chance."""
        if self.variations is None:
            return [None] * len(self.columns)
        return [
            Variation(fsum(each.squares for each in column), sum(each.freedom for each in column)).variance
            for column in self.variations
        ]

    def means_by_scenario(self) -> Iterator[tuple[float | None, ...]]:
        return zip(*map(self.means, self.columns), strict=True)

    def means(self, cells: Iterable[Cell]) -> Iterator[float | None]:
        """Yield the value of each cell; equal cells are computed once."""
        known: dict[Cell, float | None] = {}
        for cell in cells:
            if cell not in known:
                known[cell] = self.metric.trials(cell).mean
            yield known[cell]

    def grouped(self, cells: Iterable[Cell]) -> Counter[tuple[DimensionScores, Cell]]:
        """Return how many scenarios have the same scores and cell; with few repeats, there are few combinations."""
        return Counter(zip((row.scores for row in self.scenarios), cells, strict=True))


def primary_metric(columns: Iterable[Iterable[Cell]]) -> Metric:
    decided = any(cell.decided for cells in columns for cell in set(cells))
    return Metric.DECISION if decided else Metric.PASS_RATE


def dimension_names(defined: Iterable[str], scenarios: Iterable[Mapping[str, float]]) -> tuple[str, ...]:
    """Return the dimensions in which scenarios have scores: the definition's in its order, then others by name."""
    found = {name for scores in scenarios for name in scores}
    known = [name for name in dict.fromkeys(defined) if name in found]
    return (*known, *sorted(found - set(known)))[:MAX_DIMENSIONS]


def cell_matrix(counts: RunCounts, scenarios: Sequence[ScenarioRow], dimensions: tuple[str, ...]) -> CellMatrix:
    numbers = range(len(counts.plan.columns))
    columns = [counts.column_cells(number) for number in numbers]
    metric = primary_metric(columns)
    variations = None
    if counts.plan.repeats > 1:
        variations = [_variations(counts, number, columns[number], metric) for number in numbers]
    return CellMatrix(scenarios, dimensions, columns, variations, metric)


def _variations(counts: RunCounts, column: int, cells: Sequence[Cell], metric: Metric) -> list[Variation]:
    return [
        _variation([cell] if len(scenario.cases) == 1 else counts.cells_of_cases(column, scenario), metric)
        for scenario, cell in zip(counts.scenarios, cells, strict=True)
    ]


def _variation(cases: Iterable[Cell], metric: Metric) -> Variation:
    squares, freedom = 0.0, 0
    for cell in cases:
        trials = metric.trials(cell)
        if trials.n > 1:
            squares += (trials.n * trials.squares - trials.total**2) / trials.n
            freedom += trials.n - 1
    return Variation(squares, freedom)
