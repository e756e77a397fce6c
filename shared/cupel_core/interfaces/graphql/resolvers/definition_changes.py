"""Changes of definitions and their scenarios."""

from typing import Any

from cupel_core.contract.definitions import (
    CreateDefinition,
    CreateScenarios,
    DefinitionResponse,
    ForkDefinition,
    GenerateScenarios,
    ScenarioDetailResponse,
    ScenarioGenerationResponse,
    ScenariosCreatedResponse,
    UpdateDefinition,
)
from cupel_core.contract.scenarios import UpdateScenario
from cupel_core.definitions import catalog, forks, scenarios
from cupel_core.definitions.generation import generations
from cupel_core.domain.definitions.definitions import Definition
from cupel_core.domain.definitions.generations import GenerationView
from cupel_core.interfaces.graphql.inputs import parse, without_null
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request


@resolves("Mutation.createDefinition", "createDefinition", 10)
def create_definition(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    wanted = parse(CreateDefinition, body)
    return _loaded(
        catalog.create(request.workspace, wanted.labels(), wanted.specified_content(), request.now, wanted.scenarios)
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


@resolves("Mutation.updateScenario", "updateScenario", 5)
def update_scenario(request: Request, _: None, definition_id: str, scenario_id: str, body: dict[str, Any]) -> Loaded:
    changes = parse(UpdateScenario, body)
    changed = scenarios.update(request.workspace, definition_id, scenario_id, changes, request.now)
    return Loaded(ScenarioDetailResponse.of_version(*changed))


@resolves("Mutation.deleteScenario", "deleteScenario", 5)
def delete_scenario(request: Request, _: None, definition_id: str, scenario_id: str) -> bool:
    scenarios.delete(request.workspace, definition_id, scenario_id, request.now)
    return True


@resolves("Mutation.generateScenarios", "generateScenarios", 10)
def generate_scenarios(
    request: Request,
    _: None,
    definition_id: str,
    *,
    allow_unpriced: bool | None = None,
    max_budget_usd: float | None = None,
    **options: Any,
) -> Loaded:
    given = {**options, "allowUnpriced": allow_unpriced, "maxBudgetUsd": max_budget_usd}
    wanted = parse(GenerateScenarios, without_null(given), "")
    started = generations.start_generation(request.workspace, definition_id, wanted.spec(), request.now)
    return Loaded(ScenarioGenerationResponse.of(GenerationView(started)))


def _loaded(definition: Definition) -> Loaded:
    return Loaded(DefinitionResponse.of_definition(definition))
