"""Figures of one column of an analysis: a target, asked by one prompt."""

from typing import Annotated, Self

from pydantic import Field

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.fields import Interval95
from cupel_core.contract.results import RoleCosts
from cupel_core.contract.unscored import UnscoredReasonResponse, UnscoredReasons
from cupel_core.domain.analysis.basic import ColumnAnalysis
from cupel_core.domain.analysis.outlier_causes import OutlierCause
from cupel_core.domain.runs.plan import Column

ColumnNumber = Annotated[int, Field(description="Position in `columns`")]


class MeanEstimateResponse(ResponseModel):
    """The mean of the decisions from 1 to 5; every scenario counts once."""

    answers: int
    """Answers with a decision from 1 to 5. Example: 4"""
    scenarios: int
    """Scenarios with such an answer. Example: 2"""
    mean: float | None
    """Null without an answer."""
    sd: float | None
    """Standard deviation of the answers. Example: 0.0"""
    median: float | None
    """Median of the answers. Example: 1.0"""
    standard_error: float | None
    """Standard error of the mean, clustered by scenario."""
    interval: Interval95


class ShareEstimateResponse(ResponseModel):
    """A share of trials, such as a pass rate; every scenario counts once."""

    successes: int
    """Trials that the share counts."""
    trials: int
    """Trials that the share is of. Example: 4"""
    scenarios: int
    """Scenarios with a trial. Example: 2"""
    share: float | None
    """Mean of the scenarios' shares; null without a trial. Example: 0.0"""
    standard_error: float | None
    """Standard error of the share, clustered by scenario."""
    interval: Interval95
    effective_trials: float
    """Independent trials that would say as much about scenarios like these. Example: 2.0"""


class CodeShareResponse(ResponseModel):
    code: str
    """Decision, `1` to `5` or `other`. Example: other"""
    estimate: ShareEstimateResponse
    """Its share of the answers to which the rule was applied."""


class RateBoundsResponse(ResponseModel):
    """The pass rate if all errored probes had failed, and if all had passed."""

    errors_as_failures: ShareEstimateResponse
    """Pass rate if all errored probes had failed."""
    errors_as_passes: ShareEstimateResponse
    """Pass rate if all errored probes had passed."""


class GroupEstimateResponse(ResponseModel):
    """Estimates over some of a run's probes."""

    completed: int
    """Probes with a transcript."""
    errored: int
    """Probes that an infrastructure failure ended."""
    decision: MeanEstimateResponse
    """Mean of the decisions."""
    distribution: list[CodeShareResponse]
    """Shares of the decisions, `other` last; empty if the definition has no decision rule."""
    pass_rate: ShareEstimateResponse
    """Passed ones among the judged."""
    pass_rate_bounds: RateBoundsResponse | None
    """Pass rate had the errored probes failed, or passed; null without errors."""
    other_rate: ShareEstimateResponse
    """Share of answers without a readable decision where the rule was applied."""


class QuantilesResponse(ResponseModel):
    """Distribution over completed probes; quantiles are within 1 %."""

    mean: float
    """Mean; exact."""
    p50: float
    """Median. Example: 66.0"""
    p95: float
    """95th percentile. Example: 82.0"""
    p99: float
    """99th percentile. Example: 82.0"""
    max: float
    """Largest value; exact. Example: 83.0"""


class OperatingFiguresResponse(ResponseModel):
    """Time, tokens and cost of a target's probes."""

    duration_ms: QuantilesResponse | None
    """Time of the target's calls, without waits."""
    turns: QuantilesResponse | None
    """Calls of the target."""
    input_tokens: QuantilesResponse | None
    """Input tokens of the target's calls."""
    output_tokens: QuantilesResponse | None
    """Output tokens of the target's calls."""
    cost_usd: float | None
    """Cost of all calls; null without calls or if a price is unknown."""
    costs: RoleCosts
    """Example: [{"role": "target", "calls": 24, "costUsd": 0.0092}, {"role": "judge", "calls": 24, "costUsd": 0.0046}]
    """
    model_versions: dict[str, int]
    """Answers by version that the provider named. Example: {"2026-08-07": 23}"""
    uncertain_usd: float
    """Possible further cost of calls without an answer."""


class WinRateResponse(ResponseModel):
    """A target's decisions between the two dimensions that its codes favor."""

    dimension: str
    """Name of the dimension. Example: price"""
    prioritized: int
    """Answers for it. Example: 8"""
    opposed: int
    """Answers for the other dimension. Example: 10"""
    neutral: int
    """Answers with the decision 3. Example: 5"""
    scenarios: int
    """Scenarios with a decided answer. Example: 12"""
    rate: float | None
    """Mean over scenarios of the share for it; null without answers. Example: 0.3333"""
    interval: Interval95


class ExtrapolationResponse(ResponseModel):
    """Expected figure of a run of all scenarios."""

    value: float
    """Figure of the sample's scenarios. Example: 3.42"""
    standard_error: float
    """Standard error due to the other scenarios."""
    interval: Interval95


class GroupExtrapolationResponse(ResponseModel):
    """Extrapolation from a sample to all scenarios."""

    decision: ExtrapolationResponse | None
    """Mean of the decisions; null without an error."""
    pass_rate: ExtrapolationResponse | None
    """Passed ones among the judged; null without an error."""


Extrapolated = Annotated[
    GroupExtrapolationResponse | None,
    Field(description="Estimates for all scenarios; null unless a sample's probes all have an outcome"),
]


class ColumnAnalysisResponse(ColumnFields):
    """Figures of one target, asked by one prompt."""

    name: str
    """Name of target and prompt, for people."""
    estimate: GroupEstimateResponse
    """Its figures."""
    extrapolated: Extrapolated
    unscored: int
    """Completed probes of which a weighted assertion could not be computed."""
    operations: OperatingFiguresResponse
    """Time and cost of its probes."""
    win_rates: list[WinRateResponse]
    """Empty unless the decision has `favors`."""
    consistency: float | None
    """1 if repeats never differ, 0 if as much as they can; null without repeats. Example: 0.875"""
    is_outlier: bool
    """True if the others agree clearly better without it. Example: true"""
    outlier_cause: OutlierCause | None
    """`noise` if its own repeats differ more than the others'; null if it is no outlier. Example: opinion"""
    unscored_reasons: UnscoredReasons

    @classmethod
    def of(cls, found: ColumnAnalysis, column: Column) -> Self:
        return cls.from_value(
            found,
            **cls.fields_of_column(column),
            name=column.name,
            unscored_reasons=UnscoredReasonResponse.list_of(found.causes),
        )
