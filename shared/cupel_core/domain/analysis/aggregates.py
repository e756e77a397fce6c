"""Figures over several runs, grouped: the same estimates as of one run, from the same counts.

The scenario stays the unit: what several runs, targets or prompts of a group made of one scenario is added up.
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
    """What is grouped by what, and which probes count."""

    run_ids: tuple[str, ...]
    group_by: tuple[GroupBy, ...] = ()
    dimensions: tuple[str, ...] = ()
    """Also grouped by the score of scenarios in each of these."""
    target: str | None = None
    """Only this target, by its id or model."""
    prompt_id: str | None = None
    levels: Mapping[str, float] = field(default_factory=dict)
    """Only scenarios with these scores, by dimension."""


class AggregateKey(NamedTuple):
    """What the probes of a row have in common; None for what is not grouped by."""

    run_id: str | None
    model: str | None
    target_id: str | None
    prompt_id: str | None
    levels: tuple[float | None, ...]
    """Of `dimensions`; None of scenarios without a score."""


class AggregateRow(NamedTuple):
    key: AggregateKey
    runs: int
    estimate: GroupEstimate


@dataclass
class Aggregation:
    """Adds up runs, one after another."""

    spec: AggregateSpec
    _cells: dict[AggregateKey, dict[str, Cell]] = field(default_factory=dict)
    """By group and scenario id."""
    _runs: dict[AggregateKey, set[str]] = field(default_factory=dict)
    _others: dict[AggregateKey, int] = field(default_factory=dict)
    """The groups without their levels, numbered in the order in which they come."""

    def add(self, run_id: str, columns: Iterable[tuple[int, Column]], matrix: CellMatrix) -> None:
        """`columns` are those that count, with their numbers."""
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
        """Runs in the order in which they were added, then targets and prompts as there; levels ascending."""
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
