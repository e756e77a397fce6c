"""Renders the results of a run as a matrix: a row per scenario (and persona), a column per target and prompt.

Cells are words and numbers, so that a failure is recognized without colors.
"""

import csv
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from rich.table import Table
from rich.text import Text

from cupel.counts import count_of
from cupel.exports.tables import spreadsheet_cell
from cupel.json_types import Json
from cupel.markup import escape
from cupel.render import case_title
from cupel.tables import fits, table
from cupel.terminal import NO_VALUE
from cupel_core.domain.text.figures import format_decimal

_ROUNDING = 0.005
"""A mean score that differs less from the share of passed ones is printed as the same number."""


class ResultMatrix(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[Json]

    def texts(self) -> Iterator[list[str]]:
        return ([_markup(cell) for cell in row["cells"]] for row in self.rows)


def matrix_table(matrix: ResultMatrix, width: int | None) -> tuple[Table, list[str]]:
    """Return the table, and lines that explain it. Names of columns that do not fit the width are replaced by
    numbers."""
    named = _table(matrix, [escape(name) for name in matrix.columns])
    if fits(named, width):
        return named, [_LEGEND]
    numbered = _table(matrix, [str(number) for number, _ in enumerate(matrix.columns, 1)])
    return numbered, [*(f"{number}: {name}" for number, name in enumerate(matrix.columns, 1)), _LEGEND]


_LEGEND = (
    "FAIL: at least one repeat failed; 2/3: passed of judged, then the mean score; best: by select-best or max-score"
)


def write_matrix_csv(matrix: ResultMatrix, file: IO[str]) -> None:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["scenario", "scenarioId", "personaId", *map(spreadsheet_cell, matrix.columns)])
    for row, markup in zip(matrix.rows, matrix.texts(), strict=True):
        texts = [Text.from_markup(text, emoji=False).plain for text in markup]
        cells = [case_title(row), row["scenarioId"], row["personaId"], *texts]
        rows.writerow(map(spreadsheet_cell, cells))


def _table(matrix: ResultMatrix, headings: Sequence[str]) -> Table:
    columns = table("scenario", *headings, texts=["scenario"])
    for row, texts in zip(matrix.rows, matrix.texts(), strict=True):
        columns.add_row(escape(case_title(row)), *texts)
    return columns


def _markup(cell: Json) -> str:
    return ", ".join(_parts(cell)) or NO_VALUE


def _parts(cell: Json) -> Iterator[str]:
    errored = sum(cell["errors"].values())
    repeats = cell["missing"] + cell["completed"] + errored
    unjudged = cell["completed"] - cell["judged"]
    if cell["judged"]:
        yield _verdict(cell, repeats)
    if cell["decisions"]:
        yield _decisions(cell["decisions"], repeats)
    if unjudged and (cell["judged"] or not cell["decisions"]):
        yield "not judged" if repeats == 1 else f"{unjudged} not judged"
    if cell["best"]:
        yield "best" if repeats == 1 else f"best {cell['best']}/{repeats}"
    if errored:
        codes = escape(" ".join(cell["errors"]))
        yield f"[red]error {codes}[/red]" if repeats == 1 else f"[red]{count_of(errored, 'error')} {codes}[/red]"
    if cell["missing"] and repeats > 1:
        yield f"{cell['missing']} missing"


def _verdict(cell: Json, repeats: int) -> str:
    judged, passed, score = cell["judged"], cell["passed"], cell["meanScore"]
    word = "pass" if passed == judged else "FAIL"
    counts = f" {passed}/{judged}" if repeats > 1 else ""
    is_told = score is None or abs(score - passed / judged) < _ROUNDING
    colour = "green" if passed == judged else "red"
    return f"[{colour}]{word}{counts}{'' if is_told else f' {format_decimal(score)}'}[/{colour}]"


def _decisions(counts: dict[str, int], repeats: int) -> str:
    """Return `4`, or with repeats `4 ×2 5 ×1`."""
    return " ".join(escape(code) if repeats == 1 else f"{escape(code)} ×{count}" for code, count in counts.items())
