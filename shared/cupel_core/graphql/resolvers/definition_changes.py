"""Changes of definitions and their scenarios."""

from typing import Any

from cupel_core.contract.definitions import (
    CreateDefinition,
    CreateScenarios,
    DefinitionResponse,
    ForkDefinition,
    GenerateScenarios,
    ScenarioGenerationResponse,
    ScenariosCreatedResponse,
    UpdateDefinition,
)
from cupel_core.definitions import catalog, forks, scenarios
from cupel_core.domain.definitions.definitions import Definition
from cupel_core.generation import generations
from cupel_core.graphql.inputs import parse, without_null
from cupel_core.graphql.registry import resolves
from cupel_core.graphql.request import Loaded, Request


@resolves("Mutation.createDefinition", "createDefinition", 10)
def create_definition(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    wanted = parse(CreateDefinition, body)
    return _loaded(
        catalog.create(request.workspace, wanted.labels(), wanted.content.specified(), request.now, wanted.scenarios)
    )


@resolves("Mutation.forkDefinition", "forkDefinition", 10)
def fork_definition(
    request: Request, _: None, parent_id: str, changes: dict[str, Any] | None = None, **labels: Any
) -> Loaded:
    body = {"content": changes, "versionLabel": labels.pop("version_label", None), **labels}
    wanted = parse(ForkDefinition, without_null(body), "changes")
    overrides = wanted.content.specified() if wanted.content else {}
    return _loaded(forks.fork(request.workspace, parent_id, wanted.labels(), overrides, request.now, wanted.version))


@resolves("Mutation.updateDefinition", "updateDefinition", 10)
def update_definition(request: Request, _: None, definition_id: str, body: dict[str, Any]) -> Loaded:
    wanted = parse(UpdateDefinition, body)
    overrides = wanted.content.specified() if wanted.content else None
    return _loaded(
        catalog.update(
            request.workspace, definition_id, wanted.labels(), overrides, request.now, items=wanted.scenarios
        )
    )


@resolves("Mutation.deleteDefinition", "deleteDefinition")
def delete_definition(request: Request, _: None, definition_id: str) -> bool:
    catalog.delete(request.workspace, definition_id, request.now)
    return True


@resolves("Mutation.createScenarios", "createScenarios", 10)
def create_scenarios(request: Request, _: None, definition_id: str, items: list[dict[str, Any]]) -> Loaded:
    wanted = parse(CreateScenarios, {"items": items}, "")
    added = scenarios.add_scenarios(request.workspace, definition_id, wanted.items, request.now)
    return Loaded(ScenariosCreatedResponse(ids=list(added.ids), total=added.total, definition_version=added.version))


@resolves("Mutation.generateScenarios", "generateScenarios", 10)
def generate_scenarios(request: Request, _: None, definition_id: str, **options: Any) -> Loaded:
    given = without_null(options)
    if isinstance(given.get("seed"), float) and given["seed"].is_integer():
        given["seed"] = int(given["seed"])
    wanted = parse(GenerateScenarios, given, "")
    return Loaded(
        ScenarioGenerationResponse.of(
            generations.start_generation(request.workspace, definition_id, wanted.spec(), request.now)
        )
    )


def _loaded(definition: Definition) -> Loaded:
    return Loaded(DefinitionResponse.of_definition(definition))
