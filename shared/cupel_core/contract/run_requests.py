"""Requests that estimate, start, repeat and continue runs, and what a start returns."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from cupel_core.contract.budgets import BudgetFields, ConfirmedAdditionUsd
from cupel_core.contract.common import (
    RequestModel,
    ResponseModel,
    example,
    fields_error,
    forbid_both,
    require_one,
    same_fields,
    with_defaults,
)
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.fields import CompleteUrl, Count100, Id, ModelId, Seed
from cupel_core.contract.parameters import (
    CallTimeout,
    MaxAttempts,
    MaxConcurrency,
    ModelParametersInput,
    Models,
    OutputTokens,
    Parameters,
    RetryDelay,
    StaggerMs,
    TargetInput,
    TargetName,
    Targets,
    Temperature,
    target_of,
    targets_of,
)
from cupel_core.contract.run_labels import LabelFields
from cupel_core.contract.runs import RunResponse, WritesReport
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.limits.scale_runs import MAX_COUNT
from cupel_core.domain.runs.priority import Priority
from cupel_core.domain.runs.run import Progress, Run
from cupel_core.domain.runs.run_spend import RunSpend
from cupel_core.domain.runs.settings import MAX_REPEATS, RunSettings, names_of
from cupel_core.domain.runs.spec import PlaygroundRunSpec, RerunSpec, RunSpec
from cupel_core.domain.runs.views import RunView
from cupel_core.domain.scoring.grader_config import GraderConfig

Percentage = Annotated[int, Field(strict=True, ge=1, le=100)]
Repeats = Annotated[
    int,
    Field(strict=True, ge=1, le=MAX_REPEATS, description="Conversations of each target with each scenario and persona"),
]
ScaleRunCount = Annotated[int, Field(strict=True, ge=1, le=MAX_COUNT)]
ExperimentId = Annotated[Id | None, Field(description="The experiment that groups this run with others")]
_MAY_BE_NULL = ("experiment_id", "max_budget_usd")
"""In these fields of a rerun's request, null replaces what the run has."""
GRADER_FIELDS = (
    *("judge_model", "persona_model", "embedding_model", "evaluator_url", "summarizer_model"),
    "judge_max_output_tokens",
)


class CallOptions(RequestModel):
    """Options of calls to targets."""

    temperature: Temperature | None = None
    """Short for `params.temperature`."""
    params: Parameters = with_defaults(ModelParametersInput)
    """Parameters of every target that knows them."""
    max_attempts: MaxAttempts | None = None
    retry_delay_seconds: RetryDelay | None = None
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

    profile_id: Id | None = None
    """An operation profile; see docs/pipeline.md."""
    profile_version: Annotated[int | None, Field(strict=True, ge=1)] = None
    """Version of the profile; defaults to the newest."""

    @model_validator(mode="after")
    def _has_profile_of_version(self) -> Self:
        if self.profile_version is not None and self.profile_id is None:
            raise fields_error(("profile_id",), "is required with profileVersion")
        return self


class RunConfigInput(CallOptions, ProfileChoice):
    """Grading models and the evaluator override those of the eval, which override the workspace's settings; null means
    that this run has none."""

    max_turns: Count100 | None = None
    max_concurrency: MaxConcurrency | None = None
    stagger_ms: StaggerMs | None = None
    judge_model: ModelId | None = None
    """Model that judges criteria and assertions."""
    persona_model: ModelId | None = None
    """Model that simulates the user; defaults to the judge model."""
    embedding_model: ModelId | None = None
    """Model for assertions of type `similar`."""
    evaluator_url: CompleteUrl | None = None
    """http(s) URL, without credentials, of the evaluator called for each transcript."""

    summarizer_model: ModelId | None = None
    """Model that writes the summaries of the run's reports; null for the judge."""
    judge_max_output_tokens: OutputTokens | None = None

    def settings(self) -> dict[str, Any]:
        """The values of the fields of `RunSettings` that these fields set."""
        given = self.model_fields_set.intersection(GRADER_FIELDS)
        return {
            **same_fields(self, names_of(RunSettings)),
            "params": self.parameters(),
            "grader_config": GraderConfig(**same_fields(self, GRADER_FIELDS)),
            "disabled_graders": tuple(sorted(name for name in given if getattr(self, name) is None)),
        }


def _settings(request: "CreateRun | EvalRunFields | RerunRun") -> dict[str, Any]:
    """The values of the fields of `RunSettings` that a start sets."""
    return {**same_fields(request, names_of(RunSettings)), **request.config.settings(), "labels": request.labels()}


class CreateRun(LabelFields, BudgetFields):
    """Exactly one of `models` and `targets` is required."""

    model_config = example(
        {
            "definitionId": "def_01",
            "models": ["openai/gpt-6.1-terra", "anthropic/claude-sonnet-5-5"],
            "samplePercentage": 10,
            "sampleSeed": 17,
            "priority": "NORMAL",
            "repeats": 3,
            "name": "Release candidate 2",
            "tags": ["nightly"],
            "metadata": {"commit": "6f1b2c9"},
            "config": {"temperature": 0.7, "maxTurns": 6, "judgeModel": "openai/gpt-6.1-terra"},
        }
    )

    definition_id: Id
    definition_version: Annotated[int | None, Field(strict=True, ge=1)] = None
    """Version of the definition; defaults to the latest."""
    models: Models | None = None
    targets: Targets | None = None
    sample_percentage: Percentage = RunSpec.sample_percentage
    sample_seed: Seed | None = None
    """Seed of the sample; chosen at random if omitted."""
    priority: Priority = RunSettings.priority
    experiment_id: ExperimentId = None
    repeats: Repeats = RunSettings.repeats
    report: WritesReport = RunSettings.report
    """Example: true"""
    config: RunConfigInput = with_defaults(RunConfigInput)

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
            **_settings(self),
        )


class EstimateRun(CreateRun):
    """The body of a start."""


class EvalRunFields(LabelFields, BudgetFields):
    """Runs of evals and of the playground have these fields."""

    priority: Priority = RunSettings.priority
    repeats: Repeats = RunSettings.repeats
    experiment_id: ExperimentId = None
    config: RunConfigInput = with_defaults(RunConfigInput)

    def settings(self) -> RunSettings:
        return RunSettings(**_settings(self))


class CreateEvalRun(EvalRunFields):
    model_config = example({"priority": "HIGH", "repeats": 3})

    report: WritesReport = RunSettings.report
    """Example: true"""


class EstimateEvalRun(CreateEvalRun):
    """The body of a start."""


class CreatePlaygroundRun(EvalRunFields):
    """Exactly one of `target`, `connectorId` and `model` is required."""

    model_config = example(
        {
            "scenarioId": "scn_01",
            "model": "openai/gpt-6.1-terra",
            "personaId": "per_01",
            "config": {"maxTurns": 6},
        }
    )

    scenario_id: Id
    connector_id: Id | None = None
    model: ModelId | None = None
    target: TargetInput | None = None
    """A target with parameters."""
    persona_id: Id | None = None
    """Persona; a generic user if omitted."""
    definition_id: Id | None = None
    """Required only if a fork shares the scenario."""

    @model_validator(mode="after")
    def _has_one_target(self) -> "CreatePlaygroundRun":
        require_one(self, "target", "connector_id", "model")
        return self

    def spec(self) -> PlaygroundRunSpec:
        target = self.target.target() if self.target else target_of(self.model, self.connector_id)
        return PlaygroundRunSpec(self.scenario_id, target, self.persona_id, self.definition_id, **_settings(self))


class RerunRun(LabelFields, BudgetFields):
    """The rerun has the definition's version, scenarios, personas and configuration of the run as they were. Given
    fields replace the run's; in `config`, omitted fields keep the run's value and null removes one."""

    model_config = example(
        {"models": ["openai/gpt-6.1-terra"], "config": {"judgeModel": "anthropic/claude-sonnet-5-5"}}
    )

    models: Models | None = None
    targets: Targets | None = None
    priority: Priority | None = None
    repeats: Repeats | None = None
    experiment_id: ExperimentId = None
    report: WritesReport | None = None
    """Example: true"""
    config: RunConfigInput = with_defaults(RunConfigInput)

    @model_validator(mode="after")
    def _has_targets_once(self) -> Self:
        forbid_both(self, "models", "targets")
        return self

    def spec(self, run_id: str) -> RerunSpec:
        given = {
            *(name for name in self.model_fields_set if getattr(self, name) is not None or name in _MAY_BE_NULL),
            *(name for name in self.config.model_fields_set if name != "params"),
        }
        if "profile_id" in given:  # The version of the run's profile is not that of another one.
            given.add("profile_version")
        return RerunSpec(
            run_id,
            targets_of(self.models, self.targets),
            tuple(sorted(given.intersection((*names_of(RunSettings), *GRADER_FIELDS)))),
            **{name: value for name, value in _settings(self).items() if value is not None},
        )


class EstimateRetry(RequestModel):
    """Without `model` and `probeIndex`, of which at most one may be given, all errored probes are retried."""

    model_config = example({"model": "openai/gpt-6.1-terra"})

    model: TargetName | None = None
    """Retry only probes of the target with this id, or of this model."""
    probe_index: Annotated[int | None, Field(strict=True, ge=0)] = None
    """Retry only this probe."""


class RetryRun(EstimateRetry):
    confirmed_usd: ConfirmedAdditionUsd = None


class EstimateExpansion(RequestModel):
    model_config = example({"samplePercentage": 50})

    sample_percentage: Percentage
    """Must be higher than the run's."""


class ExpandRun(EstimateExpansion):
    confirmed_usd: ConfirmedAdditionUsd = None


class RunStartedResponse(ResponseModel):
    run: RunResponse
    """The run, as it was at its start."""
    job_count: int
    """Number of probes of the run."""
    estimate: EstimateResponse | None
    """Estimate of the run; null only if the request is repeated after the run was erased."""

    @classmethod
    def of(cls, run: Run, job_count: int, estimate: RunEstimate | None, price_list: str) -> "RunStartedResponse":
        view = RunView(run, Progress(job_count), RunSpend(), None, None)
        expected = EstimateResponse.of(estimate, price_list) if estimate else None
        return cls(run=RunResponse.of(view), job_count=job_count, estimate=expected)
