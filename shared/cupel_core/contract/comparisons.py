"""Comparisons of runs, targets or prompts, and the jobs that compute them."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.compared_figures import ComparisonFiguresResponse
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
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.scenario_changes import ChangeDirection
from cupel_core.domain.analysis.verdicts import ComparisonVerdict

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
    targets: Names = _ALL
    """Ids or models of targets; all if empty. Example: ["openai/gpt-6.1-terra"]"""
    prompts: Names = _ALL
    """Ids of the definition's prompts; all if empty. Example: []"""
    rescore_id: Id | None = None
    """Rescore whose results count; null for the run's own."""

    def spec(self) -> SideSpec:
        return SideSpec(self.run_id, self.targets, self.prompts, self.rescore_id)


class PlanComparison(RequestModel):
    """What a comparison must detect, and what is known of the scenarios' differences."""

    model_config = example({"effect": 0.05, "rate": 0.95})

    effect: Annotated[float, Field(strict=True, ge=EFFECTS[0], le=EFFECTS[1])]
    """The difference to detect, in points or as a share. Example: 0.05"""
    metric: Metric | None = None
    """Null: PASS_RATE with a `rate`, else DECISION. Example: PASS_RATE"""
    rate: Annotated[float | None, Field(strict=True, ge=0, le=1)] = None
    """Pass rate of one side, from which the spread follows. Example: 0.95"""
    spread: Annotated[float | None, Field(strict=True, ge=EFFECTS[0], le=EFFECTS[1])] = None
    """Standard deviation of the scenarios' differences; null: 1 point, or 0.71 for rates. Example: 0.5"""
    pilot_scenarios: Annotated[int | None, Field(strict=True, ge=PILOT_SCENARIOS[0], le=PILOT_SCENARIOS[1])] = None
    """Scenarios that the spread was estimated from; its upper 80 % bound is then planned with. Example: 20"""
    targets: Annotated[int, Field(strict=True, ge=1, le=MAX_TARGETS)] = 1
    """Number of targets that are compared at once. Example: 3"""

    def request(self) -> PlanRequest:
        return PlanRequest(self.effect, self.metric, self.rate, self.spread, self.pilot_scenarios, self.targets)


class PlannedRunResponse(ResponseModel):
    repeats: int
    """Repeats of each case."""
    scenarios: int | None
    """The least number; null if it is more than a million. Example: 434"""
    probes: int | None
    """Probes of each target; null if `scenarios` is. Example: 434"""


class ComparisonPlanResponse(ResponseModel):
    """Sizes of runs that detect a difference with a chance of 80 %."""

    metric: Metric
    """Example: PASS_RATE"""
    effect: float
    """The difference to detect. Example: 0.05"""
    variance_between_scenarios: float
    """Variance of the scenarios' differences. Example: 0.1375"""
    variance_within_scenarios: float
    """Variance of single answers, of both sides together; 0 if it is unknown. Example: 0"""
    pilot_scenarios: int | None
    """The variance is the upper 80 % bound from so many scenarios, unless null. Example: 20"""
    personas_per_scenario: float
    """Mean number of personas. Example: 1"""
    plans: list[PlannedRunResponse]
    """Sizes by number of repeats. Example: [{"repeats": 1, "scenarios": 434, "probes": 434}]"""


class CreateComparison(RequestModel):
    """With the same run on both sides, its targets or prompts are compared with each other."""

    model_config = example({"baseline": {"runId": "run_01k1f0aa"}, "comparison": {"runId": "run_01k1f0ab"}})

    baseline: SideInput
    """Side that the other is compared with."""
    comparison: SideInput
    """Side that is compared with the baseline."""
    metric: Metric | None = None
    """Null: DECISION if both sides have decisions, else PASS_RATE, which omits errors; PASS_RATE_ERRORS_FAIL counts
    them as failures."""
    margin: Margin | None = None
    """Smaller differences do not matter; null: 0.25 points, or 0.05 for rates. Example: 0.25"""
    alpha: Alpha = 0.05
    """Significance level; intervals have 1 - alpha."""

    def spec(self) -> ComparisonSpec:
        options = ComparisonOptions(self.metric, self.alpha, self.margin)
        return ComparisonSpec(self.baseline.spec(), self.comparison.spec(), options)


class ComparisonSideResponse(ResponseModel):
    run_id: str
    targets: list[str]
    """Ids or models of targets; all if empty. Example: ["openai/gpt-6.1-terra"]"""
    prompts: list[str]
    """Ids of prompts; all if empty. Example: []"""
    rescore_id: str | None
    """Rescore whose results count; null for the run's own."""


class ComparisonSummaryResponse(ResponseModel):
    id: str
    """Example: cmp_5d41402abc4b2a76b9719d91"""
    status: JobStatus
    baseline: Annotated[ComparisonSideResponse, read_from("spec.baseline")]
    """Side that the other is compared with."""
    comparison: Annotated[ComparisonSideResponse, read_from("spec.comparison")]
    """Side that is compared with the baseline."""
    experiment_id: Annotated[str | None, read_from("spec.experiment_id")]
    verdict: ComparisonVerdict | None
    """Verdict on all pairs together; null until it is completed."""
    sentence: str | None
    """The verdict in words. Example: openai/gpt-6.1-terra rates 0.42 points higher than in the baseline."""
    failure: FailureResponse | None
    created_at: Time
    completed_at: Time | None


class ComparisonPage(ResponseModel):
    items: list[ComparisonSummaryResponse]
    next_cursor: str | None


class RunComparisonResponse(ComparisonSummaryResponse):
    job_id: str
    """The job that computes it. Example: job_cmp_5d41402abc4b2a76b9719d91"""
    is_stale: bool
    """True if a run has other results by now; comparing again gives another comparison. Example: false"""
    figures: ComparisonFiguresResponse | None
    """Null until it is completed."""


class ScenarioChangeResponse(ResponseModel):
    row: int
    """Index of its pair of columns in the comparison's `rows`. Example: 0"""
    scenario_id: str
    scenario_name: str
    """Name of the scenario, or the levels that matched ones share."""
    baseline: float
    """Value of the baseline. Example: 3.0"""
    comparison: float
    """Value of the comparison side. Example: 4.0"""
    difference: float
    """Comparison minus baseline."""
    shrunken_difference: float | None
    """Expected difference in further repeats, which orders the scenarios; null without repeats.

    Example: 0.7
    """
    change: ChangeDirection
    """The direction of the difference."""
    standard_error: float | None
    """Standard error of the difference; null unless each case has several results on both sides."""
    p: float | None
    """p of a test stratified by persona; null with fewer than 5 results on a side, and for averages of targets."""
    q: float | None
    """p adjusted over all scenarios by Benjamini and Hochberg's method. Example: 0.01"""


class ScenarioChangePage(ResponseModel):
    items: list[ScenarioChangeResponse]
    next_cursor: str | None
