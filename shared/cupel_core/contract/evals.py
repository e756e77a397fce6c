"""Evals (saved evaluations), and the workspace's defaults for grading."""

from typing import Annotated, Any, Self, cast

from pydantic import Field, field_validator, model_validator

from cupel_core.contract.columns import TargetResponse
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from, require_one, with_defaults
from cupel_core.contract.fields import Id, ModelId, ResourceName, Url, not_null
from cupel_core.contract.headers import HeaderNames, Headers, header_values
from cupel_core.contract.parameters import MaxConcurrency, ModelParametersInput, Targets, target_of, targets_of
from cupel_core.contract.run_requests import GRADER_FIELDS, ScaleRunCount
from cupel_core.contract.workspace_budgets import BudgetLimitsResponse, UpdateBudgets
from cupel_core.domain.limits.open_runs import DEFAULT_IN_ALL, DEFAULT_PER_OWNER
from cupel_core.domain.resources.evals import Eval, EvalFields, EvalSpec
from cupel_core.domain.resources.evaluation_settings import EvaluationSettings, EvaluatorEndpoint, SettingsChanges
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig

MAX_SCENARIOS = 1_000
_OpenRuns = Annotated[int, Field(strict=True, ge=1, le=1_000)]
_TARGET_FIELDS = ("targets", "connector_id", "model")

ScenarioIds = Annotated[
    list[Id],
    Field(min_length=1, max_length=MAX_SCENARIOS, description="Ids of scenarios that belong to one definition"),
]
DefinitionId = Annotated[
    Id | None,
    Field(description="Required only to select a fork, because a fork shares scenarios with its parent"),
]
PersonaModel = Annotated[ModelId | None, Field(description="Model that simulates users; null: the judge model")]


class UpdateEval(RequestModel):
    """Omitted fields keep their value and null clears it. `targets`, `connectorId` and `model` replace each other;
    `params` replaces all parameters."""

    model_config = example({"scenarioIds": ["scn_01", "scn_02", "scn_03"], "judgeModel": "anthropic/claude-sonnet-5-5"})

    name: ResourceName | None = None
    scenario_ids: ScenarioIds | None = None
    definition_id: DefinitionId = None
    connector_id: Id | None = None
    model: ModelId | None = None
    targets: Targets | None = None
    params: ModelParametersInput = with_defaults(ModelParametersInput)
    """Parameters of every target that knows them."""
    judge_model: ModelId | None = None
    persona_model: PersonaModel = None
    embedding_model: ModelId | None = None
    evaluator_url: Url | None = None

    _required_fields = field_validator("name", "scenario_ids")(not_null)

    @model_validator(mode="after")
    def _has_targets_once(self) -> Self:
        """An update may leave the targets as they are."""
        if self.model_fields_set.intersection(_TARGET_FIELDS):
            require_one(self, *_TARGET_FIELDS)
        return self

    def own_targets(self) -> tuple[Target, ...]:
        if self.targets is not None:
            return targets_of(None, self.targets)
        return (target_of(self.model, self.connector_id),)

    def fields(self) -> EvalFields:
        fields = {
            name: value for name, value in self.model_dump(exclude_unset=True).items() if name not in _TARGET_FIELDS
        }
        if self.model_fields_set.intersection(_TARGET_FIELDS):
            fields["targets"] = self.own_targets()
        if "params" in fields:
            fields["params"] = self.params.fields()
        grader_fields = {name: fields.pop(name) for name in GRADER_FIELDS if name in fields}
        return cast(EvalFields, {**fields, **({"grader_config": grader_fields} if grader_fields else {})})


class CreateEval(UpdateEval):
    """Exactly one of `targets`, `connectorId` and `model` is required. Names are unique within a workspace, ignoring
    case."""

    model_config = example(
        {
            "name": "Refunds, nightly",
            "scenarioIds": ["scn_01", "scn_02"],
            "connectorId": "con_01",
            "judgeModel": "openai/gpt-6.1-terra",
        }
    )

    name: ResourceName
    scenario_ids: ScenarioIds

    @model_validator(mode="after")
    def _has_targets(self) -> Self:
        require_one(self, *_TARGET_FIELDS)
        return self

    def spec(self) -> EvalSpec:
        return EvalSpec(
            name=self.name,
            scenario_ids=tuple(self.scenario_ids),
            targets=self.own_targets(),
            params=self.params.fields(),
            definition_id=self.definition_id,
            grader_config=GraderConfig(self.judge_model, self.persona_model, self.embedding_model, self.evaluator_url),
        )


class EvalResponse(ResponseModel):
    """An eval whose only target has no label and no parameters has it as `connectorId` or `model` too."""

    id: str
    """Example: evl_01"""
    name: str
    """Example: Refunds, nightly"""
    definition_id: str
    scenario_ids: list[str]
    """Ids of the scenarios. Example: ["scn_01", "scn_02"]"""
    connector_id: str | None
    model: str | None
    targets: list[TargetResponse]
    params: dict[str, Any]
    """Parameters of the calls to targets; see docs/targets.md."""
    judge_model: Annotated[str | None, read_from("grader_config.judge_model")]
    persona_model: Annotated[str | None, read_from("grader_config.persona_model")]
    embedding_model: Annotated[str | None, read_from("grader_config.embedding_model")]
    evaluator_url: Annotated[str | None, read_from("grader_config.evaluator_url")]
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, stored: Eval) -> "EvalResponse":
        only = stored.only_target
        return cls.from_value(stored, connector_id=only and only.connector_id, model=only and only.called_model)


class EvalPage(ResponseModel):
    items: list[EvalResponse]
    next_cursor: str | None


class EvaluatorInput(RequestModel):
    """If `headers` is omitted, the stored headers are kept, unless the URL changes: then they must be sent again.

    null or an empty object removes them.
    """

    url: Url
    headers: Headers | None = None
    """Headers of every request; their values are stored as secrets and never returned."""

    def evaluator(self) -> EvaluatorEndpoint:
        has_headers = "headers" in self.model_fields_set
        return EvaluatorEndpoint(self.url, header_values(self.headers or {}) if has_headers else None)


_SUMMARIZER_MODEL = "Model that writes the summaries of reports; null for the judge of the run"
_ANALYSIS_MODEL = "Model that writes the narratives of deep analyses, as `provider/name`; null: rules do"
_PER_OWNER = "Maximum runs of a token, user or schedule that have not ended; more are refused with 429"
_SCALE_RUN_COUNT = "Maximum conversations per target of a scale run; null for 1,000"
_SCALE_RUN_CONCURRENCY = "Maximum concurrent conversations of a scale run; null for no limit"
_IN_ALL = "Maximum runs of the workspace that have not ended; more are refused with 429"


class UpdateSettings(RequestModel):
    """Omitted fields keep their value and null clears it."""

    model_config = example(
        {
            "judgeModel": "openai/gpt-6.1-terra",
            "evaluator": {
                "url": "https://evaluator.example.com/score",
                "headers": {"Authorization": "Bearer evaluator-key"},
            },
        }
    )

    judge_model: ModelId | None = None
    persona_model: PersonaModel = None
    embedding_model: ModelId | None = None
    summarizer_model: Annotated[ModelId | None, Field(description=_SUMMARIZER_MODEL)] = None
    analysis_model: Annotated[ModelId | None, Field(description=_ANALYSIS_MODEL)] = None
    """Example: openai/gpt-6.1-terra"""
    evaluator: EvaluatorInput | None = None
    """An external evaluator of transcripts."""
    open_runs_per_owner: Annotated[
        _OpenRuns | None,
        Field(description=f"{_PER_OWNER}; null for {DEFAULT_PER_OWNER}"),
    ] = None
    """Example: 50"""
    open_runs: Annotated[
        _OpenRuns | None,
        Field(description=f"{_IN_ALL}; null for {DEFAULT_IN_ALL}"),
    ] = None
    """Example: 200"""
    max_scale_run_count: Annotated[ScaleRunCount | None, Field(description=_SCALE_RUN_COUNT)] = None
    """Example: 100"""
    max_scale_run_concurrency: Annotated[MaxConcurrency | None, Field(description=_SCALE_RUN_CONCURRENCY)] = None
    """Example: 5"""
    budgets: UpdateBudgets | None = None
    """Spending limits of the workspace; null removes all."""

    def changes(self) -> SettingsChanges:
        changes: dict[str, Any] = self.model_dump(exclude_unset=True)
        if "evaluator" in changes:
            changes["evaluator"] = self.evaluator and self.evaluator.evaluator()
        if "budgets" in changes:
            changes["budgets"] = self.budgets and self.budgets.changes()
        return cast(SettingsChanges, changes)


class EvaluatorResponse(ResponseModel):
    url: str
    """Address that is called."""
    header_names: HeaderNames
    """Example: ["Authorization"]"""


class SettingsResponse(ResponseModel):
    """Workspace defaults for evaluation; a run or its eval may override them."""

    judge_model: Annotated[str | None, read_from("grader_config.judge_model")]
    persona_model: Annotated[str | None, read_from("grader_config.persona_model")]
    embedding_model: Annotated[str | None, read_from("grader_config.embedding_model")]
    summarizer_model: Annotated[
        str | None, Field(description=_SUMMARIZER_MODEL), read_from("grader_config.summarizer_model")
    ]
    analysis_model: Annotated[str | None, Field(description=_ANALYSIS_MODEL)]
    """Example: openai/gpt-6.1-terra"""
    evaluator: EvaluatorResponse | None
    """External evaluator that scores answers over HTTP; null for none."""
    open_runs_per_owner: Annotated[int, Field(description=_PER_OWNER), read_from("open_runs.owner_limit")]
    """Example: 50"""
    open_runs: Annotated[int, Field(description=_IN_ALL), read_from("open_runs.workspace_limit")]
    """Example: 200"""
    max_scale_run_count: Annotated[int | None, Field(description=_SCALE_RUN_COUNT), read_from("scale_runs.count")]
    """Example: 100"""
    max_scale_run_concurrency: Annotated[
        int | None, Field(description=_SCALE_RUN_CONCURRENCY), read_from("scale_runs.concurrency")
    ]
    """Example: 5"""
    budgets: BudgetLimitsResponse
    """Spending limits of the workspace per day and month."""

    @classmethod
    def of(cls, settings: EvaluationSettings) -> "SettingsResponse":
        url = settings.grader_config.evaluator_url
        return cls.from_value(settings, evaluator=EvaluatorResponse.from_value(settings, url=url) if url else None)
