"""Comparisons of runs, targets or prompts, and the jobs that compute them."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.fields import SINGLE_LINE, Id, not_blank
from cupel_core.contract.runs import FailureResponse
from cupel_core.domain.analysis.comparison_plans import EFFECTS, MAX_TARGETS, PILOT_SCENARIOS, PlanRequest
from cupel_core.domain.analysis.comparison_requests import (
    MAX_ALPHA,
    MIN_ALPHA,
    ComparisonOptions,
    ComparisonSpec,
    SideSpec,
)
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.analysis.matching import MatchedBy
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.scenario_changes import ChangeDirection
from cupel_core.domain.analysis.significance import SignificanceTest
from cupel_core.domain.analysis.verdicts import ComparisonVerdict, EffectSize

MAX_NAMES = 200
ColumnName = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=500), AfterValidator(not_blank), SINGLE_LINE
]
Names = Annotated[tuple[ColumnName, ...], Field(max_length=MAX_NAMES)]
_ALL: tuple[str, ...] = ()
Alpha = Annotated[float, Field(strict=True, ge=MIN_ALPHA, le=MAX_ALPHA)]
Margin = Annotated[float, Field(strict=True, gt=0, le=4)]


class SideInput(RequestModel):
    """A run, or some of its targets and prompts."""

    run_id: Id
    targets: Annotated[Names, Field(description="Ids or models of targets; all if empty")] = _ALL
    prompts: Annotated[Names, Field(description="Ids of the definition's prompts; all if empty")] = _ALL
    rescore_id: Annotated[Id | None, Field(description="Rescore whose results count; null for the run's own")] = None

    def spec(self) -> SideSpec:
        return SideSpec(self.run_id, self.targets, self.prompts, self.rescore_id)


class PlanComparison(RequestModel):
    """What a comparison must detect, and what is known of the scenarios' differences."""

    model_config = example({"effect": 0.05, "rate": 0.95})

    effect: Annotated[
        float,
        Field(
            strict=True, ge=EFFECTS[0], le=EFFECTS[1], description="The difference to detect, in points or as a share"
        ),
    ]
    metric: Annotated[Metric | None, Field(description="Null: PASS_RATE with a `rate`, else DECISION")] = None
    rate: Annotated[
        float | None,
        Field(strict=True, ge=0, le=1, description="Pass rate of one side, from which the spread follows"),
    ] = None
    spread: Annotated[
        float | None,
        Field(
            strict=True,
            ge=EFFECTS[0],
            le=EFFECTS[1],
            description="Standard deviation of the scenarios' differences; null: 1 point, or 0.71 for rates",
        ),
    ] = None
    pilot_scenarios: Annotated[
        int | None,
        Field(
            strict=True,
            ge=PILOT_SCENARIOS[0],
            le=PILOT_SCENARIOS[1],
            description="Scenarios that the spread was estimated from; its upper 80 % bound is then planned with",
        ),
    ] = None
    targets: Annotated[
        int, Field(strict=True, ge=1, le=MAX_TARGETS, description="Number of targets that are compared at once")
    ] = 1

    def request(self) -> PlanRequest:
        return PlanRequest(self.effect, self.metric, self.rate, self.spread, self.pilot_scenarios, self.targets)


class PlannedRunResponse(ResponseModel):
    repeats: Annotated[int, Field(description="Repeats of each case")]
    scenarios: Annotated[int | None, Field(description="The least number; null if it is more than a million")]
    probes: Annotated[int | None, Field(description="Of each target; null if `scenarios` is")]


class ComparisonPlanResponse(ResponseModel):
    """Sizes of runs that detect a difference with a chance of 80 %."""

    metric: Metric
    effect: Annotated[float, Field(description="The difference to detect")]
    variance_between_scenarios: Annotated[float, Field(description="Variance of the scenarios' differences")]
    variance_within_scenarios: Annotated[
        float, Field(description="Variance of single answers, of both sides together; 0 if it is unknown")
    ]
    pilot_scenarios: Annotated[
        int | None, Field(description="The variance is the upper 80 % bound from so many scenarios, unless null")
    ]
    personas_per_scenario: Annotated[float, Field(description="On average")]
    plans: Annotated[list[PlannedRunResponse], Field(description="By number of repeats")]


class CreateComparison(RequestModel):
    """With the same run on both sides, its targets or prompts are compared with each other."""

    model_config = example({"baseline": {"runId": "run_01k1f0aa"}, "comparison": {"runId": "run_01k1f0ab"}})

    baseline: SideInput
    comparison: SideInput
    metric: Annotated[
        Metric | None,
        Field(
            description="Null: DECISION if both sides have decisions, else PASS_RATE, for which errors are missing; "
            "PASS_RATE_ERRORS_FAIL counts them as failures"
        ),
    ] = None
    margin: Annotated[
        Margin | None,
        Field(description="Smaller differences do not matter; null: 0.25 points, or 0.05 for rates"),
    ] = None
    alpha: Annotated[Alpha, Field(description="Significance level; intervals have 1 - alpha")] = 0.05

    def spec(self) -> ComparisonSpec:
        options = ComparisonOptions(self.metric, self.alpha, self.margin)
        return ComparisonSpec(self.baseline.spec(), self.comparison.spec(), options)


class ComparisonSideResponse(ResponseModel):
    run_id: str
    targets: Annotated[list[str], Field(description="Ids or models of targets; all if empty")]
    prompts: Annotated[list[str], Field(description="Ids of prompts; all if empty")]
    rescore_id: Annotated[str | None, Field(description="Rescore whose results count; null for the run's own")]


class ComparedColumnResponse(ColumnFields):
    """A target, asked by one prompt."""


class CautionResponse(ResponseModel):
    """What to bear in mind when reading figures."""

    code: Annotated[str, Field(description="A stable name, such as SMALL_SAMPLE")]
    message: Annotated[str, Field(description="What it means, for people to read")]


class DistributionShiftResponse(ResponseModel):
    baseline: Annotated[dict[str, int], Field(description="Number of answers by decision code")]
    comparison: Annotated[dict[str, int], Field(description="Number of answers by decision code")]
    total_variation: Annotated[
        float | None, Field(description="Half of the sum of absolute differences of the shares, from 0 to 1")
    ]


class SideOperationsResponse(ResponseModel):
    """What the probes of a side took and cost, or the difference of both sides. Described, not tested."""

    cost_usd: Annotated[
        float | None, Field(description="Per probe, of the target's calls; null without calls or if a price is unknown")
    ]
    judge_cost_usd: Annotated[float | None, Field(description="Per probe, of judging and summarizing")]
    simulated_user_cost_usd: Annotated[float | None, Field(description="Per probe, of simulating users")]
    operations_cost_usd: Annotated[float | None, Field(description="Per probe, of operations of a profile")]
    tokens: Annotated[float | None, Field(description="Per completed probe: the target's, in and out")]
    median_duration_ms: Annotated[float | None, Field(description="Of the target's calls of a probe; within 1 %")]
    p95_duration_ms: Annotated[float | None, Field(description="Of the target's calls of a probe; within 1 %")]
    error_rate: Annotated[float | None, Field(description="Errored ones among the probes with an outcome")]
    other_rate: Annotated[
        float | None, Field(description="Answers without a readable decision; null if there are no decisions")
    ]


class OperatingDifferencesResponse(ResponseModel):
    """Of all probes of the compared targets, also of scenarios that only one side has."""

    baseline: Annotated[SideOperationsResponse, Field(description="Of the baseline")]
    comparison: Annotated[SideOperationsResponse, Field(description="Of the comparison side")]
    difference: Annotated[SideOperationsResponse, Field(description="Comparison minus baseline")]


LeftOutScenarios = Annotated[
    dict[str, int],
    Field(description="Common scenarios without a ratio, by reason: notCompleted, unknown, cached or free"),
]


class UsageRatioResponse(ResponseModel):
    """The ratio of the typical conversations of either side: geometric means, paired by scenario. Costs include those
    of failed attempts; times are those of the answers, without retries and waits."""

    verdict: Annotated[
        ComparisonVerdict | None,
        Field(
            description="HIGHER or LOWER than the baseline; never EQUIVALENT, as there is no margin. Null for times of "
            "two runs, which also differ by the provider's load, and if both sides are the same conversations"
        ),
    ]
    sentence: Annotated[str, Field(description="The ratio in words, with its figures")]
    scenarios: Annotated[int, Field(description="Scenarios with a known amount above 0 on both sides")]
    left_out: LeftOutScenarios
    baseline: Annotated[
        float | None,
        Field(description="Geometric mean of the completed conversations, in USD or ms; each scenario counts once"),
    ]
    comparison: Annotated[float | None, Field(description="That of the comparison side")]
    ratio: Annotated[float | None, Field(description="Comparison divided by baseline")]
    interval: Annotated[
        list[float] | None,
        Field(
            description="Confidence interval of the ratio, 1 - alpha; null with fewer than 5 scenarios, and if nearly "
            "all of them have the same ratio"
        ),
    ]
    test: SignificanceTest
    p: Annotated[float | None, Field(description="Two-sided p-value of a ratio of 1, not adjusted")]
    adjusted_p: Annotated[float | None, Field(description="Adjusted by Holm's method, as that of the row")]


class OwnDifferenceResponse(ResponseModel):
    """The difference on exactly these scenarios; it says nothing about others like them."""

    difference: Annotated[float, Field(description="Mean of the scenarios' differences")]
    interval: Annotated[list[float] | None, Field(description="Confidence interval, 1 - alpha")]
    p: Annotated[
        float | None,
        Field(description="That of a test stratified by scenario, not adjusted; null without repeats of decisions"),
    ]


class ComparisonRowResponse(ResponseModel):
    """Figures of one pair of columns; several columns of a side are averaged. See docs/statistics.md."""

    baseline: Annotated[list[ComparedColumnResponse], Field(description="Columns of the baseline")]
    comparison: Annotated[list[ComparedColumnResponse], Field(description="Columns of the comparison side")]
    is_substituted: Annotated[bool, Field(description="Whether the sides have different targets or prompts")]
    verdict: ComparisonVerdict
    sentence: Annotated[str, Field(description="The verdict in words, with its figures")]
    notes: Annotated[
        list[str],
        Field(
            description="What follows for exactly these scenarios, and from errored probes as failures, in words",
        ),
    ]
    scenarios: Annotated[int, Field(description="Scenarios with results on both sides; each counts once")]
    baseline_mean: float | None
    comparison_mean: float | None
    difference: Annotated[float | None, Field(description="Comparison minus baseline")]
    standard_error: Annotated[float | None, Field(description="Standard error of the difference")]
    interval: Annotated[list[float] | None, Field(description="Confidence interval of the difference, 1 - alpha")]
    test: SignificanceTest
    p: Annotated[float | None, Field(description="Two-sided p-value, not adjusted")]
    adjusted_p: Annotated[
        float | None, Field(description="Adjusted by Holm's method over the rows, with that of all pairs together")
    ]
    minimum_detectable_effect: Annotated[
        float | None, Field(description="Smallest difference that this comparison had an 80 % chance to detect")
    ]
    scenarios_needed: Annotated[
        int | None, Field(description="About how many scenarios would detect a difference as large as the margin")
    ]
    equivalence_interval: Annotated[
        list[float] | None, Field(description="Interval of level 1 - 2 alpha; EQUIVALENT if it is within the margin")
    ]
    equivalence_p: Annotated[float | None, Field(description="p-value of two one-sided tests against the margin")]
    these_scenarios: Annotated[
        OwnDifferenceResponse | None,
        Field(description="Null for all pairs together"),
    ]
    errors_fail_difference: Annotated[
        float | None,
        Field(
            description="Difference of pass rates if errored probes count as failures; null without errors",
        ),
    ]
    effect_size: Annotated[float | None, Field(description="Difference in standard deviations of the scenarios")]
    effect: Annotated[EffectSize | None, Field(description="The effect size in a word")]
    changes: Annotated[dict[str, int], Field(description="Scenarios that increased, decreased, stayed unchanged")]
    incomparable: Annotated[dict[str, int], Field(description="Common scenarios that do not count, by reason")]
    distribution: DistributionShiftResponse
    operations: Annotated[
        OperatingDifferencesResponse, Field(description="What the sides' probes took and cost; described, not tested")
    ]
    cost_ratio: Annotated[UsageRatioResponse, Field(description="What the target's calls cost")]
    time_ratio: Annotated[UsageRatioResponse, Field(description="How long the target's calls took")]
    cautions: list[CautionResponse]


class RunChangeResponse(ResponseModel):
    aspect: Annotated[str, Field(description="What differs: a stable name, such as `prompt` or `params`")]
    summary: Annotated[str, Field(description="The difference in a sentence")]
    baseline: Annotated[Any, Field(description="Value of the baseline, if it has one")]
    comparison: Annotated[Any, Field(description="Value of the comparison side, if it has one")]
    is_cause: Annotated[bool, Field(description="Whether it can explain a difference of the figures")]


class WhatChangedResponse(ResponseModel):
    changes: Annotated[list[RunChangeResponse], Field(description="Everything that differs between the runs")]
    summary: Annotated[list[str], Field(description="The changes in sentences")]
    diff: Annotated[
        str, Field(description="Unified diff of the texts that targets are sent; at most 20,000 characters")
    ]
    definition_path: Annotated[
        list[str], Field(description="Definitions from the baseline's to the other's in the tree of forks")
    ]
    causes: Annotated[list[str], Field(description="Aspects that can explain a difference")]
    is_confounded: Annotated[
        bool, Field(description="Whether there are several, so that none of them alone explains a difference")
    ]


class ComparisonFiguresResponse(ResponseModel):
    metric: Metric
    alpha: Annotated[float, Field(description="Significance level")]
    margin: Annotated[float, Field(description="Smaller differences do not matter")]
    matched_by: MatchedBy
    common_scenarios: Annotated[int, Field(description="Scenarios of both sides")]
    only_baseline: Annotated[int, Field(description="Scenarios of the baseline only")]
    only_comparison: Annotated[int, Field(description="Scenarios of the comparison side only")]
    rows: Annotated[list[ComparisonRowResponse], Field(description="One per pair of columns")]
    overall: Annotated[ComparisonRowResponse | None, Field(description="All pairs together; null if there is only one")]
    unpaired_baseline: Annotated[list[ComparedColumnResponse], Field(description="Columns without a counterpart")]
    unpaired_comparison: Annotated[list[ComparedColumnResponse], Field(description="Columns without a counterpart")]
    what_changed: WhatChangedResponse


class ComparisonSummaryResponse(ResponseModel):
    id: str
    status: JobStatus
    baseline: Annotated[ComparisonSideResponse, read_from("spec.baseline")]
    comparison: Annotated[ComparisonSideResponse, read_from("spec.comparison")]
    experiment_id: Annotated[str | None, read_from("spec.experiment_id")]
    verdict: Annotated[ComparisonVerdict | None, Field(description="Of all pairs together; null until it is completed")]
    sentence: Annotated[str | None, Field(description="The verdict in words")]
    failure: FailureResponse | None
    created_at: Time
    completed_at: Time | None


class ComparisonPage(ResponseModel):
    items: list[ComparisonSummaryResponse]
    next_cursor: str | None


class RunComparisonResponse(ComparisonSummaryResponse):
    job_id: Annotated[str, Field(description="The job that computes it")]
    is_stale: Annotated[
        bool, Field(description="Whether a run has other results by now; comparing again gives another comparison")
    ]
    figures: Annotated[ComparisonFiguresResponse | None, Field(description="Null until it is completed")]


class ScenarioChangeResponse(ResponseModel):
    row: Annotated[int, Field(description="Index of its pair of columns in the comparison's `rows`")]
    scenario_id: str
    scenario_name: str
    baseline: Annotated[float, Field(description="Value of the baseline")]
    comparison: Annotated[float, Field(description="Value of the comparison side")]
    difference: Annotated[float, Field(description="Comparison minus baseline")]
    shrunken_difference: Annotated[
        float | None,
        Field(
            description="What is expected of the difference in further repeats, by which the scenarios are ordered; "
            "null without repeats"
        ),
    ]
    change: ChangeDirection
    standard_error: Annotated[
        float | None, Field(description="Of the difference; null unless each case has several results on both sides")
    ]
    p: Annotated[
        float | None,
        Field(description="By persona; null with fewer than 5 results on a side, and for averages of several targets"),
    ]
    q: Annotated[float | None, Field(description="p adjusted over all scenarios by Benjamini and Hochberg's method")]


class ScenarioChangePage(ResponseModel):
    items: list[ScenarioChangeResponse]
    next_cursor: str | None
