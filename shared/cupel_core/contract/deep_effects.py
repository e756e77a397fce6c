"""What dimensions do to answers in a deep analysis, and where the differences between answers come from."""

from cupel_core.contract.analysis import AdjustedP
from cupel_core.contract.analyzed_columns import ColumnNumber
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.deep_fields import ColumnNumbers, DimensionName
from cupel_core.contract.fields import Interval95


class ScoreCorrelationResponse(ResponseModel):
    """Of the scores of two dimensions, over the run's scenarios."""

    first: DimensionName
    """Example: delay"""
    second: DimensionName
    """Example: price"""
    scenarios: int
    """Scenarios with scores in all dimensions. Example: 36"""
    correlation: float | None
    """Pearson's correlation. Example: 0.0"""


class DimensionInflationResponse(ResponseModel):
    """Dependence of a dimension on the others."""

    dimension: DimensionName
    """Example: delay"""
    factor: float | None
    """Variance inflation factor; null if others determine it. Example: 1.0"""
    is_collinear: bool
    """True if the factor is 5 or more. Example: false"""


class DesignCheckResponse(ResponseModel):
    """Test whether the effects of dimensions can be told apart."""

    correlations: list[ScoreCorrelationResponse]
    """Correlation of each pair of dimensions."""
    inflation: list[DimensionInflationResponse]
    """Inflation of each dimension."""


class RegressionSlopeResponse(ResponseModel):
    """What one dimension does to the answers of a target, all others being equal."""

    dimension: DimensionName
    """Example: delay"""
    slope: float
    """Points, or the share that passes, per unit of the score. Example: 0.8556"""
    per_step: float
    """Per step between neighboring levels. Example: 0.8556"""
    standardized: float | None
    """Slope in standard deviations; null for equal answers. Example: 0.7413"""
    standard_error: float
    """Standard error of the slope, clustered by scenario."""
    interval: Interval95
    p: float | None
    """p-value of no slope; null if the answers follow the line exactly."""
    adjusted_p: AdjustedP


class AnswerRegressionResponse(ResponseModel):
    """Regression of a target's answers on the scores of all dimensions."""

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
    """Slope of each dimension."""


class SlopeEqualityResponse(ResponseModel):
    """Test whether a dimension moves all targets alike."""

    dimension: DimensionName
    """Example: delay"""
    spread: float
    """Standard deviation of the targets' slopes per step. Example: 0.9817"""
    statistic: float | None
    """F of Hotelling's test; null without p. Example: 98.4512"""
    df: list[int] | None
    """Its degrees of freedom. Example: [2, 34]"""
    p: float | None
    """p-value of equal slopes; null for too few scenarios."""
    adjusted_p: AdjustedP


class DimensionEffectsResponse(ResponseModel):
    dimensions: list[str]
    """Dimensions of the regressions. Example: ["delay", "price"]"""
    regressions: list[AnswerRegressionResponse]
    """Regression of each target that answered enough."""
    equality: list[SlopeEqualityResponse]
    """The most divisive dimension first."""


class DimensionInteractionResponse(ResponseModel):
    """Change of one dimension's slope with another, for one target."""

    column: ColumnNumber
    """Example: 2"""
    first: DimensionName
    """Example: delay"""
    second: DimensionName
    """Example: price"""
    coefficient: float
    """Change of the first one's slope per unit of the second. Example: -0.2083"""
    standard_error: float
    """Standard error of the coefficient, by the jackknife."""
    p: float | None
    """p-value of no interaction."""
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
    """The 10 that explain most."""


class VarianceSharesResponse(ResponseModel):
    """Sources of the differences between single answers; the shares add up to 1."""

    columns: ColumnNumbers
    """Example: [0, 1, 2]"""
    scenarios: int
    """Scenarios that all of these targets have answered. Example: 36"""
    variance: float
    """Variance of single answers. Example: 2.3114"""
    target: float
    """Share between targets. Example: 0.0512"""
    scenario: float
    """Share between scenarios. Example: 0.0"""
    target_by_scenario: float
    """Targets react differently to the same scenarios. Example: 0.7488"""
    repeat: float | None
    """Share between answers of one target to one scenario; null without repeats. Example: 0.2"""
