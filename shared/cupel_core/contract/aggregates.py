"""Figures over several runs, grouped."""

from typing import Annotated

from pydantic import Field, FiniteFloat, StringConstraints

from cupel_core.contract.analyzed_columns import GroupEstimateResponse
from cupel_core.contract.common import RequestModel, ResponseModel
from cupel_core.contract.fields import Id
from cupel_core.domain.analysis.aggregates import AggregateRow, AggregateSpec, GroupBy

MAX_RUNS = 20
MAX_DIMENSIONS = 5
DimensionName = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]


class AggregateRuns(RequestModel):
    run_ids: Annotated[tuple[Id, ...], Field(min_length=1, max_length=MAX_RUNS)]
    group_by: Annotated[tuple[GroupBy, ...], Field(max_length=len(GroupBy))] = ()
    dimensions: Annotated[tuple[DimensionName, ...], Field(max_length=MAX_DIMENSIONS)] = ()
    target: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)] | None = None
    prompt_id: Id | None = None
    levels: Annotated[dict[DimensionName, FiniteFloat], Field(max_length=MAX_DIMENSIONS)] = Field(default_factory=dict)

    def spec(self) -> AggregateSpec:
        """A run that is named twice counts once."""
        return AggregateSpec(
            tuple(dict.fromkeys(self.run_ids)),
            self.group_by,
            tuple(dict.fromkeys(self.dimensions)),
            self.target,
            self.prompt_id,
            self.levels,
        )


class AggregateRowResponse(ResponseModel):
    """Probes that have in common what is not null here."""

    run_id: str | None
    model: str | None
    target_id: str | None
    prompt_id: str | None
    levels: dict[str, float | None]
    runs: int
    estimate: GroupEstimateResponse

    @classmethod
    def of(cls, row: AggregateRow, spec: AggregateSpec) -> "AggregateRowResponse":
        levels = dict(zip(spec.dimensions, row.key.levels, strict=True))
        return cls.from_value(row.key, levels=levels, runs=row.runs, estimate=row.estimate)
