"""Schedules: runs that start at set times."""

from datetime import datetime
from typing import Annotated, Any

import orjson
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from cupel_core.contract.columns import TargetResponse
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, forbid_both, read_from, require_one
from cupel_core.contract.fields import Flag, Id, Label, TimeZone
from cupel_core.contract.run_requests import GRADER_FIELDS, CreateEvalRun, CreateRun
from cupel_core.domain.runs.labels import MetadataValue, RunLabels
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.schedules import Schedule, ScheduleChanges, ScheduleSpec, ScheduleStatus
from cupel_core.domain.runs.settings import RunSettings
from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec, StartSpec, start_spec

Expression = Annotated[
    str,
    Field(
        min_length=1,
        max_length=256,
        description="EventBridge Scheduler expression: `cron(0 9 ? * MON-FRI *)`, `rate(6 hours)` or "
        "`at(2027-01-31T09:30:00)`",
    ),
]
_ZONE = "IANA time zone name"


class CreateScheduledEvalRun(CreateEvalRun):
    model_config = example({"evalId": "evl_01", "repeats": 3})

    eval_id: Id

    def spec(self) -> EvalRunSpec:
        return EvalRunSpec.of(self.eval_id, self.settings())


ScheduledRunInput = Annotated[CreateRun, Field(description="The run to start at each firing, as in POST /runs")]
ScheduledEvalRunInput = Annotated[
    CreateScheduledEvalRun, Field(description="Instead of `run`: the eval to run as it is at each firing")
]


class CreateSchedule(RequestModel):
    model_config = example(
        {
            "name": "Nightly refunds",
            "expression": "cron(0 3 * * ? *)",
            "timezone": "Europe/Berlin",
            "run": {"definitionId": "def_01", "models": ["openai/gpt-6.1-terra"]},
            "enabled": True,
        }
    )

    name: Label
    expression: Expression
    timezone: Annotated[TimeZone, Field(description=_ZONE)] = "UTC"
    run: ScheduledRunInput | None = None
    """The run to start; either this or `evalRun`."""
    eval_run: ScheduledEvalRunInput | None = None
    enabled: Flag = True

    @model_validator(mode="after")
    def _has_one_run(self) -> "CreateSchedule":
        require_one(self, "run", "eval_run")
        return self

    def spec(self) -> ScheduleSpec:
        run = self.run.spec() if self.run else self.eval_run.spec() if self.eval_run else None
        assert run is not None  # noqa: S101 - validated
        return ScheduleSpec(self.name, self.expression, self.timezone, self.enabled, run)


class UpdateSchedule(RequestModel):
    """Omitted fields keep their value."""

    model_config = example({"expression": "rate(12 hours)", "enabled": False})

    name: Label | None = None
    expression: Expression | None = None
    timezone: Annotated[TimeZone | None, Field(description=_ZONE)] = None
    run: ScheduledRunInput | None = None
    """The run to start; either this or `evalRun`."""
    eval_run: ScheduledEvalRunInput | None = None
    enabled: Flag | None = None

    @model_validator(mode="after")
    def _has_a_change(self) -> "UpdateSchedule":
        if not self.model_fields_set:
            raise ValueError("must have at least one field to change")
        forbid_both(self, "run", "eval_run")
        return self

    def changes(self) -> ScheduleChanges:
        run = self.run.spec() if self.run else self.eval_run.spec() if self.eval_run else None
        return ScheduleChanges(self.name, self.expression, self.timezone, self.enabled, run)


class ScheduledRunConfigResponse(ResponseModel):
    """A grading model or evaluator of null means none; a missing one is taken from the eval or the workspace at the
    time of firing."""

    temperature: float | None
    """Temperature in `params`."""
    params: dict[str, Any]
    """Parameters of the calls to targets; see docs/targets.md."""
    max_attempts: int | None
    retry_delay_seconds: float | None
    """Longest wait before the second attempt of a call; null for the default."""
    call_timeout_seconds: float | None
    """Timeout of one call to a target; null for the default."""
    max_turns: int | None
    max_concurrency: int | None
    stagger_ms: list[int] | None
    profile_id: str | None
    profile_version: int | None
    """Version of the profile; null without one."""
    judge_model: str | None = None
    persona_model: str | None = None
    embedding_model: str | None = None
    evaluator_url: str | None = None
    summarizer_model: str | None = None
    """Model that writes the summaries of reports, as `provider/name`; null for the judge."""
    judge_max_output_tokens: int | None = None

    @classmethod
    def of(cls, spec: RunSettings) -> "ScheduledRunConfigResponse":
        graders = {name: getattr(spec.grader_config, name) for name in GRADER_FIELDS}
        own = {name: value for name, value in graders.items() if value is not None or name in spec.disabled_graders}
        return cls.from_value(spec, temperature=spec.params.get("temperature"), **own)

    # A lambda, because the OpenAPI document would take an annotated return type as the schema.
    _serialize = model_serializer(mode="wrap")(lambda self, serialize: _own_fields(self, serialize))


def _own_fields(config: ScheduledRunConfigResponse, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
    own = {ScheduledRunConfigResponse.model_fields[name].alias for name in config.model_fields_set}
    return {name: value for name, value in serialize(config).items() if name in own}


ScheduledName = Annotated[str | None, Field(description="Of each run that it starts, like tags and metadata")]
ScheduledBudget = Annotated[float | None, Field(description="What each run may spend, in USD; null for no limit")]
ScheduledAllowUnpriced = Annotated[
    bool, Field(description="Whether a run with a budget may call models whose price is unknown")
]
ScheduledConfirmedUsd = Annotated[
    float | None, Field(description="Expected cost up to which runs start that may not end within their budget")
]
ScheduledReport = Annotated[bool, Field(description="Whether each run writes a report when it completes")]
ScheduledTags = list[str]
ScheduledMetadata = dict[str, MetadataValue]


class ScheduledRunResponse(ResponseModel):
    definition_id: str
    definition_version: int | None
    """Null for the latest at each firing."""
    name: ScheduledName
    """Example: Nightly refunds"""
    tags: ScheduledTags
    metadata: ScheduledMetadata
    models: list[str]
    """The models of its targets, each once."""
    targets: list[TargetResponse]
    sample_percentage: int
    """Example: 10"""
    sample_seed: int | None
    """Null to choose a new random seed at each firing. Example: 17"""
    priority: Priority
    experiment_id: str | None
    repeats: int
    max_budget_usd: ScheduledBudget
    allow_unpriced: ScheduledAllowUnpriced
    confirmed_usd: ScheduledConfirmedUsd
    report: ScheduledReport
    """Example: false"""
    config: ScheduledRunConfigResponse

    @classmethod
    def of(cls, spec: RunSpec) -> "ScheduledRunResponse":
        return cls.from_value(
            spec,
            **_labels_and_config(spec),
            models=list(dict.fromkeys(target.model for target in spec.targets)),
        )


class ScheduledEvalRunResponse(ResponseModel):
    eval_id: str
    name: ScheduledName
    """Example: Nightly refunds"""
    tags: ScheduledTags
    metadata: ScheduledMetadata
    priority: Priority
    experiment_id: str | None
    repeats: int
    max_budget_usd: ScheduledBudget
    allow_unpriced: ScheduledAllowUnpriced
    confirmed_usd: ScheduledConfirmedUsd
    report: ScheduledReport
    """Example: false"""
    config: ScheduledRunConfigResponse

    @classmethod
    def of(cls, spec: EvalRunSpec) -> "ScheduledEvalRunResponse":
        return cls.from_value(spec, **_labels_and_config(spec))


def _labels_and_config(spec: StartSpec) -> dict[str, Any]:
    return {**vars(spec.labels.apply_to(RunLabels())), "config": ScheduledRunConfigResponse.of(spec)}


class ScheduleFiringResponse(ResponseModel):
    scheduled_time: Time
    """The time it was scheduled for. Example: 2026-11-20T03:00:00Z"""
    fired_at: Time
    """Time of the firing. Example: 2026-11-20T03:00:01Z"""
    run_id: str | None
    error: str | None
    """Reason why the firing started no run."""


class ScheduleResponse(ResponseModel):
    id: str
    """Example: sch_01"""
    name: str
    """Example: Nightly refunds"""
    expression: Annotated[str, read_from("timing.expression")]
    """When it fires, as `at(…)`, `rate(…)` or `cron(…)`. Example: cron(0 3 * * ? *)"""
    timezone: Annotated[str, read_from("timing.timezone")]
    """IANA time zone of the expression."""
    run: ScheduledRunResponse | None
    """Null if it runs an eval."""
    eval_run: ScheduledEvalRunResponse | None
    """The eval to run, with its options."""
    enabled: bool
    status: ScheduleStatus
    """PENDING until it is registered with EventBridge; ENDED once a one-time schedule has fired."""
    firings: list[ScheduleFiringResponse]
    """Most recent firings, newest first."""
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, schedule: Schedule, now: datetime) -> "ScheduleResponse":
        spec = start_spec(orjson.loads(schedule.run))
        return cls.from_value(
            schedule,
            run=ScheduledRunResponse.of(spec) if isinstance(spec, RunSpec) else None,
            eval_run=ScheduledEvalRunResponse.of(spec) if isinstance(spec, EvalRunSpec) else None,
            status=schedule.status(now),
        )


class SchedulePage(ResponseModel):
    items: list[ScheduleResponse]
    next_cursor: str | None
