from collections.abc import Iterator, Sequence

from cupel_core.base.errors import FieldError, Invalid, named_in_body
from cupel_core.domain.definitions.definitions import DefinitionHead
from cupel_core.domain.definitions.scenarios import Manifest, definition_tail
from cupel_core.domain.resources.evals import Eval
from cupel_core.providers import chat_model_error
from cupel_core.providers.parameters import parameter_errors
from cupel_core.store import definition_scenarios, definitions, resources, scenarios
from cupel_core.store.resources import ResourceKind


def resolve_definition_id(workspace: str, definition_id: str | None, scenario_ids: Sequence[str]) -> str:
    """Return the id of the definition that has all these scenarios. Raise Invalid, naming each unknown scenario.
    `definition_id` is required only for a fork, which shares scenario ids with its parent."""
    duplicates = _duplicate_errors(scenario_ids)
    if duplicates:
        raise Invalid.fields(duplicates)
    head = _find_owner(workspace, scenario_ids) if definition_id is None else _get_head(workspace, definition_id)
    positions = scenarios.find_positions(_manifest(workspace, head), scenario_ids)
    missing = [
        FieldError(f"scenarioIds.{number}", f"there is no scenario {scenario_id} in definition {head.id}")
        for number, scenario_id in enumerate(scenario_ids)
        if scenario_id not in positions
    ]
    if missing:
        raise Invalid.fields(missing)
    return head.id


def target_errors(workspace: str, requested: Eval) -> Iterator[FieldError]:
    """Yield the errors of an eval's targets. Its models need not be usable before it is run."""
    for number, target in enumerate(requested.targets):
        field = "" if requested.only_target else f"targets.{number}."
        if target.id in (other.id for other in requested.targets[:number]):
            yield FieldError(f"{field}label", "is a duplicate: targets of one model need different labels")
        if target.connector_id is not None:
            if not resources.get_many(workspace, ResourceKind.CONNECTOR, [target.connector_id]):
                yield FieldError(f"{field}connectorId", f"there is no connector {target.connector_id}")
        elif message := chat_model_error(target.model):
            yield FieldError(f"{field}model", message)
        yield from parameter_errors(target, f"{field}params")


def _manifest(workspace: str, head: DefinitionHead) -> Manifest:
    return definition_scenarios.get_manifest(workspace, head.id, head.version)


def _duplicate_errors(scenario_ids: Sequence[str]) -> list[FieldError]:
    first: dict[str, int] = {}
    return [
        FieldError(f"scenarioIds.{number}", f"is a duplicate of scenarioIds.{first[scenario_id]}")
        for number, scenario_id in enumerate(scenario_ids)
        if first.setdefault(scenario_id, number) != number
    ]


def _get_head(workspace: str, definition_id: str) -> DefinitionHead:
    with named_in_body("definitionId"):
        return definitions.get(workspace, definition_id)


def _find_owner(workspace: str, scenario_ids: Sequence[str]) -> DefinitionHead:
    tail = definition_tail(scenario_ids[0])
    owners = definitions.list_scenario_owners(workspace, tail) if tail else ()
    for head in owners:
        if scenarios.find_positions(_manifest(workspace, head), scenario_ids[:1]):
            return head
    raise Invalid.field("scenarioIds.0", f"there is no scenario {scenario_ids[0]}")
