"""What dimensions do to answers in a deep analysis, and where the differences between answers come from."""

from cupel_core.contract.analysis import AdjustedP, ColumnNumber, Interval95
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.deep_fields import ColumnNumbers, DimensionName


class ScoreCorrelationResponse(ResponseModel):
    """Of the scores of two dimensions, over the run's scenarios."""

    first: DimensionName
    """Example: delay"""
    second: DimensionName
    """Example: price"""
    scenarios: int
    """With scores in all dimensions. Example: 36"""
    correlation: float | None
    """Pearson's. Example: 0.0"""


class DimensionInflationResponse(ResponseModel):
    """How far a dimension varies independently of the others."""

    dimension: DimensionName
    """Example: delay"""
    factor: float | None
    """Variance inflation factor; null if others determine it. Example: 1.0"""
    is_collinear: bool
    """Whether the factor is 5 or more. Example: false"""


class DesignCheckResponse(ResponseModel):
    """Whether the effects of dimensions can be told apart."""

    correlations: list[ScoreCorrelationResponse]
    """Of each pair of dimensions."""
    inflation: list[DimensionInflationResponse]
    """Of each dimension."""


class RegressionSlopeResponse(ResponseModel):
    """What one dimension does to the answers of a target, all others being equal."""

    dimension: DimensionName
    """Example: delay"""
    slope: float
    """Points, or the share that passes, per unit of the score. Example: 0.8556"""
    per_step: float
    """Per step between neighboring levels. Example: 0.8556"""
    standardized: float | None
    """In standard deviations; null for equal answers. Example: 0.7413"""
    standard_error: float
    """Of the slope, clustered by scenario."""
    interval: Interval95
    p: float | None
    """Of no slope; null if the answers follow the line exactly."""
    adjusted_p: AdjustedP


class AnswerRegressionResponse(ResponseModel):
    """Of a target's answers on the scores of all dimensions together."""

    column: ColumnNumber
    """Example: 0"""
    scenarios: int
    """Scenarios with an answer. Example: 36"""
    answers: int
    """Answers that it rests on. Example: 36"""
    intercept: float
    """Expected answer at the mean of all scores. Example: 3.0278"""
    r_squared: float | None
    """Share of the variance that the dimensions explain. Example: 0.8371"""
    slopes: list[RegressionSlopeResponse]
    """Of each dimension."""


class SlopeEqualityResponse(ResponseModel):
    """Whether a dimension moves all targets alike."""

    dimension: DimensionName
    """Example: delay"""
    spread: float
    """Standard deviation of the targets' slopes per step. Example: 0.9817"""
    statistic: float | None
    """F of Hotelling's test; null without p. Example: 98.4512"""
    df: list[int] | None
    """Its degrees of freedom. Example: [2, 34]"""
    p: float | None
    """Of equal slopes; null for too few scenarios."""
    adjusted_p: AdjustedP


class DimensionEffectsResponse(ResponseModel):
    dimensions: list[str]
    """That the regressions are on. Example: ["delay", "price"]"""
    regressions: list[AnswerRegressionResponse]
    """Of each target that answered enough."""
    equality: list[SlopeEqualityResponse]
    """The most divisive dimension first."""


class DimensionInteractionResponse(ResponseModel):
    """How the slope of one dimension changes with another, for one target."""

    column: ColumnNumber
    """Example: 2"""
    first: DimensionName
    """Example: delay"""
    second: DimensionName
    """Example: price"""
    coefficient: float
    """Change of the first one's slope per unit of the second. Example: -0.2083"""
    standard_error: float
    """Of the coefficient, by the jackknife."""
    p: float | None
    """Of no interaction."""
    adjusted_p: AdjustedP
    r_squared_gain: float
    """Additional share of the variance that it explains. Example: 0.0311"""
    first_levels: list[float]
    """Scores; empty if either has more than 12. Example: [1.0, 2.0]"""
    second_levels: list[float]
    """Scores; empty if either has more than 12. Example: [1.0, 2.0]"""
    means: list[list[float | None]]
    """Mean answers by level of the first, then of the second. Example: [[4.6667, 4.3333], [4.1111, 3.2222]]"""


class DimensionInteractionsResponse(ResponseModel):
    tested: int
    """Pairs of dimensions, over all targets. Example: 3"""
    largest: list[DimensionInteractionResponse]
    """At most 10, by what they explain."""


class VarianceSharesResponse(ResponseModel):
    """Where the differences between single answers come from; the shares add up to 1."""

    columns: ColumnNumbers
    """Example: [0, 1, 2]"""
    scenarios: int
    """That all of these targets have answered. Example: 36"""
    variance: float
    """Of single answers. Example: 2.3114"""
    target: float
    """Share between targets. Example: 0.0512"""
    scenario: float
    """Share between scenarios. Example: 0.0"""
    target_by_scenario: float
    """Targets react differently to the same scenarios. Example: 0.7488"""
    repeat: float | None
    """Between answers of one target to one scenario; null without. Example: 0.2"""
