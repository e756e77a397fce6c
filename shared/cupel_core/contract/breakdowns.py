"""The figures of a run by group of its cases."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field

from cupel_core.contract.analyzed_columns import GroupEstimateResponse
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel
from cupel_core.domain.analysis.breakdowns import (
    MAX_FIELDS,
    MAX_GROUPS,
    Breakdown,
    CrossedFigures,
    GroupFigures,
)
from cupel_core.domain.analysis.crossed import MIN_PERSONAS
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.statistics import MIN_SCENARIOS


class GroupableFieldResponse(ResponseModel):
    """The cases of a run can be grouped by it."""

    name: str
    """`persona`, a dimension, a field of the scenarios' metadata or a variable. Example: language"""
    values: int
    """Number of different values among the cases. Example: 3"""


class GroupColumnResponse(ColumnFields):
    """The figures of one target, asked by one prompt, for the cases of a group."""

    name: str
    """Name of target and prompt, for people. Example: openai/gpt-6.1-terra"""
    estimate: GroupEstimateResponse
    """Its figures."""


class CaseGroupResponse(ResponseModel):
    """The cases that have one value in common."""

    value: str | None
    """Null of the cases without a value. Example: de"""
    scenarios: int
    """The scenarios with a case in the group. Example: 2"""
    columns: list[GroupColumnResponse]
    """Figures by target, then by prompt."""

    @classmethod
    def of(cls, group: GroupFigures, columns: Sequence[Column]) -> Self:
        found = [
            GroupColumnResponse.from_value(column, estimate=estimate)
            for column, estimate in zip(columns, group.columns, strict=True)
        ]
        return cls.from_value(group, columns=found)


class CrossedFiguresResponse(ColumnFields):
    """Intervals of one target, asked by one prompt, for scenarios and personas like those of the run."""

    name: str
    """Name of target and prompt, for people."""
    pass_rate_interval95: list[float] | None
    """Interval of the pass rate; null if too few scenarios or personas have results. Example: [0.74, 0.98]"""
    decision_interval95: list[float] | None
    """Interval of the mean decision; null if too few have decisions, or all are equal. Example: [3.1, 3.9]"""

    @classmethod
    def of_column(cls, figures: CrossedFigures, column: Column) -> Self:
        return cls.from_value(column, pass_rate_interval95=figures.pass_rate, decision_interval95=figures.decision)


class BreakdownResponse(ResponseModel):
    """The figures of a run by group of its cases. A case with several values, such as tags, counts in each group."""

    run_id: str
    rescore_id: str | None
    """The rescore whose results count; null: the run's own scoring."""
    by: str | None
    """Name of the field that groups the cases; null if not requested. Example: language"""
    fields: Annotated[
        list[GroupableFieldResponse],
        Field(description=f"At most {MAX_FIELDS} fields with 2 to {MAX_GROUPS} values, the persona first"),
    ]
    groups: Annotated[
        list[CaseGroupResponse],
        Field(description=f"At most {MAX_GROUPS}, and one without a value; numbers by size, then texts"),
    ]
    for_personas: Annotated[
        list[CrossedFiguresResponse],
        Field(
            description="Intervals for scenarios and personas like those of the run; empty unless the groups are at "
            f"least {MIN_PERSONAS} personas of {MIN_SCENARIOS} scenarios. All others are for exactly these personas"
        ),
    ]

    @classmethod
    def of(cls, found: Breakdown, rescore_id: str | None) -> Self:
        return cls.from_value(
            found,
            rescore_id=rescore_id,
            groups=[CaseGroupResponse.of(group, found.columns) for group in found.groups],
            for_personas=[
                CrossedFiguresResponse.of_column(figures, column)
                for figures, column in zip(found.crossed, found.columns, strict=False)
            ],
        )
