"""Evals (saved evaluations), and the workspace's defaults for grading."""

from typing import Annotated, Any, cast

from pydantic import Field, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.fields import Id, ModelId, ResourceName, Url, not_null
from cupel_core.contract.headers import HeaderNames, Headers, header_values
from cupel_core.contract.runs import GRADER_FIELDS
from cupel_core.domain.resources.evals import Eval, EvalFields, EvalSpec
from cupel_core.domain.resources.evaluation_settings import EvaluationSettings, EvaluatorEndpoint, SettingsChanges
from cupel_core.domain.scoring.grader_config import GraderConfig

MAX_SCENARIOS = 1_000

ScenarioIds = Annotated[
    list[Id],
    Field(min_length=1, max_length=MAX_SCENARIOS, description="Ids of scenarios that belong to one definition"),
]
DefinitionId = Annotated[
    Id | None,
    Field(description="Required only to select a fork, because a fork shares scenarios with its parent"),
]
PersonaModel = Annotated[
    ModelId | None, Field(description="Model that simulates the user; null to use the judge model")
]


class UpdateEval(RequestModel):
    """Omitted fields keep their value and null clears it. Setting `connectorId` clears `model`, and vice versa."""

    model_config = example({"scenarioIds": ["scn_01", "scn_02", "scn_03"], "judgeModel": "anthropic/claude-sonnet-4-5"})

    name: ResourceName | None = None
    scenario_ids: ScenarioIds | None = None
    definition_id: DefinitionId = None
    connector_id: Id | None = None
    model: ModelId | None = None
    judge_model: ModelId | None = None
    persona_model: PersonaModel = None
    embedding_model: ModelId | None = None
    evaluator_url: Url | None = None

    _required_fields = field_validator("name", "scenario_ids")(not_null)

    def fields(self) -> EvalFields:
        fields = self.model_dump(exclude_unset=True)
        grader_fields = {name: fields.pop(name) for name in GRADER_FIELDS if name in fields}
        return cast(EvalFields, {**fields, **({"grader_config": grader_fields} if grader_fields else {})})


class CreateEval(UpdateEval):
    """Exactly one of `connectorId` and `model` is required. Names are unique within a workspace, ignoring case."""

    model_config = example(
        {
            "name": "Refunds, nightly",
            "scenarioIds": ["scn_01", "scn_02"],
            "connectorId": "con_01",
            "judgeModel": "openai/gpt-5-mini",
        }
    )

    name: ResourceName
    scenario_ids: ScenarioIds

    def spec(self) -> EvalSpec:
        return EvalSpec(
            name=self.name,
            scenario_ids=tuple(self.scenario_ids),
            connector_id=self.connector_id,
            model=self.model,
            definition_id=self.definition_id,
            grader_config=GraderConfig(self.judge_model, self.persona_model, self.embedding_model, self.evaluator_url),
        )


class EvalResponse(ResponseModel):
    """An eval has either a connector or a model as its target."""

    id: str
    name: str
    definition_id: str
    scenario_ids: list[str]
    connector_id: str | None
    model: str | None
    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    evaluator_url: str | None
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, stored: Eval) -> "EvalResponse":
        graders = stored.grader_config
        return cls(
            id=stored.id,
            name=stored.name,
            definition_id=stored.definition_id,
            scenario_ids=list(stored.scenario_ids),
            connector_id=stored.connector_id,
            model=stored.model,
            judge_model=graders.judge_model,
            persona_model=graders.persona_model,
            embedding_model=graders.embedding_model,
            evaluator_url=graders.evaluator_url,
            created_at=stored.created_at,
            updated_at=stored.updated_at,
        )


class EvalPage(ResponseModel):
    items: list[EvalResponse]
    next_cursor: str | None


class EvaluatorInput(RequestModel):
    """If `headers` is omitted, the stored headers are kept, unless the URL changes: then they must be sent again.

    null or an empty object removes them.
    """

    url: Url
    headers: Headers | None = None

    def evaluator(self) -> EvaluatorEndpoint:
        has_headers = "headers" in self.model_fields_set
        return EvaluatorEndpoint(self.url, header_values(self.headers or {}) if has_headers else None)


class UpdateSettings(RequestModel):
    """Omitted fields keep their value and null clears it."""

    model_config = example(
        {
            "judgeModel": "openai/gpt-5-mini",
            "evaluator": {
                "url": "https://evaluator.example.com/score",
                "headers": {"Authorization": "Bearer evaluator-key"},
            },
        }
    )

    judge_model: ModelId | None = None
    persona_model: PersonaModel = None
    embedding_model: ModelId | None = None
    evaluator: Annotated[EvaluatorInput | None, Field(description="An external evaluator of transcripts")] = None

    def changes(self) -> SettingsChanges:
        changes: dict[str, Any] = self.model_dump(exclude_unset=True)
        if "evaluator" in changes:
            changes["evaluator"] = self.evaluator and self.evaluator.evaluator()
        return cast(SettingsChanges, changes)


class EvaluatorResponse(ResponseModel):
    url: str
    header_names: HeaderNames


class SettingsResponse(ResponseModel):
    """Workspace defaults for evaluation; a run or its eval may override them."""

    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    evaluator: EvaluatorResponse | None

    @classmethod
    def of(cls, settings: EvaluationSettings) -> "SettingsResponse":
        graders, names = settings.grader_config, list(settings.header_names)
        url = graders.evaluator_url
        return cls(
            judge_model=graders.judge_model,
            persona_model=graders.persona_model,
            embedding_model=graders.embedding_model,
            evaluator=EvaluatorResponse(url=url, header_names=names) if url else None,
        )
