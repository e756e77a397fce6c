"""What dimensions do to answers in a deep analysis, and where the differences between answers come from."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.analysis import AdjustedP, ColumnNumber, Interval95
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.deep_fields import ColumnNumbers, DimensionName


class ScoreCorrelationResponse(ResponseModel):
    """Of the scores of two dimensions, over the run's scenarios."""

    first: DimensionName
    second: DimensionName
    scenarios: Annotated[int, Field(description="With scores in all dimensions")]
    correlation: Annotated[float | None, Field(description="Pearson's")]


class DimensionInflationResponse(ResponseModel):
    """How far a dimension varies independently of the others."""

    dimension: DimensionName
    factor: Annotated[float | None, Field(description="Variance inflation factor; null if others determine it")]
    is_collinear: Annotated[bool, Field(description="Whether the factor is 5 or more")]


class DesignCheckResponse(ResponseModel):
    """Whether the effects of dimensions can be told apart."""

    correlations: Annotated[list[ScoreCorrelationResponse], Field(description="Of each pair of dimensions")]
    inflation: Annotated[list[DimensionInflationResponse], Field(description="Of each dimension")]


class RegressionSlopeResponse(ResponseModel):
    """What one dimension does to the answers of a target, all others being equal."""

    dimension: DimensionName
    slope: Annotated[float, Field(description="Points, or the share that passes, per unit of the score")]
    per_step: Annotated[float, Field(description="Per step between neighboring levels")]
    standardized: Annotated[float | None, Field(description="In standard deviations; null for equal answers")]
    standard_error: Annotated[float, Field(description="Of the slope, clustered by scenario")]
    interval: Interval95
    p: Annotated[float | None, Field(description="Of no slope; null if the answers follow the line exactly")]
    adjusted_p: AdjustedP


class AnswerRegressionResponse(ResponseModel):
    """Of a target's answers on the scores of all dimensions together."""

    column: ColumnNumber
    scenarios: Annotated[int, Field(description="Scenarios with an answer")]
    answers: Annotated[int, Field(description="Answers that it rests on")]
    intercept: Annotated[float, Field(description="Expected answer at the mean of all scores")]
    r_squared: Annotated[float | None, Field(description="Share of the variance that the dimensions explain")]
    slopes: Annotated[list[RegressionSlopeResponse], Field(description="Of each dimension")]


class SlopeEqualityResponse(ResponseModel):
    """Whether a dimension moves all targets alike."""

    dimension: DimensionName
    spread: Annotated[float, Field(description="Standard deviation of the targets' slopes per step")]
    statistic: Annotated[float | None, Field(description="F of Hotelling's test; null without p")]
    df: Annotated[list[int] | None, Field(description="Its degrees of freedom")]
    p: Annotated[float | None, Field(description="Of equal slopes; null for too few scenarios")]
    adjusted_p: AdjustedP


class DimensionEffectsResponse(ResponseModel):
    dimensions: Annotated[list[str], Field(description="That the regressions are on")]
    regressions: Annotated[list[AnswerRegressionResponse], Field(description="Of each target that answered enough")]
    equality: Annotated[list[SlopeEqualityResponse], Field(description="The most divisive dimension first")]


class DimensionInteractionResponse(ResponseModel):
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


class DimensionInteractionsResponse(ResponseModel):
    tested: Annotated[int, Field(description="Pairs of dimensions, over all targets")]
    largest: Annotated[list[DimensionInteractionResponse], Field(description="At most 10, by what they explain")]


class VarianceSharesResponse(ResponseModel):
    """Where the differences between single answers come from; the shares add up to 1."""

    columns: ColumnNumbers
    scenarios: Annotated[int, Field(description="That all of these targets have answered")]
    variance: Annotated[float, Field(description="Of single answers")]
    target: Annotated[float, Field(description="Share between targets")]
    scenario: Annotated[float, Field(description="Share between scenarios")]
    target_by_scenario: Annotated[float, Field(description="Targets react differently to the same scenarios")]
    repeat: Annotated[float | None, Field(description="Between answers of one target to one scenario; null without")]
