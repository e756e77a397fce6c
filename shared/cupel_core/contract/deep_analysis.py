"""Deep analyses of runs. Figures are read from the attributes of the domain's results, which have the same names."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field

from cupel_core.contract.analysis import AdjustedP, AnalysisSummaryResponse, ColumnNumber, FiguresModel, Interval95
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel
from cupel_core.domain.analysis.deep import (
    Component,
    Components,
    DeepAnalysis,
    DeepCautionCode,
    DeepPart,
    OutlierIndicator,
    OutlierScenarios,
)
from cupel_core.domain.analysis.matrix import ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.narratives import Narrative, NarrativeTopic
from cupel_core.domain.runs.plan import Column

ColumnNumbers = Annotated[list[int], Field(description="Positions in `columns` of the analysis")]
DimensionName = Annotated[str, Field(description="Name of the dimension")]


class DeepAnalysisColumn(ColumnFields):
    """A target, asked by one prompt."""

    name: Annotated[str, Field(description="Of target and prompt, for people")]


class ScenarioLoadingResponse(ResponseModel):
    """What a scenario contributes to a component."""

    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    value: Annotated[float, Field(description="Loading; the squares of all scenarios add up to 1")]


class LoadingCorrelationResponse(FiguresModel):
    """How the loadings go with the scores of a dimension: it names the component."""

    dimension: DimensionName
    correlation: Annotated[float | None, Field(description="Pearson's; null if loadings or scores do not vary")]


class PrincipalComponentResponse(ResponseModel):
    """A direction in which the targets differ."""

    explained_share: Annotated[float, Field(description="Of the variance between targets")]
    chance_share: Annotated[float, Field(description="Share that shuffled answers exceed in one of 20 cases")]
    is_above_chance: Annotated[bool, Field(description="Whether it and those before it explain more than chance")]
    coordinates: Annotated[list[float], Field(description="Of each target, in the order of `columns`")]
    loadings: Annotated[list[ScenarioLoadingResponse], Field(description="The 20 largest, by their absolute value")]
    dimensions: Annotated[list[LoadingCorrelationResponse], Field(description="What goes with the loadings")]

    @classmethod
    def of(cls, found: Component, scenarios: Sequence[ScenarioRow]) -> Self:
        return cls(
            explained_share=found.explained_share,
            chance_share=found.chance_share,
            is_above_chance=found.is_above_chance,
            coordinates=list(found.coordinates),
            loadings=[
                ScenarioLoadingResponse(**_named(scenarios[each.scenario]), value=each.value) for each in found.loadings
            ],
            dimensions=[LoadingCorrelationResponse.model_validate(each) for each in found.dimensions],
        )


class PrincipalComponentsResponse(ResponseModel):
    """Where targets lie if each scenario is a dimension of its own, seen from where they differ most."""

    columns: ColumnNumbers
    scenarios: Annotated[int, Field(description="That at least 80 % of the targets have decided")]
    imputed_share: Annotated[float, Field(description="Of the values: estimated, because a target has no answer")]
    above_chance: Annotated[int, Field(description="Leading components that explain more than chance")]
    components: Annotated[list[PrincipalComponentResponse], Field(description="At most 5, the largest first")]

    @classmethod
    def of(cls, found: Components, scenarios: Sequence[ScenarioRow]) -> Self:
        return cls(
            columns=list(found.columns),
            scenarios=found.scenarios,
            imputed_share=found.imputed_share,
            above_chance=found.above_chance,
            components=[PrincipalComponentResponse.of(each, scenarios) for each in found.components],
        )


class TargetOutlyingnessResponse(FiguresModel):
    """How far one target answers unlike the others."""

    column: ColumnNumber
    distance: Annotated[float | None, Field(description="Mahalanobis's, in the space of the first components")]
    distance_p: Annotated[float | None, Field(description="Of so large a distance by chance; approximate")]
    distance_adjusted_p: Annotated[float | None, Field(description="After Holm's adjustment for all targets")]
    forest_score: Annotated[float | None, Field(description="Of an isolation forest; about 0.5 for usual ones")]
    agreement_gain: Annotated[float | None, Field(description="By how much alpha rises without it")]
    indicators: Annotated[list[OutlierIndicator], Field(description="Indicators that flag it")]
    is_outlier: Annotated[bool, Field(description="Two indicators flag it; below 5 targets, agreement alone does")]


class OmittedIndicatorResponse(FiguresModel):
    """An indicator that could not be used."""

    indicator: Annotated[OutlierIndicator, Field(description="Which one")]
    reason: Annotated[str, Field(description="Why")]


class OutlierTargetsResponse(FiguresModel):
    """Targets that answer unlike the others."""

    targets: Annotated[list[TargetOutlyingnessResponse], Field(description="All that are compared")]
    omitted: Annotated[list[OmittedIndicatorResponse], Field(description="Indicators that could not be used")]


class OutlyingScenarioResponse(ResponseModel):
    """A scenario that is answered unlike the others."""

    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    score: Annotated[float, Field(description="Of an isolation forest; about 0.5 for usual ones")]
    means: Annotated[list[float], Field(description="Of each target, in the order of `columns`")]


class OutlierScenariosResponse(ResponseModel):
    columns: ColumnNumbers
    scenarios: Annotated[list[OutlyingScenarioResponse], Field(description="The 20 with the highest scores")]

    @classmethod
    def of(cls, found: OutlierScenarios, scenarios: Sequence[ScenarioRow]) -> Self:
        return cls(
            columns=list(found.columns),
            scenarios=[
                OutlyingScenarioResponse(**_named(scenarios[each.scenario]), score=each.score, means=list(each.means))
                for each in found.scenarios
            ],
        )


class ScoreCorrelationResponse(FiguresModel):
    """Of the scores of two dimensions, over the run's scenarios."""

    first: DimensionName
    second: DimensionName
    scenarios: Annotated[int, Field(description="With scores in all dimensions")]
    correlation: Annotated[float | None, Field(description="Pearson's")]


class DimensionInflationResponse(FiguresModel):
    """How far a dimension varies independently of the others."""

    dimension: DimensionName
    factor: Annotated[float | None, Field(description="Variance inflation factor; null if others determine it")]
    is_collinear: Annotated[bool, Field(description="Whether the factor is 5 or more")]


class DesignCheckResponse(FiguresModel):
    """Whether the effects of dimensions can be told apart."""

    correlations: Annotated[list[ScoreCorrelationResponse], Field(description="Of each pair of dimensions")]
    inflation: Annotated[list[DimensionInflationResponse], Field(description="Of each dimension")]


class RegressionSlopeResponse(FiguresModel):
    """What one dimension does to the answers of a target, all others being equal."""

    dimension: DimensionName
    slope: Annotated[float, Field(description="Points, or the share that passes, per unit of the score")]
    per_step: Annotated[float, Field(description="Per step between neighboring levels")]
    standardized: Annotated[float | None, Field(description="In standard deviations; null for equal answers")]
    standard_error: Annotated[float, Field(description="Of the slope, clustered by scenario")]
    interval: Interval95
    p: Annotated[float | None, Field(description="Of no slope; null if the answers follow the line exactly")]
    adjusted_p: AdjustedP


class AnswerRegressionResponse(FiguresModel):
    """Of a target's answers on the scores of all dimensions together."""

    column: ColumnNumber
    scenarios: Annotated[int, Field(description="Scenarios with an answer")]
    answers: Annotated[int, Field(description="Answers that it rests on")]
    intercept: Annotated[float, Field(description="Expected answer at the mean of all scores")]
    r_squared: Annotated[float | None, Field(description="Share of the variance that the dimensions explain")]
    slopes: Annotated[list[RegressionSlopeResponse], Field(description="Of each dimension")]


class SlopeEqualityResponse(FiguresModel):
    """Whether a dimension moves all targets alike."""

    dimension: DimensionName
    spread: Annotated[float, Field(description="Standard deviation of the targets' slopes per step")]
    statistic: Annotated[float | None, Field(description="F of Hotelling's test; null without p")]
    df: Annotated[list[int] | None, Field(description="Its degrees of freedom")]
    p: Annotated[float | None, Field(description="Of equal slopes; null for too few scenarios")]
    adjusted_p: AdjustedP


class DimensionEffectsResponse(FiguresModel):
    dimensions: Annotated[list[str], Field(description="That the regressions are on")]
    regressions: Annotated[list[AnswerRegressionResponse], Field(description="Of each target that answered enough")]
    equality: Annotated[list[SlopeEqualityResponse], Field(description="The most divisive dimension first")]


class DimensionInteractionResponse(FiguresModel):
    """How the slope of one dimension changes with another, for one target."""

    column: ColumnNumber
    first: DimensionName
    second: DimensionName
    coefficient: Annotated[float, Field(description="Change of the first one's slope per unit of the second")]
    standard_error: Annotated[float, Field(description="Of the coefficient, by the jackknife")]
    p: Annotated[float | None, Field(description="Of no interaction")]
    adjusted_p: AdjustedP
    r_squared_gain: Annotated[float, Field(description="Additional share of the variance that it explains")]
    first_levels: Annotated[list[float], Field(description="Scores; empty if either has more than 12")]
    second_levels: Annotated[list[float], Field(description="Scores; empty if either has more than 12")]
    means: Annotated[
        list[list[float | None]], Field(description="Mean answers by level of the first, then of the second")
    ]


class DimensionInteractionsResponse(FiguresModel):
    tested: Annotated[int, Field(description="Pairs of dimensions, over all targets")]
    largest: Annotated[list[DimensionInteractionResponse], Field(description="At most 10, by what they explain")]


class VarianceSharesResponse(FiguresModel):
    """Where the differences between single answers come from; the shares add up to 1."""

    columns: ColumnNumbers
    scenarios: Annotated[int, Field(description="That all of these targets have answered")]
    variance: Annotated[float, Field(description="Of single answers")]
    target: Annotated[float, Field(description="Share between targets")]
    scenario: Annotated[float, Field(description="Share between scenarios")]
    target_by_scenario: Annotated[float, Field(description="Targets react differently to the same scenarios")]
    repeat: Annotated[float | None, Field(description="Between answers of one target to one scenario; null without")]


class UnavailablePartResponse(FiguresModel):
    """A part that this run has too few targets, scenarios or dimensions for."""

    part: Annotated[DeepPart, Field(description="Field that is null")]
    reason: Annotated[str, Field(description="What it needs")]


class DeepCautionResponse(FiguresModel):
    """What to know before relying on the figures."""

    code: Annotated[DeepCautionCode, Field(description="Kind of caution")]
    text: Annotated[str, Field(description="In words")]
    columns: Annotated[list[int], Field(description="Positions in `columns` that it is about; all if empty")]


class NarrativeFactResponse(FiguresModel):
    """A figure that the sentences cite."""

    id: Annotated[str, Field(description="Unique in this analysis")]
    label: Annotated[str, Field(description="What it is")]
    value: Annotated[float, Field(description="The figure")]
    interval: Interval95
    n: Annotated[int | None, Field(description="What it is computed from, such as scenarios; null if it says itself")]


class NarrativeFindingResponse(FiguresModel):
    """What the figures say about one topic."""

    topic: Annotated[NarrativeTopic, Field(description="What it is about")]
    text: Annotated[str, Field(description="`information unavailable` if the figures say nothing about it")]
    facts: Annotated[list[str], Field(description="Ids of the figures that it rests on")]


class DroppedFindingResponse(FiguresModel):
    """A finding whose citations did not hold."""

    topic: Annotated[NarrativeTopic, Field(description="What it is about")]
    reason: Annotated[str, Field(description="What did not hold")]


class NarrativeResponse(FiguresModel):
    """The analysis in sentences, made by rules; each number in them is one of the figures that they cite."""

    headline: Annotated[str, Field(description="The main finding")]
    findings: Annotated[list[NarrativeFindingResponse], Field(description="One of each topic")]
    limitations: Annotated[list[str], Field(description="At most five")]
    next_steps: Annotated[list[str], Field(description="At most three")]
    facts: Annotated[list[NarrativeFactResponse], Field(description="All that is cited")]
    dropped: Annotated[list[DroppedFindingResponse], Field(description="Findings that are not shown")]


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


def _named(scenario: ScenarioRow) -> dict[str, str]:
    return {"scenario_id": scenario.id, "scenario_name": scenario.name}


class DeepAnalysisResponse(AnalysisSummaryResponse):
    """A deep analysis with its figures."""

    figures: Annotated[DeepAnalysisFigures | None, Field(description="Null if the analysis failed")]
