"""Reads and writes count files, which have all that statistics need of a run's outcomes.

A cell is one column (a target, asked by one prompt) and one case (a scenario with one of its personas, or with none).
Its probes are the repeats, whose indexes are consecutive; its number is the index of its first probe divided by the
repeats, so cells are numbered in the order of the plan. A count file has the cells of consecutive probes and sums per
column. Files of parts of a run add up to the same counts whatever the parts, even if a border divides a cell.

The bytes of a file are deterministic:

    magic (8 bytes), length of the header (4 bytes), header (JSON: first cell, number of cells, sums by column), cells,
    usage

A cell takes 44 bytes, little-endian. Ten 16-bit numbers in the order of `Cell` are enough, because a run has up to
1,000 repeats. After those of all cells, each cell has the three 64-bit sums of `TargetUsage`.
"""

import json
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.analysis.target_usage import TargetUsage, add_sums
from cupel_core.domain.runs.plan import MAX_PROBES, Plan

COUNTS_PER_CELL = 10
BYTES_PER_CELL = 2 * COUNTS_PER_CELL
SUMS_PER_CELL = 3
_USAGE_BYTES = 8 * SUMS_PER_CELL
MAX_HEADER_BYTES = 64_000_000
MAX_FILE_BYTES = MAX_PROBES * (BYTES_PER_CELL + _USAGE_BYTES) + MAX_HEADER_BYTES + 100
"""A larger file is not read."""
VERSION = 4
"""Files of another version have other names and are not read, so their outcomes are counted again."""
_MAGIC = f"CUPELCT{VERSION}".encode()
_PREFIX = Struct("<8sI")
_CODES = {"1": 0, "2": 1, "3": 2, "4": 3, "5": 4}
_OTHER, _ERRORED, _JUDGED, _PASSED, _UNDECIDED = 5, 6, 7, 8, 9


_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, StructError)


class InvalidCountFile(Exception):
    pass


class Cell(NamedTuple):
    code_1: int = 0
    code_2: int = 0
    code_3: int = 0
    code_4: int = 0
    code_5: int = 0
    other: int = 0
    """Number of completed probes without a readable code, although the definition has a decision rule."""
    errored: int = 0
    judged: int = 0
    passed: int = 0
    undecided: int = 0
    """Number of completed probes without a decision, because the definition has no rule or no judge has applied it
    yet."""

    @property
    def codes(self) -> tuple[int, int, int, int, int]:
        return self[:5]

    @property
    def decided(self) -> int:
        return self[0] + self[1] + self[2] + self[3] + self[4]

    @property
    def ruled(self) -> int:
        return self.decided + self.other

    @property
    def completed(self) -> int:
        return self.ruled + self.undecided

    @property
    def code_sum(self) -> int:
        return self[0] + 2 * self[1] + 3 * self[2] + 4 * self[3] + 5 * self[4]

    @property
    def code_squares(self) -> int:
        return self[0] + 4 * self[1] + 9 * self[2] + 16 * self[3] + 25 * self[4]

    @property
    def mean_code(self) -> float | None:
        decided = self.decided
        return self.code_sum / decided if decided else None

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    def plus(self, other: "Cell") -> "Cell":
        return Cell(*(mine + its for mine, its in zip(self, other, strict=True)))


@dataclass
class Counts:
    first_cell: int
    cells: array[int]
    usage: array[int]
    """Each cell has SUMS_PER_CELL numbers, which are the sums of `TargetUsage`."""
    columns: dict[int, ColumnTotals] = field(default_factory=dict)
    """Columns with outcomes have an entry, keyed by their number in the plan."""

    @classmethod
    def empty(cls, cells: range) -> "Counts":
        return cls(
            cells.start, array("H", bytes(BYTES_PER_CELL * len(cells))), array("q", bytes(_USAGE_BYTES * len(cells)))
        )

    @property
    def cell_range(self) -> range:
        return range(self.first_cell, self.first_cell + len(self.cells) // COUNTS_PER_CELL)

    def cell(self, number: int) -> Cell:
        start = (number - self.first_cell) * COUNTS_PER_CELL
        return Cell(*self.cells[start : start + COUNTS_PER_CELL])

    def target_usage(self, number: int) -> TargetUsage:
        start = (number - self.first_cell) * SUMS_PER_CELL
        return TargetUsage(self.cell(number).completed, *self.usage[start : start + SUMS_PER_CELL])

    def column(self, number: int) -> ColumnTotals:
        return self.columns.get(number) or ColumnTotals()

    def add(self, outcome: CountedOutcome, cell: int, column: int) -> None:
        start = (cell - self.first_cell) * COUNTS_PER_CELL
        if not outcome.is_completed:
            self.cells[start + _ERRORED] += 1
        else:
            self.cells[start + (_UNDECIDED if outcome.code is None else _CODES.get(outcome.code, _OTHER))] += 1
            if outcome.success is not None:
                self.cells[start + _JUDGED] += 1
                self.cells[start + _PASSED] += outcome.success
            self._add_usage((cell - self.first_cell) * SUMS_PER_CELL, outcome)
        if (totals := self.columns.get(column)) is None:
            totals = self.columns[column] = ColumnTotals()
        totals.add(outcome)

    def _add_usage(self, start: int, outcome: CountedOutcome) -> None:
        sums = slice(start, start + SUMS_PER_CELL)
        self.usage[sums] = array("q", map(add_sums, self.usage[sums], TargetUsage.of_outcome(outcome)[1:]))

    def merge(self, other: "Counts") -> None:
        """Add the counts of other outcomes. Raises ValueError for cells outside of these."""
        mine, its = self.cell_range, other.cell_range
        if its and (its.start < mine.start or its.stop > mine.stop):
            raise ValueError(f"the cells {its} are not within {mine}")
        start = (its.start - mine.start) * COUNTS_PER_CELL
        stop = start + len(other.cells)
        usage = slice((its.start - mine.start) * SUMS_PER_CELL, (its.stop - mine.start) * SUMS_PER_CELL)
        if any(self.cells[start:stop]):
            for position, number in enumerate(other.cells, start):
                self.cells[position] += number
            self.usage[usage] = array("q", map(add_sums, self.usage[usage], other.usage))
        else:
            self.cells[start:stop] = other.cells
            self.usage[usage] = other.usage
        for column, totals in other.columns.items():
            self.columns.setdefault(column, ColumnTotals()).merge(totals)

    def encode(self) -> bytes:
        header = {
            "firstCell": self.first_cell,
            "cells": len(self.cell_range),
            "columns": {str(number): self.columns[number].to_json() for number in sorted(self.columns)},
        }
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=True).encode()
        cells = _little_endian(self.cells).tobytes() + _little_endian(self.usage).tobytes()
        return _PREFIX.pack(_MAGIC, len(text)) + text + cells

    @classmethod
    def decode(cls, data: bytes) -> "Counts":
        """Parse a count file. Raises InvalidCountFile for anything that `encode` has not returned."""
        try:
            magic, length = _PREFIX.unpack_from(data)
            text, body = data[_PREFIX.size : _PREFIX.size + length], data[_PREFIX.size + length :]
            if magic != _MAGIC or length > MAX_HEADER_BYTES:
                raise InvalidCountFile("it does not start like a count file")
            header = json.loads(text)
            columns = {int(number): ColumnTotals.from_json(sums) for number, sums in header["columns"].items()}
            border = header["cells"] * BYTES_PER_CELL
            if len(body) != border + header["cells"] * _USAGE_BYTES:
                raise InvalidCountFile(f"{len(body)} bytes are not {header['cells']} cells")
            cells, usage = array("H", body[:border]), array("q", body[border:])
            return cls(int(header["firstCell"]), _little_endian(cells), _little_endian(usage), columns)
        except _UNREADABLE as error:
            raise InvalidCountFile(f"it cannot be read: {error}") from error


def _little_endian(cells: array[int]) -> array[int]:
    if sys.byteorder == "big":
        cells = cells[:]
        cells.byteswap()
    return cells


def cells_of(plan: Plan, indexes: range) -> range:
    return range(indexes.start // plan.repeats, -(-indexes.stop // plan.repeats))


def count(plan: Plan, indexes: range, outcomes: Iterable[CountedOutcome]) -> Counts:
    counts = Counts.empty(cells_of(plan, indexes))
    for outcome in outcomes:
        index = outcome.probe_index
        counts.add(outcome, index // plan.repeats, plan.probe(index).column)
    return counts


def total_counts(plan: Plan, parts: Iterable[Counts]) -> Counts:
    """Add the count files of a whole run, in any order. All cells are in memory: 44 bytes each, at most 44 MB."""
    counts = Counts.empty(cells_of(plan, range(plan.total)))
    for part in parts:
        counts.merge(part)
    return counts


class ScenarioCases(NamedTuple):
    """Contains a scenario's position in the run's manifest, and the numbers of its cases (one per persona)."""

    position: int
    cases: tuple[int, ...]


def scenario_cases(positions: Sequence[int]) -> list[ScenarioCases]:
    """Return the scenarios of a run in its order; `positions` has the scenario of each case."""
    cases: dict[int, list[int]] = {}
    for case, position in enumerate(positions):
        cases.setdefault(position, []).append(case)
    return [ScenarioCases(position, tuple(numbers)) for position, numbers in cases.items()]


@dataclass(frozen=True)
class RunCounts:
    """Contains the counts of a whole run, per scenario and column, from which analyses and comparisons are computed.

    `rows` yields, scenario by scenario, a `Cell` for each column. `case_cell` returns one case of one column, for
    callers that pair runs case by case. `totals.column(number)` has the sums of a column.
    """

    plan: Plan
    scenarios: Sequence[ScenarioCases]
    totals: Counts

    def case_cell(self, column: int, case: int) -> Cell:
        return self.totals.cell(cell_number(self.plan, column, case))

    def case_usage(self, column: int, case: int) -> TargetUsage:
        return self.totals.target_usage(cell_number(self.plan, column, case))

    def cell(self, column: int, scenario: ScenarioCases) -> Cell:
        first, *others = self.cells_of_cases(column, scenario)
        for cell in others:
            first = first.plus(cell)
        return first

    def cells_of_cases(self, column: int, scenario: ScenarioCases) -> list[Cell]:
        return [self.case_cell(column, case) for case in scenario.cases]

    def column_cells(self, column: int) -> list[Cell]:
        """Return the cells of a column in the order of `scenarios`; equal cells are the same object."""
        by_case, known = self.cells_by_case(column), dict[Cell, Cell]()
        cells = []
        for _, cases in self.scenarios:
            cell = by_case[cases[0]]
            for case in cases[1:]:
                cell = cell.plus(by_case[case])
            cells.append(known.setdefault(cell, cell))
        return cells

    def cells_by_case(self, column: int) -> list[Cell]:
        """Return the cells of a column by case. Equal cells are the same object, because few differ in a run with few
        repeats."""
        known, cells = dict[bytes, Cell](), list[Cell]()
        for indexes in self.plan.column_ranges(column):
            numbers = cells_of(self.plan, indexes)
            first = (numbers.start - self.totals.first_cell) * COUNTS_PER_CELL
            raw = self.totals.cells[first : first + len(numbers) * COUNTS_PER_CELL].tobytes()
            for start in range(0, len(raw), BYTES_PER_CELL):
                key = raw[start : start + BYTES_PER_CELL]
                if (cell := known.get(key)) is None:
                    cell = known[key] = Cell(*array("H", key))
                cells.append(cell)
        return cells

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield a cell per column of the plan for each of `scenarios`, in their order."""
        return zip(*map(self.column_cells, range(len(self.plan.columns))), strict=True)


def cell_number(plan: Plan, column: int, case: int) -> int:
    columns, first_case = len(plan.columns), 0
    for count_ in plan.segments:
        if case < first_case + count_:
            return first_case * columns + column * count_ + case - first_case
        first_case += count_
    raise IndexError(case)
