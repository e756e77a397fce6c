"""Whether what an eval names is there: its scenarios, of one definition, its connector, and its models."""

from collections.abc import Iterator, Sequence

from cupel_core.domain.definitions.definitions import Head
from cupel_core.domain.definitions.scenarios import owner_tail
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.resources.evals import Eval
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.errors import FieldError, Invalid, NotFound
from cupel_core.providers import provider_of
from cupel_core.store import definitions, resources, scenarios
from cupel_core.store.resources import Kind

_MODELS = {"judge_model": "judgeModel", "persona_model": "personaModel", "embedding_model": "embeddingModel"}


def definition_of(workspace: str, definition_id: str | None, scenario_ids: Sequence[str]) -> str:
    """Whose scenarios these are; Invalid names each that is not there. Only forks, which share ids, must be named."""
    wrong = _repeated(scenario_ids)
    if wrong:
        raise refusal(wrong)
    head = _owner(workspace, scenario_ids) if definition_id is None else _named(workspace, definition_id)
    found = scenarios.positions(scenarios.manifest(workspace, head.id), scenario_ids)
    missing = [
        FieldError(f"scenarioIds.{number}", f"there is no scenario {scenario_id} in definition {head.id}")
        for number, scenario_id in enumerate(scenario_ids)
        if scenario_id not in found
    ]
    if missing:
        raise refusal(missing)
    return head.id


def target_errors(workspace: str, wanted: Eval) -> Iterator[FieldError]:
    if (wanted.connector_id is None) == (wanted.model is None):
        yield FieldError("connectorId", "give a connectorId or a model, one of the two")
    elif wanted.model is not None:
        yield from model_errors("model", wanted.model)
    elif not resources.get_many(workspace, Kind.CONNECTOR, [str(wanted.connector_id)]):
        yield FieldError("connectorId", f"there is no connector {wanted.connector_id}")


def evaluation_errors(evaluation: Evaluation) -> Iterator[FieldError]:
    for name, field in _MODELS.items():
        model: str | None = getattr(evaluation, name)
        if model is not None:
            yield from model_errors(field, model)


def model_errors(field: str, model: str) -> Iterator[FieldError]:
    try:
        provider = provider_of(model, field)
    except Invalid as invalid:
        yield from invalid.errors
        return
    if provider.name == PROVIDER:
        yield FieldError(field, "must be a model; a connector is no model")


def refusal(errors: Sequence[FieldError]) -> Invalid:
    return Invalid("; ".join(f"{error.field}: {error.message}" for error in errors[:5]), tuple(errors))


def _repeated(scenario_ids: Sequence[str]) -> list[FieldError]:
    first: dict[str, int] = {}
    return [
        FieldError(f"scenarioIds.{number}", f"is the same as scenarioIds.{first[scenario_id]}")
        for number, scenario_id in enumerate(scenario_ids)
        if first.setdefault(scenario_id, number) != number
    ]


def _named(workspace: str, definition_id: str) -> Head:
    try:
        return definitions.get(workspace, definition_id)
    except NotFound as unknown:
        raise Invalid.field("definitionId", unknown.detail) from None


def _owner(workspace: str, scenario_ids: Sequence[str]) -> Head:
    tail = owner_tail(scenario_ids[0])
    owners = definitions.owners(workspace, tail) if tail else ()
    for head in owners:
        if scenarios.positions(scenarios.manifest(workspace, head.id), scenario_ids[:1]):
            return head
    raise Invalid.field("scenarioIds.0", f"there is no scenario {scenario_ids[0]}")
