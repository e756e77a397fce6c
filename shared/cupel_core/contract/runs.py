"""Runs, their probes and their events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr

from cupel_core.contract.budgets import BudgetUseResponse, ExhaustedBudget
from cupel_core.contract.columns import ColumnFields, PromptId, TargetId, TargetResponse
from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.contract.estimates import StartEstimate
from cupel_core.contract.fields import Flag
from cupel_core.contract.results import CostUsd, ProbeResultResponse, RoleCosts, SpendResponse
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.runs.labels import MetadataValue
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import (
    PauseReason,
    Priority,
    ProbeStatus,
    Run,
    RunEventType,
    RunStatus,
    StarterType,
)
from cupel_core.domain.runs.run_spend import RunSpend
from cupel_core.domain.runs.views import ProbeView, RunView
from cupel_core.domain.scoring.default_evaluators import EvaluatorName, EvaluatorStatus

WritesReport = Annotated[Flag, Field(description="Whether a report is written when the run completes")]
TriesRevisedPrompt = Annotated[
    Flag,
    Field(
        description="Whether that report's revised prompt is tried, for at most the run's cost and two further calls"
    ),
]


class RunConfigResponse(ResponseModel):
    models: Annotated[list[str], Field(description="The models of its targets, each once")]
    targets: Annotated[list[TargetResponse], read_from("plan.targets")]
    prompt_ids: Annotated[
        list[str], Field(description="The definition's prompts; empty if it has none"), read_from("plan.prompt_ids")
    ]
    sample_percentage: int
    sample_seed: int
    repeats: Annotated[int, read_from("plan.repeats")]
    temperature: Annotated[float | None, Field(description="That of `params`")]
    params: Annotated[dict[str, Any], Field(description="Of every target that knows them and has none of its own")]
    max_attempts: int | None
    retry_delay_seconds: float | None
    call_timeout_seconds: float | None
    max_turns: int | None
    max_concurrency: int | None
    stagger_ms: list[int] | None
    profile_id: str | None = None
    profile_version: int | None = None
    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    evaluator_url: str | None
    summarizer_model: Annotated[
        str | None, Field(description="Model that writes the summaries of its reports; null for the judge")
    ] = None
    judge_max_output_tokens: int | None = None
    evaluators: Annotated[
        dict[EvaluatorName, EvaluatorStatus],
        Field(description="Of a scale run: whether each default evaluator runs, or why not; empty for other runs"),
    ]
    definition_snapshot: Annotated[
        dict[str, Any] | None,
        Field(description="The definition's content at the run's start; null in lists and for a run just started"),
    ]
    price_list: Annotated[
        str | None,
        Field(
            description="The list that prices came from at the run's start, unless the workspace had its own; null in "
            "lists and for a run just started"
        ),
    ]

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
    completed: int
    failed: Annotated[int, Field(description="Probes that ended in an infrastructure error")]


class ModelSpendResponse(ResponseModel):
    """What the probes of a target and prompt have cost, including the calls of judges and simulated users for them."""

    model: str
    target_id: TargetId
    prompt_id: PromptId
    cost_usd: Annotated[CostUsd, read_from("known_usd")]
    priced_usd: Annotated[float, Field(description="The part of it whose price is known, in USD")]


class RunSpendResponse(ResponseModel):
    """What the run has spent so far, on all calls of targets, judges, simulated users and summaries. `costUsd` is the
    sum of `totalSpend.costUsd` over its transcripts and errors, also those of earlier attempts, and of what the
    conversations have cost that a pause or a cancellation has interrupted."""

    cost_usd: Annotated[CostUsd, read_from("recorded.known_usd")]
    priced_usd: Annotated[
        float, Field(description="The part of it whose price is known, in USD"), read_from("recorded.priced_usd")
    ]
    lost_usd: Annotated[
        float,
        Field(
            description="Spent besides, in USD, on outcomes that do not count: the second one of a probe that two "
            "workers ran after a fault, and errors that came too late for a retry of the running run; only calls whose "
            "price is known"
        ),
        read_from("lost.priced_usd"),
    ]

    models: Annotated[list[ModelSpendResponse], Field(description="The same by target and prompt")]
    budget: Annotated[BudgetUseResponse | None, Field(description="What is used of its budget; null without one")]
    estimated_usd: StartEstimate
    as_of: Annotated[
        Time | None,
        Field(
            description="When the latest of these costs was recorded, or the run ended; null before the first. Those "
            "of `budget` are reported apart, at least once a minute"
        ),
    ]

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
    where: Annotated[str, Field(description="The phase that failed")]
    why: str


class SuspendedModelResponse(ResponseModel):
    """A model that is temporarily not called, because its calls kept failing."""

    model: str
    until: Annotated[Time, Field(description="When a single probe may try the model again")]
    reason: str


class StartedByResponse(ResponseModel):
    """Who or what started a run."""

    type: StarterType
    id: Annotated[str | None, Field(description="Id of the token, the user or the schedule")]
    name: str | None


class PauseCauseResponse(ResponseModel):
    model: Annotated[str, Field(description="The model that cannot be called")]
    message: Annotated[str, Field(description="Why, in the provider's words")]


class RunResponse(ResponseModel):
    id: str
    name: Annotated[str | None, Field(description="Given by a person; see `definitionName` otherwise")]
    tags: list[str]
    metadata: dict[str, MetadataValue]
    definition_id: str
    definition_name: Annotated[str, Field(description="As it was at the start")]
    definition_version: int
    scenario_count: Annotated[int, Field(description="Number of scenarios of the run")]
    scenario_total: Annotated[int, Field(description="Number of scenarios of the definition's version")]
    started_by: StartedByResponse
    rerun_of: Annotated[str | None, Field(description="The run that it repeats")]
    experiment_id: str | None
    schedule_id: Annotated[str | None, Field(description="The schedule that started it")]
    eval_id: Annotated[str | None, Field(description="The eval that it is a run of")]
    execution_id: Annotated[int | None, Field(description="Sequence number of the eval run within the workspace")]
    playground: bool
    scale: Annotated[bool, Field(description="Whether it was started as a scale run")]
    report: WritesReport
    trial: TriesRevisedPrompt
    status: RunStatus
    pause_reason: Annotated[PauseReason | None, Field(description="Who or what paused the run")]
    pause_cause: Annotated[
        PauseCauseResponse | None,
        Field(
            description="What must be repaired if Cupel paused the run; it then resumes by itself, "
            "unless a user has paused it since"
        ),
    ]
    exhausted_budget: ExhaustedBudget
    priority: Priority
    config: RunConfigResponse
    progress: RunProgressResponse
    spend: RunSpendResponse
    created_at: Time
    started_at: Time | None
    completed_at: Time | None
    duration_ms: Annotated[
        int | None, Field(description="From the start of the first probe to the end of the run; null until then")
    ]
    updated_at: Annotated[Time, Field(description="When its status, progress or labels last changed")]
    last_accessed_at: Time | None
    failure: FailureResponse | None
    suspended_models: Annotated[
        list[SuspendedModelResponse],
        Field(description="Models that are temporarily not called, because their calls kept failing; empty in lists"),
    ]

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
            **further,
        )
        response._stored_run = run
        return response


class StoppedRunResponse(RunResponse):
    """A run that was paused or cancelled."""

    calls_in_flight: Annotated[
        int,
        Field(
            description="Conversations with a call in flight, as workers reported them within the last three seconds. "
            "These calls are recorded. No call begins later than 5 s after this response"
        ),
    ]


class RunPage(ResponseModel):
    items: list[RunResponse]
    next_cursor: str | None


class ProbeErrorResponse(ResponseModel):
    """An infrastructure error; it never counts as the model's failure."""

    code: ProbeErrorCode
    message: str
    attempts: Annotated[int, Field(description="Number of calls that were tried")]
    total_spend: Annotated[
        SpendResponse,
        Field(description="Spent on the calls that were answered before the error"),
        read_from("spending.total"),
    ]
    costs: Annotated[RoleCosts, read_from("spending.by_role")]
    created_at: Time


class CaseFields(ResponseModel):
    """What a probe is about, as it was at the run's start."""

    scenario_id: str
    scenario_name: Annotated[str | None, Field(description="Null only if the run's snapshot is gone")]
    persona_id: str | None
    persona_name: str | None
    repeat: Annotated[int, Field(description="From 0")]
    variables: Annotated[dict[str, Any], Field(description="The scenario's `metadata.vars`, used in its assertions")]
    dimensions: Annotated[dict[str, float], Field(description="The scenario's score per dimension")]
    metadata: Annotated[dict[str, Any], Field(description="The scenario's metadata, without `vars`")]


class ProbeResponse(CaseFields, ColumnFields):
    id: str
    run_id: Annotated[str, read_from("run.id")]
    index: Annotated[int, Field(description="Position in the run, from 0; it never changes")]
    status: ProbeStatus
    thread_id: Annotated[str, Field(description="Id under which the agent knows the conversation; changes on retry")]
    created_at: Annotated[Time, Field(description="When its run was created"), read_from("run.created_at")]
    started_at: Annotated[
        Time | None,
        Field(
            description="When its conversation started; of a running probe without a checkpoint, when a worker took "
            "it, which may be a little earlier; null before that, or if not known"
        ),
    ]
    completed_at: Annotated[Time | None, Field(description="When it completed or ended in an error")]
    updated_at: Annotated[Time, Field(description="The latest of these times")]
    latency_ms: Annotated[int | None, Field(description="Time spent in calls of the target")]
    result: ProbeResultResponse | None
    error: ProbeErrorResponse | None
    attempts: Annotated[
        list[ProbeErrorResponse], Field(description="Errors of earlier attempts, before retries, oldest first")
    ]

    @classmethod
    def of(cls, view: ProbeView) -> Self:
        return cls.from_value(view, **cls.fields_of(view))

    @classmethod
    def fields_of(cls, view: ProbeView) -> dict[str, Any]:
        """Return what is not an attribute of the view."""
        return {
            **cls.fields_of_column(view.column),
            **vars(view.case),
            "latency_ms": view.conversation.duration_ms if view.conversation else None,
            "result": view.transcript.result if view.transcript else None,
        }


class ProbePage(ResponseModel):
    items: list[ProbeResponse]
    next_cursor: str | None


class RunEventResponse(ResponseModel):
    seq: Annotated[
        int | None,
        Field(description="Numbered from 1 without gaps; null for progress events, which are computed and not stored"),
    ]
    type: RunEventType
    ts: Annotated[Time, Field(description="When it happened")]
    run_id: str
    data: dict[str, Any]


class RunEventList(ResponseModel):
    items: list[RunEventResponse]


class EventTicketResponse(ResponseModel):
    ticket: Annotated[str, Field(description="The secret; shown only once")]
    path: Annotated[str, Field(description="Path of the events with the ticket, for `new EventSource`")]
    expires_at: Annotated[Time, Field(description="From then on the ticket is refused with 401")]
