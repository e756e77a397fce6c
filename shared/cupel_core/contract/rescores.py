"""Rescores (grading existing transcripts again), and pass rates of a run or a rescore."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from cupel_core.contract.budgets import MaxBudgetUsd, OwnBudgetResponse
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.fields import Assertions, Flag, LongText, ModelId, Url
from cupel_core.contract.labels import Criterion
from cupel_core.contract.results import ScoringResponse, SpendResponse, VerdictResponse
from cupel_core.contract.runs import FailureResponse
from cupel_core.contract.unscored import UnscoredReasonResponse, UnscoredReasons
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.labelling.label_sets import MAX_DRAWS
from cupel_core.domain.labelling.labels import DECISION, RESULT
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.scoring.rescores import (
    LabelledSelection,
    RescoreResultView,
    RescoreSpec,
    RescoreStatus,
    RescoreView,
)
from cupel_core.domain.scoring.scores import ColumnScores, ScenarioScoresView, Scores
from cupel_core.domain.text.json_limits import EXACT_INTEGERS


class CriteriaInput(RequestModel):
    success: LongText | None = None
    """Description of a successful conversation. Example: The agent explains the 30-day limit."""
    failure: LongText | None = None
    """Description of a failed conversation. Example: The agent promises a refund after the limit."""

    @model_validator(mode="after")
    def _has_criteria(self) -> "CriteriaInput":
        if not (self.success or self.failure):
            raise ValueError("must have success or failure, or both")
        return self


class LabelledTranscripts(RequestModel):
    criterion: Criterion = RESULT
    """`result` or the name of a check. Example: result"""
    count: Annotated[int | None, Field(ge=1, le=MAX_DRAWS, strict=True)] = None
    """Number of them, drawn at random; null for all. Example: 10"""
    seed: Annotated[int, Field(ge=0, le=EXACT_INTEGERS, strict=True)] = 0
    """The same seed draws the same transcripts. Example: 1"""

    @field_validator("criterion")
    @classmethod
    def _is_graded(cls, criterion: str) -> str:
        if criterion == DECISION:
            raise ValueError("must be `result` or the name of a check: rescores judge no codes")
        return criterion

    def selection(self) -> LabelledSelection:
        return LabelledSelection(self.criterion, self.count, self.seed)


class CreateRescore(RequestModel):
    """Omitted fields keep the run's configuration."""

    model_config = example(
        {
            "judgeModel": "anthropic/claude-sonnet-5-5",
            "assertions": [{"type": "contains", "value": "refund"}],
            "criteria": {"success": "The agent explains the 30-day limit."},
        }
    )

    assertions: Assertions | None = None
    """Used instead of the definition's and its scenarios'; see docs/assertions.md."""
    judge_model: ModelId | None = None
    """Judge model; if it differs, verdicts on criteria are computed again."""
    embedding_model: ModelId | None = None
    evaluator_url: Url | None = None
    criteria: CriteriaInput | None = None
    """Criteria to use instead of each scenario's own."""
    judge_again: Flag = False
    """True to judge criteria again in any case. Example: false"""
    labelled: LabelledTranscripts | None = None
    """Grade only transcripts with blind labels; null for all."""

    max_budget_usd: MaxBudgetUsd | None = None
    """Budget of the rescore, in USD: it is stopped when this is used up. By default it is paid from the budget of its
    run, if that has one."""
    allow_unpriced: Flag = False
    """Whether models whose price is unknown may be called although the rescore, its run or the workspace has a budget;
    they cost nothing."""

    def spec(self) -> RescoreSpec:
        return RescoreSpec(
            assertions=self.assertions,
            judge_model=self.judge_model,
            embedding_model=self.embedding_model,
            evaluator_url=self.evaluator_url,
            criteria=Criteria(self.criteria.success, self.criteria.failure) if self.criteria else None,
            max_budget_usd=self.max_budget_usd,
            allow_unpriced=self.allow_unpriced,
            judges_again=self.judge_again,
            labelled=None if self.labelled is None else self.labelled.selection(),
        )


class UpdateRescoreBudget(RequestModel):
    model_config = example({"maxBudgetUsd": 4})

    max_budget_usd: MaxBudgetUsd
    """Spending limit of the rescore in USD."""


class RescoreConfigResponse(ResponseModel):
    """Null fields keep the run's configuration."""

    assertions: list[dict[str, Any]] | None
    """Checks of the answer; see docs/assertions.md."""
    judge_model: str | None
    embedding_model: str | None
    evaluator_url: str | None
    criteria: dict[str, str] | None
    """Criteria of the judge. Example: {"success": "The agent explains the 30-day limit."}"""


class RescoreProgressResponse(ResponseModel):
    """Numbers of transcripts."""

    total: int
    """Transcripts to grade."""
    completed: int
    """Transcripts that were scored."""
    failed: int
    """Transcripts with a weighted result that could not be computed. Example: 2"""


class RescoreBudgetResponse(OwnBudgetResponse):
    """What is used of a rescore's own budget, as its workers have last reported: at most a minute ago."""


class RescoreResponse(ResponseModel):
    id: str
    """Example: rsc_01"""
    run_id: str
    status: RescoreStatus
    config: RescoreConfigResponse
    """Settings of the grading."""
    is_partial: bool
    """True if only labelled transcripts are graded. Example: false"""
    progress: RescoreProgressResponse
    created_at: Time
    completed_at: Time | None
    failure: FailureResponse | None
    budget: RescoreBudgetResponse | None
    """Null without a budget of its own: that of the run pays."""

    @classmethod
    def of(cls, view: RescoreView) -> "RescoreResponse":
        rescore, counts, account = view
        max_usd = rescore.max_budget_usd
        config = encode(rescore.config)
        return cls.from_value(
            rescore,
            config=RescoreConfigResponse.from_value(
                rescore.config, assertions=config.get("assertions"), criteria=config.get("criteria")
            ),
            progress=RescoreProgressResponse(
                total=max(rescore.total, counts.scored + counts.errors), completed=counts.scored, failed=counts.errors
            ),
            budget=None
            if max_usd is None
            else RescoreBudgetResponse.from_value(account or BudgetAccount(), max_budget_usd=max_usd),
        )


class RescorePage(ResponseModel):
    items: list[RescoreResponse]
    next_cursor: str | None


class RescoreResultResponse(ColumnFields):
    probe_index: Annotated[int, read_from("index")]
    """Index of the probe in its run, from 0; never changes."""
    scenario_id: str
    scenario_name: str | None
    """Null only if the run's snapshot is gone."""
    persona_id: str | None
    success: bool | None
    """Null if nothing was graded or grading failed."""
    score: float | None
    """Score from 0 to 1."""
    scoring: ScoringResponse | None
    """Null once the probe's content has been deleted."""
    verdict: VerdictResponse | None
    judge_spend: Annotated[SpendResponse, read_from("judge")]
    """Spent on judging."""

    @classmethod
    def of(cls, view: RescoreResultView) -> "RescoreResultResponse":
        scoring = view.result.scoring
        return cls.from_value(
            view.result,
            **cls.fields_of_column(view.column),
            scenario_name=view.scenario_name,
            verdict=scoring.verdict if scoring else None,
        )


class RescoreResultPage(ResponseModel):
    items: list[RescoreResultResponse]
    next_cursor: str | None


_UNLESS_FEWER = "null with fewer than k results"
_ALL_OF_K = f"Unbiased estimate of the probability that all k repeats succeed; {_UNLESS_FEWER}"
_ERROR_OF_K = "Standard error over scenarios; null with fewer than two of them"
_ANY_OF_K = "Unbiased estimate of the probability that at least one of k repeats succeeds, averaged over"


class ColumnScoresResponse(ColumnFields):
    """The scores of one target, asked by one prompt."""

    judged: int
    """Number of transcripts with a result."""
    successes: int
    """Number of passed ones."""
    unscored: int
    """Number of transcripts without a result; excluded from the other figures."""
    mean: float | None
    """Pass rate."""
    standard_error: float | None
    """Standard error of the mean, clustered by scenario."""
    interval95: Annotated[list[float] | None, read_from("interval")]
    """95% Wilson score interval, using the effective sample size."""
    mean_score: float | None
    """Mean score; null if nothing was scored. Example: 0.88"""
    pass_at_k: Annotated[
        float | None, Field(description=f"{_ANY_OF_K} scenarios; {_UNLESS_FEWER}"), read_from("pass_at_k.mean")
    ]
    """Example: 0.97"""
    pass_at_k_standard_error: Annotated[
        float | None, Field(description=_ERROR_OF_K), read_from("pass_at_k.standard_error")
    ]
    """Example: 0.02"""
    pass_hat_k: Annotated[float | None, Field(description=_ALL_OF_K), read_from("pass_hat_k.mean")]
    """Example: 0.83"""
    pass_hat_k_standard_error: Annotated[
        float | None, Field(description=_ERROR_OF_K), read_from("pass_hat_k.standard_error")
    ]
    """Example: 0.06"""
    pass_k_scenarios: Annotated[int, read_from("pass_at_k.scenarios")]
    """Scenarios with at least k results, which pass@k and pass^k are of. Example: 17"""
    scenario_count: Annotated[int, read_from("scenarios")]
    """All scenarios of the run."""
    metrics: dict[str, float]
    """Mean of each named metric, and derived metrics. Example: {"brevity": 0.95}"""
    tags: dict[str, int]
    """Number of failed transcripts by failure category. Example: {"polite": 12}"""
    unscored_reasons: UnscoredReasons

    @classmethod
    def of(cls, scores: ColumnScores, column: Column, messages: Mapping[int, str]) -> "ColumnScoresResponse":
        return cls.from_value(
            scores,
            **cls.fields_of_column(column),
            unscored_reasons=UnscoredReasonResponse.list_of(scores.totals.unscored_causes, messages),
        )


class RunScoresResponse(ResponseModel):
    run_id: Annotated[str, read_from("run.id")]
    rescore_id: str | None
    """Rescore the figures come from; null for the run's own scoring."""
    k: int
    """k of pass@k and pass^k. Example: 3"""
    models: list[ColumnScoresResponse]
    """Scores by target, then by prompt."""

    @classmethod
    def of(cls, scores: Scores, rescore_id: str | None) -> "RunScoresResponse":
        columns = scores.run.plan.columns
        models = [ColumnScoresResponse.of(each, columns[each.column], scores.messages) for each in scores.columns]
        return cls.from_value(scores, rescore_id=rescore_id, models=models)


class ScenarioScoresResponse(ColumnFields):
    scenario_id: str
    scenario_name: str | None
    """Null only if the run's snapshot is gone."""
    judged: int
    """Number of transcripts with a result."""
    successes: int
    """Number of passed ones."""
    unscored: int
    """Number of ones not scored."""
    mean: float | None
    """Pass rate."""
    standard_error: float | None
    """Standard error of the mean over this scenario's results."""
    pass_at_k: Annotated[float | None, Field(description=f"{_ANY_OF_K} personas; {_UNLESS_FEWER}")]
    """Example: 0.97"""
    pass_hat_k: Annotated[float | None, Field(description=_ALL_OF_K)]
    """Example: 0.83"""

    @classmethod
    def of(cls, view: ScenarioScoresView) -> "ScenarioScoresResponse":
        return cls.from_value(
            view.scores,
            **cls.fields_of_column(view.column),
            scenario_id=view.scenario_id,
            scenario_name=view.scenario_name,
        )


class ScenarioScoresPage(ResponseModel):
    items: list[ScenarioScoresResponse]
    next_cursor: str | None
