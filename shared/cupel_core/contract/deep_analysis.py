"""Deep analyses of runs. Figures are read from the attributes of the domain's results, which have the same names."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field

from cupel_core.contract.analysis import AnalysisSummaryResponse, FiguresModel
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.deep_effects import (
    DesignCheckResponse,
    DimensionEffectsResponse,
    DimensionInteractionsResponse,
    VarianceSharesResponse,
)
from cupel_core.contract.deep_targets import (
    OutlierScenariosResponse,
    OutlierTargetsResponse,
    PrincipalComponentsResponse,
)
from cupel_core.contract.narratives import NarrativeResponse
from cupel_core.domain.analysis.deep import DeepAnalysis, DeepCautionCode, DeepPart
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.narratives import Narrative
from cupel_core.domain.runs.plan import Column


class DeepAnalysisColumn(ColumnFields):
    """A target, asked by one prompt."""

    name: Annotated[str, Field(description="Of target and prompt, for people")]


class UnavailablePartResponse(FiguresModel):
    """A part that this run has too few targets, scenarios or dimensions for."""

    part: Annotated[DeepPart, Field(description="Field that is null")]
    reason: Annotated[str, Field(description="What it needs")]


class DeepCautionResponse(FiguresModel):
    """What to know before relying on the figures."""

    code: Annotated[DeepCautionCode, Field(description="Kind of caution")]
    text: Annotated[str, Field(description="In words")]
    columns: Annotated[list[int], Field(description="Positions in `columns` that it is about; all if empty")]


class DeepAnalysisFigures(ResponseModel):
    """The figures of a deep analysis; docs/statistics.md explains them. `unavailable` says why a part is null."""

    metric: Annotated[Metric, Field(description="What targets are compared by: the mean decision, or the pass rate")]
    scenario_count: Annotated[int, Field(description="Scenarios of the run")]
    columns: Annotated[list[DeepAnalysisColumn], Field(description="By target, then by prompt")]
    components: Annotated[PrincipalComponentsResponse | None, Field(description="Directions in which targets differ")]
    outlier_targets: Annotated[OutlierTargetsResponse | None, Field(description="Targets unlike the others")]
    outlier_scenarios: Annotated[OutlierScenariosResponse | None, Field(description="Scenarios unlike the others")]
    design: Annotated[DesignCheckResponse | None, Field(description="Whether dimensions vary independently")]
    effects: Annotated[DimensionEffectsResponse | None, Field(description="Regressions on all dimensions together")]
    interactions: Annotated[DimensionInteractionsResponse | None, Field(description="Of pairs of dimensions")]
    variance: Annotated[VarianceSharesResponse | None, Field(description="Where differences come from")]
    unavailable: Annotated[list[UnavailablePartResponse], Field(description="Why parts are null")]
    cautions: Annotated[list[DeepCautionResponse], Field(description="What to know before relying on the figures")]
    narrative: Annotated[NarrativeResponse, Field(description="The figures in sentences")]

    @classmethod
    def of(cls, found: DeepAnalysis, columns: Sequence[Column], narrative: Narrative) -> Self:
        rows = found.scenarios
        return cls(
            metric=found.metric,
            scenario_count=len(rows),
            columns=[DeepAnalysisColumn(**ColumnFields.fields_of_column(each), name=each.name) for each in columns],
            components=PrincipalComponentsResponse.of(found.components, rows) if found.components else None,
            outlier_targets=_validated(OutlierTargetsResponse, found.outlier_targets),
            outlier_scenarios=OutlierScenariosResponse.of(found.outlier_scenarios, rows)
            if found.outlier_scenarios
            else None,
            design=_validated(DesignCheckResponse, found.design),
            effects=_validated(DimensionEffectsResponse, found.effects),
            interactions=_validated(DimensionInteractionsResponse, found.interactions),
            variance=_validated(VarianceSharesResponse, found.variance),
            unavailable=[UnavailablePartResponse.model_validate(each) for each in found.unavailable],
            cautions=[DeepCautionResponse.model_validate(each) for each in found.cautions],
            narrative=NarrativeResponse.model_validate(narrative),
        )

    def to_json(self) -> bytes:
        """As it is stored."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


def _validated[M: FiguresModel](model: type[M], found: object) -> M | None:
    return None if found is None else model.model_validate(found)


class DeepAnalysisResponse(AnalysisSummaryResponse):
    """A deep analysis with its figures."""

    figures: Annotated[DeepAnalysisFigures | None, Field(description="Null if the analysis failed")]
