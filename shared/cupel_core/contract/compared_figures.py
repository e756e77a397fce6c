"""A comparison's differences between its sides, their tests, and what else changed between the runs."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel
from cupel_core.domain.analysis.matching import MatchedBy
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.significance import SignificanceTest
from cupel_core.domain.analysis.verdicts import ComparisonVerdict, EffectSize


class ComparedColumnResponse(ColumnFields):
    """A target, asked by one prompt."""


class CautionResponse(ResponseModel):
    """A caution for readers of the figures."""

    code: str
    """A stable name, such as SMALL_SAMPLE. Example: MODERATE_SAMPLE"""
    message: str
    """Meaning, for people. Example: Fewer than 30 scenarios: small differences cannot be detected."""


class DistributionShiftResponse(ResponseModel):
    baseline: dict[str, int]
    """Number of answers by decision code. Example: {"3": 18, "4": 2, "other": 0}"""
    comparison: dict[str, int]
    """Number of answers by decision code. Example: {"3": 11, "4": 9, "other": 0}"""
    total_variation: float | None
    """Half of the sum of absolute differences of the shares, from 0 to 1. Example: 0.2"""


class SideOperationsResponse(ResponseModel):
    """Time and cost of a side's probes, or the difference of both sides; not tested."""

    cost_usd: float | None
    """Cost of the target's calls per probe; null without calls or if a price is unknown."""
    judge_cost_usd: float | None
    """Cost of judging and summarizing per probe. Example: 0.0002"""
    simulated_user_cost_usd: float | None
    """Cost of simulating users per probe. Example: 0.0001"""
    operations_cost_usd: float | None
    """Cost of a profile's operations per probe. Example: 0.0003"""
    tokens: float | None
    """Tokens of the target per completed probe, in and out. Example: 412.5"""
    median_duration_ms: float | None
    """Median of the target's time per probe; within 1 %. Example: 1840.0"""
    p95_duration_ms: float | None
    """95th percentile of the target's time per probe; within 1 %. Example: 4210.0"""
    error_rate: float | None
    """Errored ones among the probes with an outcome. Example: 0.01"""
    other_rate: float | None
    """Answers without a readable decision; null if there are no decisions. Example: 0.04"""


class OperatingDifferencesResponse(ResponseModel):
    """Figures of all probes of the compared targets, also of scenarios that only one side has."""

    baseline: SideOperationsResponse
    """Figures of the baseline."""
    comparison: SideOperationsResponse
    """Figures of the comparison side."""
    difference: SideOperationsResponse
    """Comparison minus baseline."""


LeftOutScenarios = Annotated[
    dict[str, int],
    Field(description="Common scenarios without a ratio, by reason: notCompleted, unknown, cached or free"),
]


class UsageRatioResponse(ResponseModel):
    """Ratio of geometric means, paired by scenario. Costs include those of failed attempts; times are those of the
    answers, without retries and waits."""

    verdict: ComparisonVerdict | None
    """HIGHER or LOWER than the baseline, never EQUIVALENT; null for times of two runs, which also depend on the
    provider's load, and if both sides are the same conversations.

    Example: LOWER
    """
    sentence: str
    """The ratio in words, with its figures.

    Example: In the typical conversation, sober costs 30.1% less than in the baseline (95% CI −38.1% to −21.0%, adjusted
    p < 0.001, 20 scenarios).
    """
    scenarios: int
    """Scenarios with a known amount above 0 on both sides. Example: 20"""
    left_out: LeftOutScenarios
    """Example: {"unknown": 2}"""
    baseline: float | None
    """Geometric mean of the completed conversations, in USD or ms; each scenario counts once. Example: 0.0051"""
    comparison: float | None
    """Geometric mean of the comparison side. Example: 0.0036"""
    ratio: float | None
    """Comparison divided by baseline. Example: 0.699"""
    interval: list[float] | None
    """Confidence interval of the ratio, 1 - alpha; null with fewer than 5 scenarios, and if nearly all have the same
    ratio.

    Example: [0.619, 0.79]
    """
    test: SignificanceTest
    """The test that p comes from. Example: PAIRED_T"""
    p: float | None
    """Two-sided p-value of a ratio of 1, not adjusted. Example: 0.0004"""
    adjusted_p: float | None
    """Adjusted by Holm's method, as that of the row. Example: 0.0008"""


class OwnDifferenceResponse(ResponseModel):
    """The difference on exactly these scenarios; it says nothing about others like them."""

    difference: float
    """Mean of the scenarios' differences."""
    interval: list[float] | None
    """Confidence interval, 1 - alpha."""
    p: float | None
    """p of a test stratified by scenario, not adjusted; null without repeats of decisions."""


class CorrectedDifferenceResponse(ResponseModel):
    """Difference of pass rates that are corrected for the judges' errors, each side with its own labels."""

    baseline: float
    """Corrected pass rate of the baseline. Example: 0.78"""
    comparison: float
    """Corrected pass rate of the comparison side. Example: 0.84"""
    difference: float
    """Comparison minus baseline. Example: 0.06"""
    interval: list[float] | None
    """95% interval; null if a side has fewer than five scenarios. Example: [-0.03, 0.15]"""


class ComparisonRowResponse(ResponseModel):
    """Figures of one pair of columns; several columns of a side are averaged. See docs/statistics.md."""

    baseline: list[ComparedColumnResponse]
    """Columns of the baseline."""
    comparison: list[ComparedColumnResponse]
    """Columns of the comparison side."""
    is_substituted: bool
    """True if the sides have different targets or prompts. Example: false"""
    verdict: ComparisonVerdict
    sentence: str
    """The verdict in words, with its figures.

    Example: openai/gpt-6.1-terra rates 0.42 points higher than in the baseline.
    """
    notes: list[str]
    """What follows for exactly these scenarios, and from errored probes as failures, in words.

    Example: ["If only these scenarios matter, the difference is +0.42 points (95% CI 0.20 to 0.64, p 0.002)."]
    """
    scenarios: int
    """Scenarios with results on both sides; each counts once. Example: 20"""
    baseline_mean: float | None
    """Mean of the baseline's scenarios, each once. Example: 3.1"""
    comparison_mean: float | None
    """Mean of the comparison side's scenarios, each once. Example: 3.5"""
    difference: float | None
    """Comparison minus baseline."""
    standard_error: float | None
    """Standard error of the difference."""
    interval: list[float] | None
    """Confidence interval of the difference, 1 - alpha."""
    test: SignificanceTest
    """The test that p comes from."""
    p: float | None
    """Two-sided p-value, not adjusted."""
    adjusted_p: float | None
    """Adjusted by Holm's method over the rows, with that of all pairs together."""
    minimum_detectable_effect: float | None
    """Smallest difference that this comparison had an 80 % chance to detect. Example: 0.33"""
    scenarios_needed: int | None
    """About how many scenarios would detect a difference as large as the margin. Example: 36"""
    equivalence_interval: list[float] | None
    """Interval of level 1 - 2 alpha; EQUIVALENT if it is within the margin. Example: [0.22, 0.62]"""
    equivalence_p: float | None
    """p-value of two one-sided tests against the margin. Example: 0.91"""
    these_scenarios: OwnDifferenceResponse | None
    """Null for all pairs together."""
    errors_fail_difference: float | None
    """Difference of pass rates if errored probes count as failures; null without errors. Example: 0.38"""
    effect_size: float | None
    """Difference in standard deviations of the scenarios. Example: 0.61"""
    effect: EffectSize | None
    """The effect size in a word."""
    changes: dict[str, int]
    """Scenarios that increased, decreased, stayed unchanged.

    Example: {"increased": 14, "decreased": 3, "unchanged": 3}
    """
    incomparable: dict[str, int]
    """Common scenarios that do not count, by reason. Example: {}"""
    distribution: DistributionShiftResponse
    """Decisions of either side."""
    operations: OperatingDifferencesResponse
    """Time and cost of both sides' probes; described, not tested."""
    cost_ratio: UsageRatioResponse
    """Cost of the target's calls."""
    time_ratio: UsageRatioResponse
    """Duration of the target's calls."""
    corrected_difference: CorrectedDifferenceResponse | None = None
    """Null unless people have labelled enough of both sides, for decisions, if errors count as failures, and if a side
    has scenarios of its own."""
    cautions: list[CautionResponse]
    """Limits of the figures."""


class RunChangeResponse(ResponseModel):
    aspect: str
    """Stable name of the difference, such as `prompt` or `params`. Example: judgeModel"""
    summary: str
    """The difference in a sentence. Example: Judge: openai/gpt-6.1-terra → anthropic/claude-sonnet-5-5."""
    baseline: Any
    """Value of the baseline, if it has one. Example: openai/gpt-6.1-terra"""
    comparison: Any
    """Value of the comparison side, if it has one. Example: anthropic/claude-sonnet-5-5"""
    is_cause: bool
    """True if it can explain a difference of the figures. Example: true"""


class WhatChangedResponse(ResponseModel):
    changes: list[RunChangeResponse]
    """Everything that differs between the runs."""
    summary: list[str]
    """The changes in sentences. Example: ["Judge: openai/gpt-6.1-terra → anthropic/claude-sonnet-5-5."]"""
    diff: str
    """Unified diff of the texts that targets are sent; at most 20,000 characters.

    Example: "-Answer the customer.\\n+Answer the customer politely."
    """
    definition_path: list[str]
    """Definitions from the baseline's to the other's in the tree of forks. Example: ["def_00", "def_01"]"""
    causes: list[str]
    """Aspects that can explain a difference. Example: ["judgeModel"]"""
    is_confounded: bool
    """Whether there are several, so that none of them alone explains a difference. Example: false"""


class ComparisonFiguresResponse(ResponseModel):
    metric: Metric
    alpha: float
    """Significance level."""
    margin: float
    """Smaller differences do not matter. Example: 0.25"""
    matched_by: MatchedBy
    """Property by which scenarios of the sides were matched."""
    common_scenarios: int
    """Scenarios of both sides. Example: 20"""
    only_baseline: int
    """Scenarios of the baseline only. Example: 0"""
    only_comparison: int
    """Scenarios of the comparison side only. Example: 0"""
    rows: list[ComparisonRowResponse]
    """One per pair of columns."""
    overall: ComparisonRowResponse | None
    """All pairs together; null if there is only one."""
    unpaired_baseline: list[ComparedColumnResponse]
    """Columns without a counterpart."""
    unpaired_comparison: list[ComparedColumnResponse]
    """Columns without a counterpart."""
    what_changed: WhatChangedResponse
    """What differs between the runs, and so may explain a difference."""
