"""Computes the estimates of several runs by group, from the same counts as the estimates of one run.

The scenario stays the unit: results of one scenario in several runs, targets or prompts of a group are added up.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.estimates import GroupEstimate, group_estimate
from cupel_core.domain.analysis.matrix import CellMatrix, ScenarioRow
from cupel_core.domain.runs.plan import Column


class GroupBy(StrEnum):
    RUN = "run"
    MODEL = "model"
    TARGET = "target"
    PROMPT = "prompt"


@dataclass(frozen=True)
class AggregateSpec:
    run_ids: tuple[str, ...]
    group_by: tuple[GroupBy, ...] = ()
    dimensions: tuple[str, ...] = ()
    """Rows are also grouped by the scenarios' scores in these dimensions."""
    target: str | None = None
    prompt_id: str | None = None
    levels: Mapping[str, float] = field(default_factory=dict)
    """Only scenarios with exactly these scores, by dimension, are counted."""


class AggregateKey(NamedTuple):
    """Identifies the group of a row; a field is None unless rows are grouped by it."""

    run_id: str | None
    model: str | None
    target_id: str | None
    prompt_id: str | None
    levels: tuple[float | None, ...]
    """The scores are in the order of `AggregateSpec.dimensions`; None stands for scenarios without a score."""


class AggregateRow(NamedTuple):
    key: AggregateKey
    runs: int
    estimate: GroupEstimate


@dataclass
class Aggregation:
    spec: AggregateSpec
    _cells: dict[AggregateKey, dict[str, Cell]] = field(default_factory=dict)
    _runs: dict[AggregateKey, set[str]] = field(default_factory=dict)
    _others: dict[AggregateKey, int] = field(default_factory=dict)

    def add(self, run_id: str, columns: Iterable[tuple[int, Column]], matrix: CellMatrix) -> None:
        positions = [_position(matrix, name) for name in self.spec.dimensions]
        wanted = [(_position(matrix, name), score) for name, score in self.spec.levels.items()]
        rows = [
            (number, row)
            for number, row in enumerate(matrix.scenarios)
            if all(_score(row, position) == score for position, score in wanted)
        ]
        for number, column in columns:
            cells = matrix.columns[number]
            for scenario, row in rows:
                levels = tuple(_score(row, position) for position in positions)
                self._count(run_id, self._key(run_id, column, levels), row.id, cells[scenario])

    def rows(self) -> list[AggregateRow]:
        """Return the rows in the order in which runs were added, then by target and prompt, then by ascending level."""
        keys = sorted(self._cells, key=self._position)
        return [
            AggregateRow(key, len(self._runs[key]), group_estimate(Counter(self._cells[key].values()))) for key in keys
        ]

    def _position(self, key: AggregateKey) -> tuple[int, list[tuple[bool, float]]]:
        others = self._others[key._replace(levels=())]
        return others, [(level is None, level or 0.0) for level in key.levels]

    def _count(self, run_id: str, key: AggregateKey, scenario_id: str, cell: Cell) -> None:
        cells = self._cells.setdefault(key, {})
        before = cells.get(scenario_id)
        cells[scenario_id] = cell if before is None else before.plus(cell)
        self._runs.setdefault(key, set()).add(run_id)
        self._others.setdefault(key._replace(levels=()), len(self._others))

    def _key(self, run_id: str, column: Column, levels: tuple[float | None, ...]) -> AggregateKey:
        by = self.spec.group_by
        return AggregateKey(
            run_id=run_id if GroupBy.RUN in by else None,
            model=column.target.model if GroupBy.MODEL in by else None,
            target_id=column.target.id if GroupBy.TARGET in by else None,
            prompt_id=column.prompt_id if GroupBy.PROMPT in by else None,
            levels=levels,
        )


def _position(matrix: CellMatrix, dimension: str) -> int | None:
    return matrix.dimensions.index(dimension) if dimension in matrix.dimensions else None


def _score(row: ScenarioRow, position: int | None) -> float | None:
    return None if position is None else row.scores[position]
