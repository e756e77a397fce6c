"""Trials of a report's revised prompt."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.budgets import BudgetFields, MaxBudgetUsd
from cupel_core.contract.common import ResponseModel, Time, example, same_fields
from cupel_core.contract.comparisons import OperatingDifferencesResponse, UsageRatioResponse
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

    max_budget_usd: Annotated[
        MaxBudgetUsd | None,
        Field(description="What both prompts may cost together, in USD; no limit by default"),
    ] = None
    scenarios: Annotated[
        int | None,
        Field(
            strict=True,
            ge=1,
            le=1_000_000,
            description="Scenarios to try; by default so many that a difference of 10 percentage points is found, as "
            "far as three quarters of the budget, or half of the run's conversations each, allow",
        ),
    ] = None
    repeats: Annotated[
        int | None,
        Field(strict=True, ge=1, le=MAX_REPEATS, description="Conversations per scenario; chosen likewise by default"),
    ] = None

    def request(self) -> TrialRequest:
        return TrialRequest(**same_fields(self, names_of(TrialRequest)))


class EstimateTrial(CreateTrial):
    """The body of a start."""


class TrialPlanResponse(ResponseModel):
    """What a trial would be."""

    scenarios: Scenarios
    unseen_scenarios: UnseenScenarios
    repeats: TrialRepeats
    detectable_difference: DetectableDifference
    max_budget_usd: TrialBudget
    estimate: Annotated[EstimateResponse, Field(description="Of both prompts together")]


class TrialTagResponse(ResponseModel):
    tag: Annotated[str, Field(description="Failure tag")]
    original: Annotated[int, Field(description="Conversations with the original prompt that have it")]
    revised: Annotated[int, Field(description="Conversations with the revised prompt that have it")]


class TrialResultResponse(ResponseModel):
    """What the comparison of both prompts says."""

    verdict: Annotated[TrialVerdict, Field(description="Whether the revised prompt raises the pass rate")]
    sentence: Annotated[str, Field(description="The verdict in words, with its figures")]
    original_rate: Annotated[float | None, Field(description="Pass rate with the original prompt")]
    revised_rate: Annotated[float | None, Field(description="Pass rate with the revised prompt")]
    difference: Annotated[float | None, Field(description="Revised minus original")]
    interval: Annotated[
        list[float] | None, Field(serialization_alias="interval95", description="95% interval of the difference")
    ]
    detectable_difference: DetectableDifference
    p: Annotated[float | None, Field(description="Two-sided p-value")]
    operations: Annotated[
        OperatingDifferencesResponse, Field(description="What both took and cost; described, not tested")
    ]
    cost_ratio: Annotated[UsageRatioResponse, Field(description="What the target's calls cost, paired by scenario")]
    time_ratio: Annotated[UsageRatioResponse, Field(description="How long they took")]
    tags: Annotated[list[TrialTagResponse], Field(description="At most 20 failure tags, the most frequent first")]
    notes: Annotated[list[str], Field(description="What limits these figures")]


class TrialResponse(ResponseModel):
    """The original and the revised system prompt on the same scenarios, both run anew."""

    status: Annotated[JobStatus, Field(description="RUNNING until both runs have ended and are compared")]
    original_run_id: Annotated[str, Field(description="The run with the original prompt")]
    revised_run_id: Annotated[str, Field(description="The run with the revised prompt")]
    experiment_id: Annotated[str, Field(description="The experiment that both belong to")]
    comparison_id: Annotated[str | None, Field(description="The comparison of both; null until it is requested")]
    scenarios: Scenarios
    unseen_scenarios: UnseenScenarios
    repeats: TrialRepeats
    detectable_difference: DetectableDifference
    max_budget_usd: TrialBudget
    created_at: Time
    failure: Annotated[str | None, Field(description="Why there will be no result")]
    result: Annotated[TrialResultResponse | None, Field(description="Null until it is completed")]
