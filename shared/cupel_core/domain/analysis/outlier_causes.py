"""Finds why a target agrees less with the others: its opinion differs, or its own repeats vary more."""

from collections.abc import Sequence
from enum import StrEnum
from math import fsum
from statistics import fmean
from typing import NamedTuple

from cupel_core.domain.analysis.matrix import CellMatrix


class OutlierCause(StrEnum):
    OPINION = "opinion"
    NOISE = "noise"
    """The target's repeats vary more than those of the others."""
    UNKNOWN = "unknown"
    """Without repeats, the two causes look alike."""


class _Deviation(NamedTuple):
    squared: float
    noise: float


def outlier_cause(matrix: CellMatrix, column: int) -> OutlierCause:
    """Return the cause with the larger variance.

    The variance of the target's opinion is the mean squared deviation from the others beyond the noise of repeats. The
    other is the variance of its single answers beyond that of the others' answers.
    """
    others = list(matrix.answer_variances)
    own = others.pop(column)
    known = [each for each in others if each is not None]
    if own is None or len(known) < len(others):
        return OutlierCause.UNKNOWN
    deviations = [
        found for number in range(len(matrix.scenarios)) if (found := _deviation(matrix, column, number, own, known))
    ]
    if not deviations:
        return OutlierCause.UNKNOWN
    opinion = fmean(each.squared - each.noise for each in deviations)
    return OutlierCause.NOISE if own - fmean(known) > max(0.0, opinion) else OutlierCause.OPINION


def _deviation(
    matrix: CellMatrix, column: int, scenario: int, own: float, others: Sequence[float]
) -> _Deviation | None:
    """Return None if the target or all others have no answer to the scenario."""
    trials = [matrix.metric.trials(cells[scenario]) for cells in matrix.columns]
    mine = trials.pop(column)
    rest = [(each.total / each.n, variance / each.n) for each, variance in zip(trials, others, strict=True) if each.n]
    if not mine.n or not rest:
        return None
    difference = mine.total / mine.n - fmean(mean for mean, _ in rest)
    return _Deviation(difference**2, own / mine.n + fsum(variance for _, variance in rest) / len(rest) ** 2)
