"""Matrices of cells for tests of figures."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matrix import CellMatrix, ScenarioRow
from cupel_core.domain.analysis.metrics import Metric

type Codes = Sequence[int]
"""The answers of one target to one scenario."""


def cell(codes: Iterable[int]) -> Cell:
    counts = Counter(codes)
    return Cell(*(counts[code] for code in range(1, 6)))


def matrix(answers: Sequence[Sequence[Codes]], scores: Sequence[Sequence[float | None]]) -> CellMatrix:
    """Of answers by target, then by scenario, and the scores of each scenario in the dimensions a, b, c …"""
    dimensions = tuple("abcdefghijklmnopqrstuvwxyz"[: len(scores[0])])
    rows = [ScenarioRow(f"scn_{number:06d}", f"case {number}", tuple(each)) for number, each in enumerate(scores)]
    return CellMatrix(rows, dimensions, [list(map(cell, column)) for column in answers], None, Metric.DECISION)


def ruled(
    rules: Sequence[Callable[..., float]], scores: Sequence[Sequence[float]], repeats: int = 1
) -> list[list[list[int]]]:
    """Answers that follow the rules exactly."""
    return [[[max(1, min(5, round(rule(*each))))] * repeats for each in scores] for rule in rules]
