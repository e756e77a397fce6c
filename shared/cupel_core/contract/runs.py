"""Runs, their probes and their events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr

from cupel_core.contract.budgets import BudgetUseResponse, ExhaustedBudget
from cupel_core.contract.columns import PromptId, TargetId, TargetResponse
from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.contract.estimates import StartEstimate
from cupel_core.contract.fields import Flag
from cupel_core.contract.results import CostUsd
from cupel_core.contract.run_rates import RunRatesResponse
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.runs.labels import MetadataValue
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import (
    PauseReason,
    Priority,
    Run,
    RunEventType,
    RunStatus,
    StarterType,
)
from cupel_core.domain.runs.run_spend import RunSpend
from cupel_core.domain.runs.views import RunView
from cupel_core.domain.scoring.default_evaluators import EvaluatorName, EvaluatorStatus

WritesReport = Annotated[Flag, Field(description="Whether a report is written when the run completes")]
TriesRevisedPrompt = Annotated[
    Flag,
    Field(
        description="Whether that report's revised prompt is tried, for at most the run's cost and two further calls"
    ),
]


class RunConfigResponse(ResponseModel):
    models: list[str]
    """The models of its targets, each once."""
    targets: Annotated[list[TargetResponse], read_from("plan.targets")]
    prompt_ids: Annotated[list[str], read_from("plan.prompt_ids")]
    """The definition's prompts; empty if it has none. Example: ["plain", "polite"]"""
    sample_percentage: int
    """Example: 10"""
    sample_seed: int
    """Seed of the sample: same version, seed and percentage give the same scenarios. Example: 17"""
    repeats: Annotated[int, read_from("plan.repeats")]
    temperature: float | None
    """Temperature in `params`."""
    params: dict[str, Any]
    """Defaults of the parameters that a target knows and does not set."""
    max_attempts: int | None
    retry_delay_seconds: float | None
    """Longest wait before the second attempt of a call; null for the default."""
    call_timeout_seconds: float | None
    """Timeout of one call to a target; null for the default."""
    max_turns: int | None
    max_concurrency: int | None
    stagger_ms: list[int] | None
    profile_id: str | None = None
    profile_version: int | None = None
    """Version of the profile; null without one."""
    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    evaluator_url: str | None
    summarizer_model: str | None = None
    """Model that writes the summaries of its reports; null for the judge."""
    judge_max_output_tokens: int | None = None
    evaluators: dict[EvaluatorName, EvaluatorStatus]
    """Default evaluators of a scale run: active, or why not; empty for other runs.

    Example: {"goal": "active", "refusal": "active", "format": "no_format", "toxicity": "active"}
    """
    definition_snapshot: dict[str, Any] | None
    """The definition's content at the run's start; null in lists and for a run just started.

    Example: {"system": "You are a support agent of an online shop."}
    """
    price_list: str | None
    """Price list at the run's start, unless the workspace had its own prices; null in lists and for a run just started.

    Example: genai-prices 0.2.3
    """

    @classmethod
    def of(cls, view: RunView) -> "RunConfigResponse":
        run = view.run
        return cls.from_value(
            run,
            **vars(run.grader_config),
            temperature=run.params.get("temperature"),
            profile_id=run.profile.id if run.profile else None,
            profile_version=run.profile.version if run.profile else None,
            definition_snapshot=view.definition_snapshot,
            price_list=view.price_list,
        )


class RunProgressResponse(ResponseModel):
    """Numbers of probes."""

    total: int
    """Planned probes."""
    completed: int
    """Probes with a transcript."""
    failed: int
    """Probes that ended in an infrastructure error. Example: 2"""


class ModelSpendResponse(ResponseModel):
    """What the probes of a target and prompt have cost, including the calls of judges and simulated users for them."""

    model: str
    target_id: TargetId
    prompt_id: PromptId
    cost_usd: Annotated[CostUsd, read_from("known_usd")]
    priced_usd: float
    """The part of it whose price is known, in USD."""


class RunSpendResponse(ResponseModel):
    """Spent so far on all calls of targets, judges, simulated users and summaries. `costUsd` sums `totalSpend.costUsd`
    of the transcripts and errors, also of earlier attempts, and the costs of conversations that a pause or cancellation
    has interrupted."""

    cost_usd: Annotated[CostUsd, read_from("recorded.known_usd")]
    priced_usd: Annotated[float, read_from("recorded.priced_usd")]
    """The part of it whose price is known, in USD."""
    lost_usd: Annotated[float, read_from("lost.priced_usd")]
    """Spent besides, in USD, on outcomes that do not count: a second one of a probe that two workers ran after a fault,
    and errors too late for a retry of the running run; only calls with a known price.

    Example: 0.0
    """

    models: list[ModelSpendResponse]
    """The same by target and prompt."""
    budget: BudgetUseResponse | None
    """Used part of its budget; null without one."""
    estimated_usd: StartEstimate
    as_of: Time | None
    """Time of the latest recorded cost, or of the run's end; null before. Figures of `budget` are reported apart, at
    least once a minute.

    Example: 2026-11-20T09:34:10Z
    """

    @classmethod
    def of(
        cls,
        spend: RunSpend,
        columns: Sequence[Column],
        budget: BudgetUseResponse | None = None,
        estimated: EstimateInterval | None = None,
        as_of: datetime | None = None,
    ) -> "RunSpendResponse":
        return cls.from_value(
            spend,
            models=[
                ModelSpendResponse.from_value(
                    spend.of_column(number),
                    model=column.target.model,
                    target_id=column.target.id,
                    prompt_id=column.prompt_id,
                )
                for number, column in enumerate(columns)
            ],
            budget=budget,
            estimated_usd=estimated,
            as_of=as_of,
        )


class FailureResponse(ResponseModel):
    where: str
    """The phase that failed. Example: summarize"""
    why: str
    """Explanation of the failure. Example: code in JavaScript is never executed"""


class SuspendedModelResponse(ResponseModel):
    """A model that is temporarily not called, because its calls kept failing."""

    model: str
    until: Time
    """Time at which a single probe may try the model again. Example: 2026-11-20T10:00:00Z"""
    reason: str


class StartedByResponse(ResponseModel):
    """Who or what started a run."""

    type: StarterType
    """Kind of starter: a token, a user, a schedule or the system."""
    id: str | None
    """Id of the token, the user or the schedule. Example: tok_01"""
    name: str | None
    """Example: nightly CI"""


class PauseCauseResponse(ResponseModel):
    model: str
    """The model that cannot be called."""
    message: str
    """Why, in the provider's words."""


class RunResponse(ResponseModel):
    id: str
    name: str | None
    """Given by a person; see `definitionName` otherwise. Example: Release candidate 2"""
    tags: list[str]
    metadata: dict[str, MetadataValue]
    definition_id: str
    definition_name: str
    """Name at the run's start."""
    definition_version: int
    scenario_count: int
    """Number of scenarios of the run."""
    scenario_total: int
    """Number of scenarios of the definition's version. Example: 200"""
    started_by: StartedByResponse
    """Token, user or schedule that started it."""
    rerun_of: str | None
    """The run that it repeats. Example: run_01k1f0ab"""
    experiment_id: str | None
    schedule_id: str | None
    """The schedule that started it. Example: sch_01"""
    eval_id: str | None
    """The eval that it is a run of."""
    execution_id: int | None
    """Sequence number of the eval run within the workspace. Example: 17"""
    playground: bool
    """True if it is a playground run. Example: false"""
    scale: bool
    """True if it was started as a scale run. Example: false"""
    report: WritesReport
    """Example: false"""
    trial: TriesRevisedPrompt
    """Example: false"""
    status: RunStatus
    pause_reason: PauseReason | None
    """Who or what paused the run."""
    pause_cause: PauseCauseResponse | None
    """Cause to repair if Cupel paused the run; it then resumes by itself, unless a user has paused it since."""
    exhausted_budget: ExhaustedBudget
    priority: Priority
    config: RunConfigResponse
    """The settings that the run was started with."""
    progress: RunProgressResponse
    spend: RunSpendResponse
    created_at: Time
    started_at: Time | None
    completed_at: Time | None
    duration_ms: int | None
    """Time from the start of the first probe to the end of the run; null until then. Example: 248000"""
    updated_at: Time
    """When its status, progress or labels last changed."""
    last_accessed_at: Time | None
    """Time of the last read; null if never. Example: 2026-11-20T10:00:00Z"""
    failure: FailureResponse | None
    suspended_models: list[SuspendedModelResponse]
    """Models that are temporarily not called, because their calls kept failing; empty in lists."""
    rates: RunRatesResponse | None
    """Its pass rates; null until it is over, without a completed probe, and over HTTP outside of lists."""

    _stored_run: Run | None = PrivateAttr(default=None)

    @property
    def stored_run(self) -> Run | None:
        """The run that this response describes, for those who read more of the run."""
        return self._stored_run

    @classmethod
    def of(cls, view: RunView, **further: Any) -> Self:
        run, budget = view.run, BudgetUseResponse.find(view.run, view.account, view.progress)
        response = cls.from_value(
            run,
            **vars(run.labels),
            config=RunConfigResponse.of(view),
            progress=view.progress,
            spend=RunSpendResponse.of(view.spend, run.plan.columns, budget, run.estimated_usd, view.spent_at),
            updated_at=view.updated_at,
            last_accessed_at=view.last_accessed_at,
            suspended_models=view.suspended_models,
            rates=RunRatesResponse.find(view.rates, run.plan),
            **further,
        )
        response._stored_run = run
        return response


class StoppedRunResponse(RunResponse):
    """A run that was paused or cancelled."""

    calls_in_flight: int
    """Conversations with a call in flight, as workers reported them within the last three seconds. These calls are
    recorded. No call begins later than 5 s after this response.

    Example: 3
    """


class RunPage(ResponseModel):
    items: list[RunResponse]
    next_cursor: str | None


class RunEventResponse(ResponseModel):
    seq: int | None
    """Numbered from 1 without gaps; null for progress events, which are computed and not stored. Example: 4"""
    type: RunEventType
    """Kind of event, such as `run.finished`."""
    ts: Time
    """Time of the event. Example: 2026-11-20T09:30:02Z"""
    run_id: str
    data: dict[str, Any]
    """Content of the event; its fields depend on `type`. Example: {"from": "PENDING", "to": "RUNNING"}"""


class RunEventList(ResponseModel):
    items: list[RunEventResponse]
    """The events, in order."""


class EventTicketResponse(ResponseModel):
    ticket: str
    """The secret; shown only once. Example: Zk3xq8w2"""
    path: str
    """Path of the events with the ticket, for `new EventSource`.

    Example: /v1/runs/run_01k1f0aa/events?ticket=Zk3xq8w2
    """
    expires_at: Time
    """Expiry of the ticket."""
