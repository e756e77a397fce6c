"""What is asked and told about evals, and about what a workspace evaluates with."""

from typing import Annotated, Any, cast

from pydantic import Field, StringConstraints, field_validator

from cupel_core.contract.common import Answer, Request, Time
from cupel_core.contract.headers import Headers, Names, Url, values_of
from cupel_core.contract.resources import ResourceName, not_null
from cupel_core.domain.resources.evals import Eval
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.resources.evals import EvalFields, EvalSpec
from cupel_core.resources.evaluation_settings import EvaluationSettings, Evaluator, SettingsChanges

MAX_SCENARIOS = 1_000
_EVALUATION = ("judge_model", "persona_model", "embedding_model", "evaluator_url")

Id = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100)]
Model = Annotated[str, StringConstraints(strict=True, min_length=3, max_length=256), Field(description="provider/name")]
ScenarioIds = Annotated[list[Id], Field(min_length=1, max_length=MAX_SCENARIOS, description="Of one definition")]
DefinitionId = Annotated[Id | None, Field(description="Only needed for a fork, which shares scenarios with its parent")]


class EvalChange(Request):
    """Fields that are left out stay as they are, and null unsets them. A connector replaces a model, and vice versa."""

    name: ResourceName | None = None
    scenario_ids: ScenarioIds | None = None
    definition_id: DefinitionId = None
    connector_id: Id | None = None
    model: Model | None = None
    judge_model: Model | None = None
    persona_model: Annotated[Model | None, Field(description="Plays the user; the judge does when null")] = None
    embedding_model: Model | None = None
    evaluator_url: Url | None = None

    _keeps_what_it_needs = field_validator("name", "scenario_ids")(not_null)

    def fields(self) -> EvalFields:
        given = self.model_dump(exclude_unset=True)
        evaluation = {name: given.pop(name) for name in _EVALUATION if name in given}
        return cast(EvalFields, {**given, **({"evaluation": evaluation} if evaluation else {})})


class EvalRequest(EvalChange):
    """Exactly one of `connectorId` and `model`. The name is given once in a workspace, in any case."""

    name: ResourceName
    scenario_ids: ScenarioIds

    def spec(self) -> EvalSpec:
        return EvalSpec(
            name=self.name,
            scenario_ids=tuple(self.scenario_ids),
            connector_id=self.connector_id,
            model=self.model,
            definition_id=self.definition_id,
            evaluation=Evaluation(self.judge_model, self.persona_model, self.embedding_model, self.evaluator_url),
        )


class EvalAnswer(Answer):
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
    def of(cls, made: Eval) -> "EvalAnswer":
        of_evaluation: dict[str, Any] = {name: getattr(made.evaluation, name) for name in _EVALUATION}
        names = set(cls.model_fields) - {*_EVALUATION, "scenario_ids"}
        told: dict[str, Any] = {name: getattr(made, name) for name in names}
        return cls(scenario_ids=list(made.scenario_ids), **told, **of_evaluation)


class EvalList(Answer):
    items: list[EvalAnswer]
    next_cursor: str | None


class EvaluatorBody(Request):
    """Headers that are left out stay as they are; null or none takes them away."""

    url: Url
    headers: Headers | None = None

    def evaluator(self) -> Evaluator:
        given = "headers" in self.model_fields_set
        return Evaluator(self.url, values_of(self.headers or {}) if given else None)


class SettingsRequest(Request):
    """Fields that are left out stay as they are, and null unsets them."""

    judge_model: Model | None = None
    persona_model: Model | None = None
    embedding_model: Model | None = None
    evaluator: EvaluatorBody | None = None

    def changes(self) -> SettingsChanges:
        given = self.model_dump(exclude_unset=True)
        if "evaluator" in given:
            given["evaluator"] = self.evaluator and self.evaluator.evaluator()
        return cast(SettingsChanges, given)


class EvaluatorAnswer(Answer):
    url: str
    header_names: Names


class SettingsAnswer(Answer):
    """What runs are evaluated with unless they, or their eval, say otherwise."""

    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    evaluator: EvaluatorAnswer | None

    @classmethod
    def of(cls, settings: EvaluationSettings) -> "SettingsAnswer":
        evaluation, names = settings.evaluation, list(settings.header_names)
        url = evaluation.evaluator_url
        return cls(
            judge_model=evaluation.judge_model,
            persona_model=evaluation.persona_model,
            embedding_model=evaluation.embedding_model,
            evaluator=EvaluatorAnswer(url=url, header_names=names) if url else None,
        )
