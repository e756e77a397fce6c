"""Finds scenarios that targets answer differently, and those that one target answers differently in its repeats."""

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from math import fsum
from statistics import fmean
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.matrix import CellMatrix

MAX_LISTED = 100
LARGEST_VARIANCE = {False: 4.0, True: 0.25}
"""Decisions vary most with as many answers of 1 as of 5, and rates with as many passes as failures."""


class ContestedScenario(NamedTuple):
    scenario: int
    variance: float
    range: float
    noise: float | None = None
    """The part of the variance that the columns' repeats alone would cause; None without repeats."""

    @property
    def excess(self) -> float:
        return self.variance - (self.noise or 0.0)


class VariableScenario(NamedTuple):
    scenario: int
    column: int
    variance: float
    """The unbiased variance between the repeats of a case."""


@dataclass(frozen=True)
class Variability:
    consistency: tuple[float | None, ...]
    """1 for a column whose repeats never differ, 0 if they differ as much as they can."""
    most: tuple[VariableScenario, ...]
    least: tuple[VariableScenario, ...]


def contested_scenarios(matrix: CellMatrix, limit: int = MAX_LISTED) -> list[ContestedScenario]:
    """Order scenarios by the variance of the columns' means beyond the noise of repeats. Ties are ordered by range,
    then by the scenario's id."""
    found = (
        made._replace(noise=_noise_of_means(matrix, number))
        for number, means in enumerate(matrix.means_by_scenario())
        if (made := contested(number, means)) is not None
    )
    return nsmallest(limit, found, key=lambda each: (-each.excess, -each.range, matrix.scenarios[each.scenario].id))


def _noise_of_means(matrix: CellMatrix, scenario: int) -> float | None:
    """Return the variance of the columns' means that is expected if all answered alike: the mean of their variances."""
    known = []
    for cells, variance in zip(matrix.columns, matrix.answer_variances, strict=True):
        answers = matrix.metric.trials(cells[scenario]).n
        if answers and variance is None:
            return None
        if answers and variance is not None:
            known.append(variance / answers)
    return fmean(known) if known else None


def contested(number: int, means: Sequence[float | None]) -> ContestedScenario | None:
    """Return None unless two columns have a value."""
    given = [mean for mean in means if mean is not None]
    if len(given) < 2:
        return None
    center = fsum(given) / len(given)
    return ContestedScenario(
        number, fsum((mean - center) ** 2 for mean in given) / (len(given) - 1), max(given) - min(given)
    )


def variability(matrix: CellMatrix) -> Variability | None:
    """Return None without repeats."""
    if matrix.variations is None:
        return None
    ids = [row.id for row in matrix.scenarios]
    return Variability(
        consistency=tuple(_consistency(matrix, column) for column in range(len(matrix.columns))),
        most=tuple(
            nsmallest(MAX_LISTED, _variable(matrix), key=lambda each: (-each.variance, ids[each.scenario], each.column))
        ),
        least=tuple(
            nsmallest(MAX_LISTED, _variable(matrix), key=lambda each: (each.variance, ids[each.scenario], each.column))
        ),
    )


def _variable(matrix: CellMatrix) -> Iterator[VariableScenario]:
    for column, variations in enumerate(matrix.variations or ()):
        for scenario, each in enumerate(variations):
            if each.variance is not None:
                yield VariableScenario(scenario, column, each.variance)


def _consistency(matrix: CellMatrix, column: int) -> float | None:
    variations = (matrix.variations or ())[column]
    variances = [each.variance for each in variations if each.variance is not None]
    largest = LARGEST_VARIANCE[matrix.metric.is_rate]
    return max(0.0, 1 - fmean(variances) / largest) if variances else None
