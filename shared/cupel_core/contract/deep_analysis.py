"""Deep analyses of runs. Figures are read from the attributes of the domain's results, which have the same names."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field

from cupel_core.contract.analysis import AnalysisSummaryResponse, Interval95
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
from cupel_core.domain.analysis.deep import DeepAnalysis, DeepCautionCode, DeepPart
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.narratives import Narrative, NarrativeTopic
from cupel_core.domain.runs.plan import Column


class NarrativeFactResponse(ResponseModel):
    """A figure that the sentences cite."""

    id: Annotated[str, Field(description="Unique in this analysis")]
    label: Annotated[str, Field(description="What it is")]
    value: Annotated[float, Field(description="The figure")]
    interval: Interval95
    n: Annotated[int | None, Field(description="What it is computed from, such as scenarios; null if it says itself")]


class NarrativeFindingResponse(ResponseModel):
    """A section says what the figures show about one topic."""

    topic: Annotated[NarrativeTopic, Field(description="What it is about")]
    text: Annotated[str, Field(description="`information unavailable` if the figures say nothing about it")]
    facts: Annotated[list[str], Field(description="Ids of the figures that it rests on")]


class DroppedFindingResponse(ResponseModel):
    """A finding whose citations did not hold."""

    topic: Annotated[NarrativeTopic, Field(description="What it is about")]
    reason: Annotated[str, Field(description="What did not hold")]


class NarrativeResponse(ResponseModel):
    """The analysis in sentences, by rules or a model; each number in them is one of the figures that they cite."""

    headline: Annotated[str, Field(description="The main finding")]
    findings: Annotated[list[NarrativeFindingResponse], Field(description="One of each topic")]
    limitations: Annotated[list[str], Field(description="At most five")]
    next_steps: Annotated[list[str], Field(description="At most three")]
    facts: Annotated[list[NarrativeFactResponse], Field(description="All that is cited")]
    dropped: Annotated[
        list[DroppedFindingResponse],
        Field(description="Findings that are not shown; rules wrote those in their place"),
    ]
    model: Annotated[str | None, Field(description="Model that was asked to write it; null for rules alone")]
    calls: Annotated[int, Field(description="Of this model")]
    cost_usd: Annotated[float | None, Field(description="Of these calls; null without any, or if a price is unknown")]
    error: Annotated[str | None, Field(description="Why the model's sentences are missing; rules wrote all of them")]


class DeepAnalysisColumn(ColumnFields):
    """A target, asked by one prompt."""

    name: Annotated[str, Field(description="Of target and prompt, for people")]


class UnavailablePartResponse(ResponseModel):
    """A part that this run has too few targets, scenarios or dimensions for."""

    part: Annotated[DeepPart, Field(description="Field that is null")]
    reason: Annotated[str, Field(description="What it needs")]


class DeepCautionResponse(ResponseModel):
    """Readers should know this before relying on the figures."""

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
        rows, components, outliers = found.scenarios, found.components, found.outlier_scenarios
        return cls.from_value(
            found,
            scenario_count=len(rows),
            columns=columns,
            components=PrincipalComponentsResponse.of(components, rows) if components else None,
            outlier_scenarios=OutlierScenariosResponse.of(outliers, rows) if outliers else None,
            narrative=narrative,
        )

    def to_json(self) -> bytes:
        """Return the document as it is stored."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


class DeepAnalysisResponse(AnalysisSummaryResponse):
    """A deep analysis with its figures."""

    figures: Annotated[DeepAnalysisFigures | None, Field(description="Null if the analysis failed")]
