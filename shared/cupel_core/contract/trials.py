"""Trials of a report's revised prompt."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.budgets import BudgetFields, MaxBudgetUsd
from cupel_core.contract.common import ResponseModel, Time, example, same_fields
from cupel_core.contract.compared_figures import OperatingDifferencesResponse, UsageRatioResponse
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.reports.trials import MAX_REPEATS, TrialRequest, TrialVerdict
from cupel_core.domain.runs.settings import names_of

Scenarios = Annotated[int, Field(description="Scenarios that both prompts are tried on")]
UnseenScenarios = Annotated[
    int, Field(description="Those of them of which the summarizer has read no conversation; they are taken first")
]
TrialRepeats = Annotated[int, Field(description="Conversations of either prompt per scenario, target and persona")]
DetectableDifference = Annotated[
    float, Field(description="Difference of pass rates that such a trial finds with a chance of 80 %, from 0 to 1")
]
TrialBudget = Annotated[float | None, Field(description="What both prompts may cost together; null without a limit")]


class CreateTrial(BudgetFields):
    """All fields may be omitted."""

    model_config = example({"maxBudgetUsd": 2, "scenarios": 20, "repeats": 3})

    max_budget_usd: MaxBudgetUsd | None = None
    """Spending limit of both prompts together in USD; none by default."""
    scenarios: Annotated[int | None, Field(strict=True, ge=1, le=1_000_000)] = None
    """Scenarios to try; by default enough to find a difference of 10 percentage points, as far as three quarters of the
    budget, or half of the run's conversations each, allow."""
    repeats: Annotated[int | None, Field(strict=True, ge=1, le=MAX_REPEATS)] = None
    """Conversations per scenario; chosen likewise by default."""

    def request(self) -> TrialRequest:
        return TrialRequest(**same_fields(self, names_of(TrialRequest)))


class EstimateTrial(CreateTrial):
    """The body of a start."""


class TrialPlanResponse(ResponseModel):
    """The plan of a trial."""

    scenarios: Scenarios
    """Example: 20"""
    unseen_scenarios: UnseenScenarios
    """Example: 20"""
    repeats: TrialRepeats
    detectable_difference: DetectableDifference
    """Example: 0.1"""
    max_budget_usd: TrialBudget
    estimate: EstimateResponse
    """Estimate for both prompts together."""


class TrialTagResponse(ResponseModel):
    tag: str
    """Failure tag."""
    original: int
    """Conversations with the original prompt that have it. Example: 24"""
    revised: int
    """Conversations with the revised prompt that have it. Example: 12"""


class TrialResultResponse(ResponseModel):
    """Result of the comparison of both prompts."""

    verdict: TrialVerdict
    """Verdict on the pass rate of the revised prompt."""
    sentence: str
    """The verdict in words, with its figures.

    Example: The revised prompt helps: 80.0% passed instead of 60.0% (+20.0 percentage points).
    """
    original_rate: float | None
    """Pass rate with the original prompt. Example: 0.6"""
    revised_rate: float | None
    """Pass rate with the revised prompt. Example: 0.8"""
    difference: float | None
    """Revised minus original. Example: 0.2"""
    interval: Annotated[list[float] | None, Field(serialization_alias="interval95")]
    """95% interval of the difference. Example: [0.08, 0.32]"""
    detectable_difference: DetectableDifference
    """Example: 0.1"""
    p: float | None
    """Two-sided p-value."""
    operations: OperatingDifferencesResponse
    """Time and cost of both; described, not tested."""
    cost_ratio: UsageRatioResponse
    """Cost of the target's calls, paired by scenario."""
    time_ratio: UsageRatioResponse
    """Duration of these calls."""
    tags: list[TrialTagResponse]
    """Failure tags, the most frequent first; at most 20."""
    notes: list[str]
    """Limits of these figures.

    Example: ["The model that revised the prompt is also the judge, and may prefer what it asked for."]
    """


class TrialResponse(ResponseModel):
    """The original and the revised system prompt on the same scenarios, both run anew."""

    status: JobStatus
    """RUNNING until both runs have ended and are compared."""
    original_run_id: str
    """The run with the original prompt. Example: run_01k1f0aa"""
    revised_run_id: str
    """The run with the revised prompt. Example: run_01k1f0ab"""
    experiment_id: str
    """The experiment that both belong to."""
    comparison_id: str | None
    """The comparison of both; null until it is requested. Example: cmp_5d41402abc4b2a76b9719d91"""
    scenarios: Scenarios
    """Example: 20"""
    unseen_scenarios: UnseenScenarios
    """Example: 20"""
    repeats: TrialRepeats
    detectable_difference: DetectableDifference
    """Example: 0.1"""
    max_budget_usd: TrialBudget
    created_at: Time
    failure: str | None
    """Reason why there will be no result. Example: The agent promises a refund after the limit."""
    result: TrialResultResponse | None
    """Null until it is completed."""
