"""Rescores (grading existing transcripts again), and pass rates of a run or a rescore."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from cupel_core.contract.budgets import MaxBudgetUsd, OwnBudgetResponse
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.fields import Assertions, Flag, LongText, ModelId, Url
from cupel_core.contract.results import ScoringResponse, SpendResponse, VerdictResponse
from cupel_core.contract.runs import FailureResponse
from cupel_core.contract.unscored import UnscoredReasonResponse, UnscoredReasons
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.scoring.rescores import RescoreResultView, RescoreSpec, RescoreStatus, RescoreView
from cupel_core.domain.scoring.scores import ColumnScores, ScenarioScoresView, Scores


class CriteriaInput(RequestModel):
    success: LongText | None = None
    failure: LongText | None = None

    @model_validator(mode="after")
    def _has_criteria(self) -> "CriteriaInput":
        if not (self.success or self.failure):
            raise ValueError("must have success or failure, or both")
        return self


class CreateRescore(RequestModel):
    """Omitted fields keep the run's configuration."""

    model_config = example(
        {
            "judgeModel": "anthropic/claude-sonnet-5-5",
            "assertions": [{"type": "contains", "value": "refund"}],
            "criteria": {"success": "The agent explains the 30-day limit."},
        }
    )

    assertions: Annotated[
        Assertions | None,
        Field(description="Used instead of the definition's and its scenarios'; see docs/assertions.md"),
    ] = None
    judge_model: Annotated[
        ModelId | None, Field(description="Judge model; if it differs, verdicts on criteria are computed again")
    ] = None
    embedding_model: ModelId | None = None
    evaluator_url: Url | None = None
    criteria: Annotated[CriteriaInput | None, Field(description="Criteria to use instead of each scenario's own")] = (
        None
    )

    max_budget_usd: Annotated[
        MaxBudgetUsd | None,
        Field(
            description="What the rescore may spend, in USD: it is stopped when this is used up. Without it, the "
            "rescore is paid from the budget of its run, if that has one"
        ),
    ] = None
    allow_unpriced: Annotated[
        Flag,
        Field(
            description="Whether a rescore may call models whose price is unknown although it, its run or the "
            "workspace has a budget; they cost nothing"
        ),
    ] = False

    def spec(self) -> RescoreSpec:
        return RescoreSpec(
            assertions=self.assertions,
            judge_model=self.judge_model,
            embedding_model=self.embedding_model,
            evaluator_url=self.evaluator_url,
            criteria=Criteria(self.criteria.success, self.criteria.failure) if self.criteria else None,
            max_budget_usd=self.max_budget_usd,
            allow_unpriced=self.allow_unpriced,
        )


class UpdateRescoreBudget(RequestModel):
    model_config = example({"maxBudgetUsd": 4})

    max_budget_usd: Annotated[MaxBudgetUsd, Field(description="What the rescore may spend in all, in USD")]


class RescoreConfigResponse(ResponseModel):
    """Null fields keep the run's configuration."""

    assertions: list[dict[str, Any]] | None
    judge_model: str | None
    embedding_model: str | None
    evaluator_url: str | None
    criteria: dict[str, str] | None


class RescoreProgressResponse(ResponseModel):
    """Numbers of transcripts."""

    total: int
    completed: Annotated[int, Field(description="Transcripts that were scored")]
    failed: Annotated[int, Field(description="Transcripts with a weighted result that could not be computed")]


class RescoreBudgetResponse(OwnBudgetResponse):
    """What is used of a rescore's own budget, as its workers have last reported: at most a minute ago."""


class RescoreResponse(ResponseModel):
    id: str
    run_id: str
    status: RescoreStatus
    config: RescoreConfigResponse
    progress: RescoreProgressResponse
    created_at: Time
    completed_at: Time | None
    failure: FailureResponse | None
    budget: Annotated[
        RescoreBudgetResponse | None, Field(description="Null without a budget of its own: that of the run pays")
    ]

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
    scenario_id: str
    scenario_name: Annotated[str | None, Field(description="Null only if the run's snapshot is gone")]
    persona_id: str | None
    success: Annotated[bool | None, Field(description="Null if nothing was graded or grading failed")]
    score: Annotated[float | None, Field(description="From 0 to 1")]
    scoring: Annotated[ScoringResponse | None, Field(description="Null once the probe's content has been deleted")]
    verdict: VerdictResponse | None
    judge_spend: Annotated[SpendResponse, Field(description="Spent on judging"), read_from("judge")]

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

    judged: Annotated[int, Field(description="Number of transcripts with a result")]
    successes: int
    unscored: Annotated[
        int, Field(description="Number of transcripts without a result; excluded from the other figures")
    ]
    mean: Annotated[float | None, Field(description="Pass rate")]
    standard_error: Annotated[float | None, Field(description="Standard error of the mean, clustered by scenario")]
    interval95: Annotated[
        list[float] | None,
        Field(description="95% Wilson score interval, using the effective sample size"),
        read_from("interval"),
    ]
    mean_score: float | None
    pass_at_k: Annotated[
        float | None, Field(description=f"{_ANY_OF_K} scenarios; {_UNLESS_FEWER}"), read_from("pass_at_k.mean")
    ]
    pass_at_k_standard_error: Annotated[
        float | None, Field(description=_ERROR_OF_K), read_from("pass_at_k.standard_error")
    ]
    pass_hat_k: Annotated[float | None, Field(description=_ALL_OF_K), read_from("pass_hat_k.mean")]
    pass_hat_k_standard_error: Annotated[
        float | None, Field(description=_ERROR_OF_K), read_from("pass_hat_k.standard_error")
    ]
    pass_k_scenarios: Annotated[
        int,
        Field(description="Scenarios with at least k results, which pass@k and pass^k are of"),
        read_from("pass_at_k.scenarios"),
    ]
    scenario_count: Annotated[int, Field(description="All scenarios of the run"), read_from("scenarios")]
    metrics: Annotated[dict[str, float], Field(description="Mean of each named metric, and derived metrics")]
    tags: Annotated[dict[str, int], Field(description="Number of failed transcripts by failure category")]
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
    rescore_id: Annotated[
        str | None, Field(description="Rescore the figures come from; null for the run's own scoring")
    ]
    k: Annotated[int, Field(description="k of pass@k and pass^k")]
    models: Annotated[list[ColumnScoresResponse], Field(description="By target, then by prompt")]

    @classmethod
    def of(cls, scores: Scores, rescore_id: str | None) -> "RunScoresResponse":
        columns = scores.run.plan.columns
        models = [ColumnScoresResponse.of(each, columns[each.column], scores.messages) for each in scores.columns]
        return cls.from_value(scores, rescore_id=rescore_id, models=models)


class ScenarioScoresResponse(ColumnFields):
    scenario_id: str
    scenario_name: Annotated[str | None, Field(description="Null only if the run's snapshot is gone")]
    judged: Annotated[int, Field(description="Number of transcripts with a result")]
    successes: int
    unscored: int
    mean: Annotated[float | None, Field(description="Pass rate")]
    standard_error: Annotated[
        float | None, Field(description="Standard error of the mean over this scenario's results")
    ]
    pass_at_k: Annotated[float | None, Field(description=f"{_ANY_OF_K} personas; {_UNLESS_FEWER}")]
    pass_hat_k: Annotated[float | None, Field(description=_ALL_OF_K)]

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
