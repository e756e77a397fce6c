"""Runs, their probes and their events."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, PrivateAttr

from cupel_core.contract.budgets import BudgetUseResponse, ExhaustedBudget
from cupel_core.contract.columns import ColumnFields, PromptId, TargetId, TargetResponse
from cupel_core.contract.common import ResponseModel, Time, same_fields
from cupel_core.contract.estimates import EstimateIntervalResponse, StartEstimate
from cupel_core.contract.fields import Flag
from cupel_core.contract.results import CostByRoleResponse, CostUsd, ProbeResultResponse, RoleCosts, SpendResponse
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.labels import MetadataValue
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import (
    PauseReason,
    Priority,
    ProbeStatus,
    Run,
    RunEvent,
    RunEventType,
    RunStatus,
    StarterType,
)
from cupel_core.domain.runs.run_spend import Cost, RunSpend
from cupel_core.domain.runs.transcripts import ProbeError
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
    targets: list[TargetResponse]
    prompt_ids: Annotated[list[str], Field(description="The definition's prompts; empty if it has none")]
    sample_percentage: int
    sample_seed: int
    repeats: int
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
        own = {
            "models": list(run.models),
            "targets": run.plan.targets,
            "prompt_ids": list(run.plan.prompt_ids),
            "repeats": run.plan.repeats,
            "temperature": run.params.get("temperature"),
            "profile_id": run.profile.id if run.profile else None,
            "profile_version": run.profile.version if run.profile else None,
        }
        copied = {
            name: value
            for each in (run, run.grader_config, view)
            for name, value in same_fields(each, cls.model_fields).items()
        }
        return cls.model_validate({**copied, **own})


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
    cost_usd: CostUsd
    priced_usd: Annotated[float, Field(description="The part of it whose price is known, in USD")]

    @classmethod
    def of(cls, column: Column, cost: Cost) -> "ModelSpendResponse":
        return cls(
            model=column.target.model,
            target_id=column.target.id,
            prompt_id=column.prompt_id,
            cost_usd=cost.known_usd,
            priced_usd=cost.priced_usd,
        )


class RunSpendResponse(ResponseModel):
    """What the run has spent so far, on all calls of targets, judges, simulated users and summaries. `costUsd` is the
    sum of `totalSpend.costUsd` over its transcripts and errors, also those of earlier attempts, and of what the
    conversations have cost that a pause or a cancellation has interrupted."""

    cost_usd: CostUsd
    priced_usd: Annotated[float, Field(description="The part of it whose price is known, in USD")]
    lost_usd: Annotated[
        float,
        Field(
            description="Spent besides, in USD, on outcomes that do not count: the second one of a probe that two "
            "workers ran after a fault, and errors that came too late for a retry of the running run; only calls whose "
            "price is known"
        ),
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
        return cls(
            cost_usd=spend.recorded.known_usd,
            priced_usd=spend.recorded.priced_usd,
            lost_usd=spend.lost.priced_usd,
            models=[ModelSpendResponse.of(column, spend.of_column(number)) for number, column in enumerate(columns)],
            budget=budget,
            estimated_usd=EstimateIntervalResponse.from_value(estimated) if estimated else None,
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
    def of(cls, view: RunView) -> "RunResponse":
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

    @classmethod
    def of_stopped(cls, view: RunView, calls_in_flight: int) -> "StoppedRunResponse":
        response = cls(**vars(RunResponse.of(view)), calls_in_flight=calls_in_flight)
        response._stored_run = view.run
        return response


class RunPage(ResponseModel):
    items: list[RunResponse]
    next_cursor: str | None


class ProbeErrorResponse(ResponseModel):
    """An infrastructure error; it never counts as the model's failure."""

    code: ProbeErrorCode
    message: str
    attempts: Annotated[int, Field(description="Number of calls that were tried")]
    total_spend: Annotated[SpendResponse, Field(description="Spent on the calls that were answered before the error")]
    costs: RoleCosts
    created_at: Time

    @classmethod
    def of(cls, error: ProbeError) -> "ProbeErrorResponse":
        return cls(
            code=error.code,
            message=error.message,
            attempts=error.attempts,
            total_spend=SpendResponse.of(error.spending.total),
            costs=CostByRoleResponse.list_of(error.spending),
            created_at=error.created_at,
        )


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

    @staticmethod
    def fields_of_case(case: CaseView) -> dict[str, Any]:
        """All but `repeat`."""
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in vars(case).items()}


class ProbeResponse(CaseFields, ColumnFields):
    id: str
    run_id: str
    index: Annotated[int, Field(description="Position in the run, from 0; it never changes")]
    status: ProbeStatus
    thread_id: Annotated[str, Field(description="Id under which the agent knows the conversation; changes on retry")]
    created_at: Annotated[Time, Field(description="When its run was created")]
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
    def of(cls, view: ProbeView) -> "ProbeResponse":
        return cls(**cls.fields_of(view))

    @staticmethod
    def fields_of(view: ProbeView) -> dict[str, Any]:
        result = view.transcript.result if view.transcript else None
        return {
            "id": view.id,
            "run_id": view.run.id,
            "index": view.index,
            "status": view.status,
            **ColumnFields.fields_of_column(view.column),
            "repeat": view.repeat,
            **CaseFields.fields_of_case(view.case),
            "thread_id": view.thread_id,
            "created_at": view.run.created_at,
            "started_at": view.started_at,
            "completed_at": view.completed_at,
            "updated_at": view.updated_at,
            "latency_ms": view.conversation.duration_ms if view.conversation else None,
            "result": ProbeResultResponse.of(result) if result else None,
            "error": ProbeErrorResponse.of(view.error) if view.error else None,
            "attempts": [ProbeErrorResponse.of(error) for error in view.attempts],
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

    @classmethod
    def of(cls, run_id: str, event: RunEvent) -> "RunEventResponse":
        return cls(seq=event.seq, type=event.type, ts=event.ts, run_id=run_id, data=event.data)


class RunEventList(ResponseModel):
    items: list[RunEventResponse]


class EventTicketResponse(ResponseModel):
    ticket: Annotated[str, Field(description="The secret; shown only once")]
    path: Annotated[str, Field(description="Path of the events with the ticket, for `new EventSource`")]
    expires_at: Annotated[Time, Field(description="From then on the ticket is refused with 401")]
