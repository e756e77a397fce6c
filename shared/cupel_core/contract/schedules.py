"""What is asked and told about schedules."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import Answer, Request, Time
from cupel_core.contract.runs import RunRequest
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.schedules import Firing, Schedule, ScheduleStatus
from cupel_core.runs.spec import RunSpec
from cupel_core.schedules.schedules import ScheduleSpec

_EXPRESSION = "cron(0 9 ? * MON-FRI *), rate(6 hours) or at(2027-01-31T09:30:00)"


class ScheduleRequest(Request):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    expression: Annotated[str, Field(min_length=1, max_length=256, description=_EXPRESSION)]
    timezone: Annotated[str, Field(min_length=1, max_length=50, description="An IANA name")] = "UTC"
    run: Annotated[RunRequest, Field(description="What each firing starts: a body of POST /runs")]
    enabled: Annotated[bool, Field(strict=True)] = True

    def spec(self) -> ScheduleSpec:
        return ScheduleSpec(self.name, self.expression, self.timezone, self.enabled, self.run.spec())


class ScheduleChange(Request):
    enabled: Annotated[bool, Field(strict=True)]


class ScheduledConfigAnswer(Answer):
    temperature: float | None
    max_turns: int | None
    judge_model: Annotated[str | None, Field(description="Null: the workspace's at each firing")]
    persona_model: str | None
    embedding_model: str | None
    evaluator_url: str | None

    @classmethod
    def of(cls, spec: RunSpec) -> "ScheduledConfigAnswer":
        evaluation = spec.evaluation
        return cls(
            temperature=spec.temperature,
            max_turns=spec.max_turns,
            judge_model=evaluation.judge_model,
            persona_model=evaluation.persona_model,
            embedding_model=evaluation.embedding_model,
            evaluator_url=evaluation.evaluator_url,
        )


class ScheduledRunAnswer(Answer):
    definition_id: str
    models: list[str]
    sample_percentage: int
    sample_seed: Annotated[int | None, Field(description="Null: drawn at each firing")]
    priority: Priority
    experiment_id: str | None
    repeats: int
    config: ScheduledConfigAnswer

    @classmethod
    def of(cls, spec: RunSpec) -> "ScheduledRunAnswer":
        return cls(
            definition_id=spec.definition_id,
            models=list(spec.models),
            sample_percentage=spec.sample_percentage,
            sample_seed=spec.sample_seed,
            priority=spec.priority,
            experiment_id=spec.experiment_id,
            repeats=spec.repeats,
            config=ScheduledConfigAnswer.of(spec),
        )


class FiringAnswer(Answer):
    scheduled_time: Time
    fired_at: Time
    run_id: str | None
    error: Annotated[str | None, Field(description="Why no run was started")]

    @classmethod
    def of(cls, firing: Firing) -> "FiringAnswer":
        return cls(
            scheduled_time=firing.scheduled_time, fired_at=firing.fired_at, run_id=firing.run_id, error=firing.error
        )


class ScheduleAnswer(Answer):
    id: str
    name: str
    expression: str
    timezone: str
    run: ScheduledRunAnswer
    enabled: bool
    status: Annotated[ScheduleStatus, Field(description="PENDING until EventBridge knows it; ENDED after its one time")]
    firings: Annotated[list[FiringAnswer], Field(description="The last ones, newest first")]
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, schedule: Schedule, now: datetime) -> "ScheduleAnswer":
        return cls(
            id=schedule.id,
            name=schedule.name,
            expression=schedule.timing.expression,
            timezone=schedule.timing.timezone,
            run=ScheduledRunAnswer.of(RunSpec.from_text(schedule.run)),
            enabled=schedule.enabled,
            status=schedule.status(now),
            firings=[FiringAnswer.of(firing) for firing in schedule.firings],
            created_at=schedule.created_at,
            updated_at=schedule.updated_at,
        )


class ScheduleList(Answer):
    items: list[ScheduleAnswer]
    next_cursor: str | None
