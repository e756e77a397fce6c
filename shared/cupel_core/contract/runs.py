"""Runs, their probes and their events."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from cupel_core.contract.budgets import BudgetFields, BudgetUseResponse, ConfirmedAdditionUsd, ExhaustedBudget
from cupel_core.contract.columns import ColumnFields, PromptId, TargetId, TargetResponse
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, forbid_both, require_one
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.fields import CompleteUrl, Count100, Flag, Id, ModelId, Seed
from cupel_core.contract.parameters import (
    CallTimeout,
    MaxAttempts,
    MaxConcurrency,
    ModelParametersInput,
    Models,
    Parameters,
    StaggerMs,
    TargetInput,
    TargetName,
    Targets,
    Temperature,
    target_of,
    targets_of,
)
from cupel_core.contract.results import CostUsd, ProbeResultResponse, SpendResponse
from cupel_core.contract.run_labels import LabelFields
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.limits.provider_status import SuspendedModel
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.labels import MetadataValue
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import (
    PauseCause,
    PauseReason,
    Priority,
    ProbeStatus,
    Progress,
    Run,
    RunEvent,
    RunEventType,
    RunFailure,
    RunStatus,
    StartedBy,
    StarterType,
)
from cupel_core.domain.runs.run_spend import Cost, RunSpend
from cupel_core.domain.runs.spec import EvalRunOptions, PlaygroundSpec, RunSpec
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.runs.views import ProbeView, RunView
from cupel_core.domain.scoring.default_evaluators import EvaluatorName, EvaluatorStatus
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.turns.model_request import ProbeErrorCode

Percentage = Annotated[int, Field(strict=True, ge=1, le=100)]
Repeats = Annotated[
    int,
    Field(strict=True, ge=1, le=1_000, description="Conversations of each target with each scenario and persona"),
]
ExperimentId = Annotated[Id | None, Field(description="The experiment that groups this run with others")]

_MAY_BE_NULL = ("experiment_id", "max_budget_usd")
"""Fields of a rerun in which null replaces what the run has."""
GRADER_FIELDS = ("judge_model", "persona_model", "embedding_model", "evaluator_url")

WritesReport = Annotated[Flag, Field(description="Whether a report is written when the run completes")]
TriesRevisedPrompt = Annotated[
    Flag,
    Field(description="Whether the revised prompt of that report is tried, for at most what the run has cost"),
]


class CallOptions(RequestModel):
    """How the targets are called."""

    temperature: Annotated[Temperature | None, Field(description="Short for `params.temperature`")] = None
    params: Annotated[Parameters, Field(description="Parameters of every target that knows them")] = (
        ModelParametersInput()
    )
    max_attempts: MaxAttempts | None = None
    call_timeout_seconds: CallTimeout | None = None

    @model_validator(mode="after")
    def _has_one_temperature(self) -> Self:
        if self.temperature is not None and "temperature" in self.params.model_fields_set:
            raise ValueError("must have at most one of temperature and params.temperature")
        return self

    def parameters(self) -> dict[str, Any]:
        """A null temperature removes a default, like one among the parameters."""
        own = {"temperature": self.temperature} if "temperature" in self.model_fields_set else {}
        return {**own, **self.params.fields()}


class ProfileChoice(RequestModel):
    """The operation profile through which every turn of the probes goes."""

    profile_id: Annotated[Id | None, Field(description="An operation profile; see docs/pipeline.md")] = None
    profile_version: Annotated[
        int | None, Field(strict=True, ge=1, description="Version of the profile; defaults to the newest")
    ] = None

    @model_validator(mode="after")
    def _has_profile_of_version(self) -> Self:
        if self.profile_version is not None and self.profile_id is None:
            raise ValueError("must have a profileId with profileVersion")
        return self


class RunConfigInput(CallOptions, ProfileChoice):
    """Grading models and the evaluator override those of the eval, which override the workspace's settings; null means
    that this run has none."""

    max_turns: Count100 | None = None
    max_concurrency: MaxConcurrency | None = None
    stagger_ms: StaggerMs | None = None
    judge_model: Annotated[ModelId | None, Field(description="Model that judges criteria and assertions")] = None
    persona_model: Annotated[
        ModelId | None, Field(description="Model that simulates the user; defaults to the judge model")
    ] = None
    embedding_model: Annotated[ModelId | None, Field(description="Model for assertions of type `similar`")] = None
    evaluator_url: Annotated[CompleteUrl | None, Field(description="External evaluator called for each transcript")] = (
        None
    )

    def grader_config(self) -> GraderConfig:
        return GraderConfig(self.judge_model, self.persona_model, self.embedding_model, self.evaluator_url)

    def disabled_graders(self) -> tuple[str, ...]:
        given = self.model_fields_set.intersection(GRADER_FIELDS)
        return tuple(sorted(name for name in given if getattr(self, name) is None))


class CreateRun(LabelFields, BudgetFields):
    """Exactly one of `models` and `targets` is required."""

    model_config = example(
        {
            "definitionId": "def_01",
            "models": ["openai/gpt-5-mini", "anthropic/claude-sonnet-4-5"],
            "samplePercentage": 10,
            "sampleSeed": 17,
            "priority": "NORMAL",
            "repeats": 3,
            "name": "Release candidate 2",
            "tags": ["nightly"],
            "metadata": {"commit": "6f1b2c9"},
            "config": {"temperature": 0.7, "maxTurns": 6, "judgeModel": "openai/gpt-5-mini"},
        }
    )

    definition_id: Id
    definition_version: Annotated[
        int | None, Field(strict=True, ge=1, description="Version of the definition; defaults to the latest")
    ] = None
    models: Models | None = None
    targets: Targets | None = None
    sample_percentage: Percentage = 100
    sample_seed: Annotated[Seed | None, Field(description="Seed of the sample; chosen at random if omitted")] = None
    priority: Priority = Priority.NORMAL
    experiment_id: ExperimentId = None
    repeats: Repeats = 1
    report: WritesReport = False
    config: RunConfigInput = RunConfigInput()

    @model_validator(mode="after")
    def _has_targets(self) -> Self:
        require_one(self, "models", "targets")
        return self

    def spec(self) -> RunSpec:
        return RunSpec(
            definition_id=self.definition_id,
            definition_version=self.definition_version,
            targets=targets_of(self.models, self.targets),
            sample_percentage=self.sample_percentage,
            sample_seed=self.sample_seed,
            priority=self.priority,
            experiment_id=self.experiment_id,
            repeats=self.repeats,
            params=self.config.parameters(),
            max_attempts=self.config.max_attempts,
            call_timeout_seconds=self.config.call_timeout_seconds,
            max_turns=self.config.max_turns,
            max_concurrency=self.config.max_concurrency,
            stagger_ms=self.config.stagger_ms,
            profile_id=self.config.profile_id,
            profile_version=self.config.profile_version,
            grader_config=self.config.grader_config(),
            disabled_graders=self.config.disabled_graders(),
            labels=self.labels(),
            report=self.report,
            max_budget_usd=self.max_budget_usd,
            allow_unpriced=self.allow_unpriced,
            confirmed_usd=self.confirmed_usd,
        )


class EstimateRun(CreateRun):
    """The body of a start."""


class CreateEvalRun(LabelFields, BudgetFields):
    model_config = example({"priority": "HIGH", "repeats": 3})

    priority: Priority = Priority.NORMAL
    repeats: Repeats = 1
    experiment_id: ExperimentId = None
    config: RunConfigInput = RunConfigInput()

    def options(self) -> EvalRunOptions:
        return EvalRunOptions(
            priority=self.priority,
            repeats=self.repeats,
            experiment_id=self.experiment_id,
            params=self.config.parameters(),
            max_attempts=self.config.max_attempts,
            call_timeout_seconds=self.config.call_timeout_seconds,
            max_turns=self.config.max_turns,
            max_concurrency=self.config.max_concurrency,
            stagger_ms=self.config.stagger_ms,
            profile_id=self.config.profile_id,
            profile_version=self.config.profile_version,
            grader_config=self.config.grader_config(),
            disabled_graders=self.config.disabled_graders(),
            labels=self.labels(),
            max_budget_usd=self.max_budget_usd,
            allow_unpriced=self.allow_unpriced,
            confirmed_usd=self.confirmed_usd,
        )


class EstimateEvalRun(CreateEvalRun):
    """The body of a start."""


class CreatePlaygroundRun(CreateEvalRun):
    """Exactly one of `target`, `connectorId` and `model` is required."""

    model_config = example(
        {
            "scenarioId": "scn_01",
            "model": "openai/gpt-5-mini",
            "personaId": "per_01",
            "config": {"maxTurns": 6},
        }
    )

    scenario_id: Id
    connector_id: Id | None = None
    model: ModelId | None = None
    target: Annotated[TargetInput | None, Field(description="A target with parameters")] = None
    persona_id: Annotated[Id | None, Field(description="Persona; a generic user if omitted")] = None
    definition_id: Annotated[Id | None, Field(description="Required only if a fork shares the scenario")] = None

    @model_validator(mode="after")
    def _has_one_target(self) -> "CreatePlaygroundRun":
        require_one(self, "target", "connector_id", "model")
        return self

    def playground(self) -> PlaygroundSpec:
        target = self.target.target() if self.target else target_of(self.model, self.connector_id)
        return PlaygroundSpec(self.scenario_id, target, self.persona_id, self.definition_id)


class RerunRun(LabelFields, BudgetFields):
    """The rerun has the definition's version, scenarios, personas and configuration of the run as they were. Given
    fields replace the run's; in `config`, omitted fields keep the run's value and null removes one."""

    model_config = example({"models": ["openai/gpt-5-mini"], "config": {"judgeModel": "anthropic/claude-sonnet-4-5"}})

    models: Models | None = None
    targets: Targets | None = None
    priority: Priority | None = None
    repeats: Repeats | None = None
    experiment_id: ExperimentId = None
    config: RunConfigInput = RunConfigInput()

    @model_validator(mode="after")
    def _has_targets_once(self) -> Self:
        forbid_both(self, "models", "targets")
        return self

    def apply_to(self, spec: RunSpec) -> RunSpec:
        """The specification of the rerun from that of a run with the same configuration."""
        own = self.model_fields_set - {"config", "models", *LabelFields.model_fields}
        given = {name: getattr(self, name) for name in own}
        given["targets"] = targets_of(self.models, self.targets) or None
        config = {name: getattr(self.config, name) for name in self.config.model_fields_set - {"temperature"}}
        config["params"] = {**spec.params, **self.config.parameters()}
        graders = {name: config.pop(name) for name in list(config) if hasattr(spec.grader_config, name)}
        if "evaluator_url" in graders:
            graders["evaluator_headers_version"] = None
        kept = {name: value for name, value in given.items() if value is not None or name in _MAY_BE_NULL}
        graders_of_rerun = replace(spec.grader_config, **graders)
        return replace(spec, **kept, **config, grader_config=graders_of_rerun, labels=self.labels())


class EstimateRetry(RequestModel):
    """At most one of `model` and `probeIndex`; without them all errored probes are retried."""

    model_config = example({"model": "openai/gpt-5-mini"})

    model: Annotated[
        TargetName | None,
        Field(description="Retry only probes of the target with this id, or of this model"),
    ] = None
    probe_index: Annotated[int | None, Field(strict=True, ge=0, description="Retry only this probe")] = None


class RetryRun(EstimateRetry):
    confirmed_usd: ConfirmedAdditionUsd = None


class EstimateExpansion(RequestModel):
    model_config = example({"samplePercentage": 50})

    sample_percentage: Annotated[Percentage, Field(description="Must be higher than the run's")]


class ExpandRun(EstimateExpansion):
    confirmed_usd: ConfirmedAdditionUsd = None


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
    evaluators: Annotated[
        dict[EvaluatorName, EvaluatorStatus],
        Field(description="Of a batch: whether each default evaluator runs, or why not; empty for other runs"),
    ]
    definition_snapshot: Annotated[
        dict[str, Any] | None,
        Field(description="The definition's content at the run's start; null in lists and for a run just started"),
    ]
    price_list: Annotated[
        str | None,
        Field(
            description="The list that prices came from at the run's start, unless the workspace had its own; null in "
            "lists, for a run just started and for runs of earlier releases"
        ),
    ]

    @classmethod
    def of(cls, view: RunView) -> "RunConfigResponse":
        run, graders = view.run, view.run.grader_config
        return cls(
            models=list(run.models),
            targets=[TargetResponse.of(target) for target in run.plan.targets],
            prompt_ids=list(run.plan.prompt_ids),
            sample_percentage=run.sample_percentage,
            sample_seed=run.sample_seed,
            repeats=run.plan.repeats,
            temperature=run.params.get("temperature"),
            params=dict(run.params),
            max_attempts=run.max_attempts,
            call_timeout_seconds=run.call_timeout_seconds,
            max_turns=run.max_turns,
            max_concurrency=run.pace.max_concurrency,
            stagger_ms=None if run.pace.stagger_ms is None else list(run.pace.stagger_ms),
            profile_id=run.profile.id if run.profile else None,
            profile_version=run.profile.version if run.profile else None,
            judge_model=graders.judge_model,
            persona_model=graders.persona_model,
            embedding_model=graders.embedding_model,
            evaluator_url=graders.evaluator_url,
            evaluators=dict(run.evaluators),
            definition_snapshot=view.definition_snapshot,
            price_list=view.price_list,
        )


class RunProgressResponse(ResponseModel):
    """Numbers of probes."""

    total: int
    completed: int
    failed: Annotated[int, Field(description="Probes that ended in an infrastructure error")]

    @classmethod
    def of(cls, progress: Progress) -> "RunProgressResponse":
        return cls(total=progress.total, completed=progress.completed, failed=progress.failed)


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
            cost_usd=_known_usd(cost),
            priced_usd=cost.priced_usd,
        )


def _known_usd(cost: Cost) -> float | None:
    return cost.priced_usd if cost.is_complete else None


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

    @classmethod
    def of(
        cls, spend: RunSpend, columns: Sequence[Column], budget: BudgetUseResponse | None = None
    ) -> "RunSpendResponse":
        return cls(
            cost_usd=_known_usd(spend.recorded),
            priced_usd=spend.recorded.priced_usd,
            lost_usd=spend.lost.priced_usd,
            models=[ModelSpendResponse.of(column, spend.of_column(number)) for number, column in enumerate(columns)],
            budget=budget,
        )


class FailureResponse(ResponseModel):
    where: Annotated[str, Field(description="The phase that failed")]
    why: str

    @classmethod
    def of(cls, failure: RunFailure) -> "FailureResponse":
        return cls(where=failure.where, why=failure.why)


class SuspendedModelResponse(ResponseModel):
    """A model that is temporarily not called, because its calls kept failing."""

    model: str
    until: Annotated[Time, Field(description="When a single probe may try the model again")]
    reason: str

    @classmethod
    def of(cls, suspended: SuspendedModel) -> "SuspendedModelResponse":
        return cls(model=suspended.model, until=suspended.until, reason=suspended.reason)


class StartedByResponse(ResponseModel):
    """Who or what started a run."""

    type: StarterType
    id: Annotated[str | None, Field(description="Id of the token, the user or the schedule")]
    name: str | None

    @classmethod
    def of(cls, started_by: StartedBy) -> "StartedByResponse":
        return cls(type=started_by.type, id=started_by.id, name=started_by.name)


class PauseCauseResponse(ResponseModel):
    model: Annotated[str, Field(description="The model that cannot be called")]
    message: Annotated[str, Field(description="Why, in the provider's words")]

    @classmethod
    def of(cls, cause: PauseCause) -> "PauseCauseResponse":
        return cls(model=cause.model, message=cause.message)


class RunResponse(ResponseModel):
    id: str
    name: Annotated[str | None, Field(description="Given by a person; see `definitionName` otherwise")]
    tags: list[str]
    metadata: dict[str, MetadataValue]
    definition_id: str
    definition_name: Annotated[
        str | None, Field(description="As it was at the start; null for runs of earlier releases")
    ]
    definition_version: int
    scenario_count: Annotated[int | None, Field(description="Number of scenarios of the run")]
    scenario_total: Annotated[int | None, Field(description="Number of scenarios of the definition's version")]
    started_by: StartedByResponse | None
    rerun_of: Annotated[str | None, Field(description="The run that it repeats")]
    experiment_id: str | None
    schedule_id: Annotated[str | None, Field(description="The schedule that started it")]
    eval_id: Annotated[str | None, Field(description="The eval that it is a run of")]
    execution_id: Annotated[int | None, Field(description="Sequence number of the eval run within the workspace")]
    playground: bool
    scale: Annotated[bool, Field(description="Whether it was started as a batch")]
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

    @classmethod
    def of(cls, view: RunView) -> "RunResponse":
        run, budget = view.run, BudgetUseResponse.find(view.run, view.account, view.progress)
        return cls(
            id=run.id,
            name=run.labels.name,
            tags=list(run.labels.tags),
            metadata=dict(run.labels.metadata),
            definition_id=run.definition_id,
            definition_name=run.definition_name,
            definition_version=run.definition_version,
            scenario_count=run.scenario_count,
            scenario_total=run.scenario_total,
            started_by=StartedByResponse.of(run.started_by) if run.started_by else None,
            rerun_of=run.rerun_of,
            duration_ms=run.duration_ms,
            experiment_id=run.experiment_id,
            schedule_id=run.schedule_id,
            eval_id=run.eval_id,
            execution_id=run.execution_id,
            playground=run.playground,
            scale=run.scale,
            report=run.report,
            trial=run.trial,
            status=run.status,
            pause_reason=PauseReason.parse(run.pause_reason),
            pause_cause=PauseCauseResponse.of(run.pause_cause) if run.pause_cause else None,
            exhausted_budget=run.exhausted_budget,
            priority=run.priority,
            config=RunConfigResponse.of(view),
            progress=RunProgressResponse.of(view.progress),
            spend=RunSpendResponse.of(view.spend, run.plan.columns, budget),
            created_at=run.created_at,
            started_at=run.started_at,
            completed_at=run.completed_at,
            updated_at=view.updated_at,
            last_accessed_at=view.last_accessed_at,
            failure=FailureResponse.of(run.failure) if run.failure else None,
            suspended_models=[SuspendedModelResponse.of(suspended) for suspended in view.suspended_models],
        )


class RunStartedResponse(ResponseModel):
    run: RunResponse
    job_count: Annotated[int, Field(description="Number of probes of the run")]
    estimate: Annotated[
        EstimateResponse | None,
        Field(description="What it is expected to cost; null only if the request is repeated after the run was erased"),
    ]

    @classmethod
    def of(cls, run: Run, job_count: int, estimate: RunEstimate | None, price_list: str) -> "RunStartedResponse":
        view = RunView(run, Progress(job_count), RunSpend(), None, None)
        expected = EstimateResponse.of(estimate, price_list) if estimate else None
        return cls(run=RunResponse.of(view), job_count=job_count, estimate=expected)


class RunPage(ResponseModel):
    items: list[RunResponse]
    next_cursor: str | None


class ProbeErrorResponse(ResponseModel):
    """An infrastructure error; it never counts as the model's failure."""

    code: ProbeErrorCode
    message: str
    attempts: Annotated[int, Field(description="Number of calls that were tried")]
    total_spend: Annotated[SpendResponse, Field(description="Spent on the calls that were answered before the error")]
    created_at: Time

    @classmethod
    def of(cls, error: ProbeError) -> "ProbeErrorResponse":
        return cls(
            code=error.code,
            message=error.message,
            attempts=error.attempts,
            total_spend=SpendResponse.of(error.spending.total),
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
