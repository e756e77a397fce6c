from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matrix import CellMatrix, DimensionScores
from cupel_core.domain.analysis.metrics import Metric

type Floats = NDArray[np.float64]
type Numbers = NDArray[np.intp]
type Flags = NDArray[np.bool_]

_DIGITS = 10
"""Numbers are stored with this many significant digits, because the last digits of a sum depend on the processor."""
MIN_SHARE = 0.8
"""A scenario is compared if at least this share of columns decided it. A dimension is used if at least this share of
scenarios has a score in it."""


def to_float(value: float | np.floating) -> float:
    return float(f"{value:.{_DIGITS}g}")


@dataclass(frozen=True)
class AnswerSums:
    """Holds the number of answers, their sum and their sum of squares, each of shape (columns, scenarios)."""

    counts: Floats
    totals: Floats
    squares: Floats
    scores: Floats
    """Scores, as an array of (scenarios, dimensions); NaN for a scenario without a score."""
    dimensions: tuple[str, ...]

    @classmethod
    def of(cls, matrix: CellMatrix) -> "AnswerSums":
        trials = np.stack([_trials(column, matrix.metric) for column in matrix.columns])
        counts, totals, squares = np.ascontiguousarray(np.moveaxis(trials, 2, 0))
        scores = _scores([row.scores for row in matrix.scenarios], len(matrix.dimensions))
        return cls(counts, totals, squares, scores, matrix.dimensions)

    def means(self) -> Floats:
        return np.divide(self.totals, self.counts, out=np.full_like(self.totals, np.nan), where=self.counts > 0)


def _trials(cells: Sequence[Cell], metric: Metric) -> Floats:
    known = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
    table = np.array([metric.trials(cell) for cell in known], dtype=np.float64)
    return table[np.fromiter(map(known.__getitem__, cells), np.intp, len(cells))]


def _scores(rows: Sequence[DimensionScores], dimensions: int) -> Floats:
    known = {scores: number for number, scores in enumerate(dict.fromkeys(rows))}
    table = np.array([[np.nan if each is None else each for each in scores] for scores in known], dtype=np.float64)
    table = table.reshape(len(known), dimensions)
    return table[np.fromiter(map(known.__getitem__, rows), np.intp, len(rows))]


@dataclass(frozen=True)
class CompleteMatrix:
    """Holds the means of the columns for the scenarios that most columns decided; gaps are filled."""

    columns: Numbers
    scenarios: Numbers
    values: Floats
    """An array of (columns, scenarios)."""
    imputed_share: float

    @classmethod
    def of(cls, answers: AnswerSums) -> "CompleteMatrix":
        decided = answers.counts > 0
        columns, scenarios = _comparable(decided)
        values, is_given = answers.means()[np.ix_(columns, scenarios)], decided[np.ix_(columns, scenarios)]
        if not values.size or is_given.all():
            return cls(columns, scenarios, values, 0.0)
        return cls(columns, scenarios, _filled(values, is_given), float(1 - is_given.mean()))


def _comparable(decided: Flags) -> tuple[Numbers, Numbers]:
    """Return the columns with an answer to any scenario that most columns decided, and these scenarios."""
    columns = np.flatnonzero(decided.any(axis=1))
    while True:
        chosen = decided[columns]
        scenarios = np.flatnonzero(chosen.sum(axis=0) >= max(1.0, MIN_SHARE * len(columns)))
        has_answers = chosen[:, scenarios].any(axis=1)
        if has_answers.all():
            return columns, scenarios
        columns = columns[has_answers]


def _filled(values: Floats, is_given: Flags) -> Floats:
    zeroed = np.where(is_given, values, 0.0)
    by_column = zeroed.sum(axis=1) / is_given.sum(axis=1)
    by_scenario = zeroed.sum(axis=0) / is_given.sum(axis=0)
    center = zeroed.sum() / is_given.sum()
    return np.where(is_given, values, by_column[:, None] + by_scenario[None, :] - center)
