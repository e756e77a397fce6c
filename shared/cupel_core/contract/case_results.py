"""The results of a run by case."""

from typing import Annotated

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.runs.case_results import CaseResults, CellResults


class CellResultsResponse(ColumnFields):
    """Results of one target, asked by one prompt, for a case; counts are of its repeats."""

    missing: int
    """Repeats without an outcome, yet or because the run was cancelled. Example: 0"""
    completed: int
    """Repeats with a transcript. Example: 3"""
    errors: dict[str, int]
    """Errored ones by error code. Example: {}"""
    judged: int
    """Completed ones with a result. Example: 3"""
    passed: int
    """Judged ones that succeeded. Example: 2"""
    mean_score: float | None
    """Mean score of the judged ones, from 0 to 1. Example: 0.66"""
    decisions: dict[str, int]
    """Completed ones by decision code; `other` if the definition has no rule or none was read.

    Example: {"4": 2, "5": 1}
    """
    best: int
    """Repeats whose answer `select-best` or `max-score` found the best. Example: 1"""

    @classmethod
    def of(cls, cell: CellResults) -> "CellResultsResponse":
        """Reading a mapping takes a third of the time of reading attributes, and a page has thousands of cells."""
        return cls(**cls.fields_of_column(cell.column), **vars(cell))


class CaseResultsResponse(ResponseModel):
    """A scenario with one of its personas, or with none."""

    index: int
    """Position among the cases of the run, from 0. Example: 7"""
    scenario_id: Annotated[str, read_from("case.scenario_id")]
    scenario_name: Annotated[str | None, read_from("case.scenario_name")]
    """Null only if the run's snapshot is gone."""
    persona_id: Annotated[str | None, read_from("case.persona_id")]
    persona_name: Annotated[str | None, read_from("case.persona_name")]
    cells: list[CellResultsResponse]
    """Results by target, then by prompt."""

    @classmethod
    def of(cls, row: CaseResults) -> "CaseResultsResponse":
        return cls.from_value(row, cells=[CellResultsResponse.of(cell) for cell in row.cells])


class CaseResultsPage(ResponseModel):
    items: list[CaseResultsResponse]
    next_cursor: str | None
