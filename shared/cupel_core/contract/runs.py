"""What is asked and told about runs, their probes and their events."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import Answer, Request, Time
from cupel_core.contract.results import ResultAnswer
from cupel_core.domain.runs.run import Event, EventType, Priority, ProbeStatus, Progress, RunStatus
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.runs.probes import ProbeView
from cupel_core.runs.queries import RunView
from cupel_core.runs.spec import RunSpec
from cupel_core.store.governor import HeldModel

Percentage = Annotated[int, Field(strict=True, ge=1, le=100)]
Model = Annotated[str, Field(min_length=3, max_length=256, description="provider/name")]


Url = Annotated[str, Field(min_length=8, max_length=2_000, pattern="^https?://")]


class ConfigRequest(Request):
    temperature: Annotated[float, Field(strict=True, ge=0, le=2)] | None = None
    max_turns: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None
    judge_model: Annotated[Model | None, Field(description="Judges by criteria and assertions")] = None
    persona_model: Annotated[Model | None, Field(description="Plays the user; the judge does when left out")] = None
    embedding_model: Annotated[Model | None, Field(description="For assertions of type similar")] = None
    evaluator_url: Annotated[Url | None, Field(description="An evaluator that is asked for results too")] = None

    def evaluation(self) -> Evaluation:
        return Evaluation(self.judge_model, self.persona_model, self.embedding_model, self.evaluator_url)


class RunRequest(Request):
    definition_id: Annotated[str, Field(min_length=1, max_length=64)]
    models: Annotated[list[Model], Field(min_length=1, max_length=100)]
    sample_percentage: Percentage = 100
    sample_seed: Annotated[int, Field(strict=True, ge=0, lt=2**53, description="Drawn when left out")] | None = None
    priority: Priority = Priority.NORMAL
    experiment_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    repeats: Annotated[int, Field(strict=True, ge=1, le=100)] = 1
    config: ConfigRequest = ConfigRequest()

    def spec(self) -> RunSpec:
        return RunSpec(
            definition_id=self.definition_id,
            models=tuple(self.models),
            sample_percentage=self.sample_percentage,
            sample_seed=self.sample_seed,
            priority=self.priority,
            experiment_id=self.experiment_id,
            repeats=self.repeats,
            temperature=self.config.temperature,
            max_turns=self.config.max_turns,
            evaluation=self.config.evaluation(),
        )


class RetryRequest(Request):
    model: Annotated[Model | None, Field(description="Only errors of this model")] = None
    probe_index: Annotated[int, Field(strict=True, ge=0, description="Only this probe")] | None = None


class ExpandRequest(Request):
    sample_percentage: Annotated[Percentage, Field(description="More than the run has")]


class ConfigAnswer(Answer):
    models: list[str]
    sample_percentage: int
    sample_seed: int
    repeats: int
    temperature: float | None
    max_turns: int | None
    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    evaluator_url: str | None
    definition_snapshot: Annotated[
        dict[str, Any] | None, Field(description="Null in lists and where a run was just started")
    ]


class ProgressAnswer(Answer):
    total: int
    completed: int
    failed: int

    @classmethod
    def of(cls, progress: Progress) -> "ProgressAnswer":
        return cls(total=progress.total, completed=progress.completed, failed=progress.failed)


class FailureAnswer(Answer):
    where: str
    why: str


class HeldModelAnswer(Answer):
    model: str
    until: Annotated[Time, Field(description="When one probe may try again")]
    reason: str

    @classmethod
    def of(cls, held: HeldModel) -> "HeldModelAnswer":
        return cls(model=held.model, until=held.until, reason=held.reason)


class RunAnswer(Answer):
    id: str
    definition_id: str
    definition_version: int
    experiment_id: str | None
    schedule_id: Annotated[str | None, Field(description="The schedule that started it")]
    eval_id: Annotated[str | None, Field(description="The eval it is a run of")]
    execution_id: Annotated[int | None, Field(description="Which start of an eval in this workspace")]
    playground: bool
    status: RunStatus
    pause_reason: str | None
    priority: Priority
    config: ConfigAnswer
    progress: ProgressAnswer
    epoch: int
    created_at: Time
    started_at: Time | None
    completed_at: Time | None
    updated_at: Time
    last_accessed_at: Time | None
    failure: FailureAnswer | None
    held_models: Annotated[
        list[HeldModelAnswer], Field(description="Models that are not asked for now because they failed; not in lists")
    ]

    @classmethod
    def of(cls, view: RunView) -> "RunAnswer":
        run = view.run
        return cls(
            id=run.id,
            definition_id=run.definition_id,
            definition_version=run.definition_version,
            experiment_id=run.experiment_id,
            schedule_id=run.schedule_id,
            eval_id=run.eval_id,
            execution_id=run.execution_id,
            playground=run.playground,
            status=run.status,
            pause_reason=run.pause_reason,
            priority=run.priority,
            config=_config(view),
            progress=ProgressAnswer.of(view.progress),
            epoch=run.epoch,
            created_at=run.created_at,
            started_at=run.started_at,
            completed_at=run.completed_at,
            updated_at=run.updated_at,
            last_accessed_at=view.last_accessed_at,
            failure=FailureAnswer(where=run.failure.where, why=run.failure.why) if run.failure else None,
            held_models=[HeldModelAnswer.of(held) for held in view.held_models],
        )


def _config(view: RunView) -> ConfigAnswer:
    run = view.run
    return ConfigAnswer(
        models=list(run.models),
        sample_percentage=run.sample_percentage,
        sample_seed=run.sample_seed,
        repeats=run.plan.repeats,
        temperature=run.temperature,
        max_turns=run.max_turns,
        judge_model=run.evaluation.judge_model,
        persona_model=run.evaluation.persona_model,
        embedding_model=run.evaluation.embedding_model,
        evaluator_url=run.evaluation.evaluator_url,
        definition_snapshot=view.definition_snapshot,
    )


class StartedAnswer(Answer):
    run: RunAnswer
    job_count: int


class RunList(Answer):
    items: list[RunAnswer]
    next_cursor: str | None


class ProbeErrorAnswer(Answer):
    code: ErrorCode
    message: str
    attempts: int
    created_at: Time

    @classmethod
    def of(cls, error: ProbeError) -> "ProbeErrorAnswer":
        return cls(code=error.code, message=error.message, attempts=error.attempts, created_at=error.created_at)


class ProbeAnswer(Answer):
    id: str
    run_id: str
    index: int
    status: ProbeStatus
    scenario_id: str
    model_id: str
    persona_id: str | None
    repeat: int
    thread_id: Annotated[str, Field(description="How an agent knows the conversation; new on retry")]
    latency_ms: Annotated[int | None, Field(description="Spent in calls of the target")]
    result: ResultAnswer | None
    error: ProbeErrorAnswer | None
    attempts: Annotated[list[ProbeErrorAnswer], Field(description="Its errors before it was retried, oldest first")]

    @classmethod
    def of(cls, view: ProbeView) -> "ProbeAnswer":
        return cls(**cls.fields_of(view))

    @staticmethod
    def fields_of(view: ProbeView) -> dict[str, Any]:
        transcript = view.transcript
        return {
            "id": view.id,
            "run_id": view.run.id,
            "index": view.index,
            "status": view.status,
            "scenario_id": view.scenario_id,
            "model_id": view.model_id,
            "persona_id": view.persona_id,
            "repeat": view.repeat,
            "thread_id": view.thread_id,
            "latency_ms": view.held.duration_ms if view.held else None,
            "result": ResultAnswer.of(transcript.result) if transcript else None,
            "error": ProbeErrorAnswer.of(view.error) if view.error else None,
            "attempts": [ProbeErrorAnswer.of(error) for error in view.attempts],
        }


class ProbeList(Answer):
    items: list[ProbeAnswer]
    next_cursor: str | None


class EventAnswer(Answer):
    seq: Annotated[int | None, Field(description="Null for computed progress")]
    type: EventType
    ts: Time
    run_id: str
    data: dict[str, Any]

    @classmethod
    def of(cls, run_id: str, event: Event) -> "EventAnswer":
        return cls(seq=event.seq, type=event.type, ts=event.ts, run_id=run_id, data=event.data)


class EventList(Answer):
    items: list[EventAnswer]
