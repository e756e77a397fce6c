"""The results of a run by case."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.runs.case_results import CaseResults, CellResults


class CellResultsResponse(ColumnFields):
    """What one target, asked by one prompt, made of a case; counts are of its repeats."""

    missing: Annotated[int, Field(description="Without an outcome, yet or because the run was cancelled")]
    completed: Annotated[int, Field(description="With a transcript")]
    errors: Annotated[dict[str, int], Field(description="Errored ones by error code")]
    judged: Annotated[int, Field(description="Completed ones with a result")]
    passed: Annotated[int, Field(description="Judged ones that succeeded")]
    mean_score: Annotated[float | None, Field(description="Of the judged ones, from 0 to 1")]
    decisions: Annotated[
        dict[str, int],
        Field(description="Completed ones by decision code; `other` if the definition has no rule or none was read"),
    ]
    best: Annotated[int, Field(description="Those whose answer `select-best` or `max-score` found the best")]

    @classmethod
    def of(cls, cell: CellResults) -> "CellResultsResponse":
        """Reading a mapping takes a third of the time of reading attributes, and a page has thousands of cells."""
        return cls(**cls.fields_of_column(cell.column), **vars(cell))


class CaseResultsResponse(ResponseModel):
    """A scenario with one of its personas, or with none."""

    index: Annotated[int, Field(description="Position among the cases of the run, from 0")]
    scenario_id: Annotated[str, read_from("case.scenario_id")]
    scenario_name: Annotated[
        str | None, Field(description="Null only if the run's snapshot is gone"), read_from("case.scenario_name")
    ]
    persona_id: Annotated[str | None, read_from("case.persona_id")]
    persona_name: Annotated[str | None, read_from("case.persona_name")]
    cells: Annotated[list[CellResultsResponse], Field(description="By target, then by prompt")]

    @classmethod
    def of(cls, row: CaseResults) -> "CaseResultsResponse":
        return cls.from_value(row, cells=[CellResultsResponse.of(cell) for cell in row.cells])


class CaseResultsPage(ResponseModel):
    items: list[CaseResultsResponse]
    next_cursor: str | None
