from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.definitions import (
    CreateScenarios,
    GenerateScenarios,
    ImportScenarios,
    ScenarioDetailResponse,
    ScenarioGenerationResponse,
    ScenarioPageResponse,
    ScenarioResponse,
    ScenariosCreatedResponse,
)
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Answered,
    AsTool,
    Call,
    Listed,
    Replay,
    Tagged,
    ToolGroup,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
    VersionFilter,
)
from cupel_core.contract.scenarios import UpdateScenario
from cupel_core.definitions import scenarios
from cupel_core.definitions.generation import generations
from cupel_core.definitions.scenarios import AddedScenarios, ScenarioInVersion
from cupel_core.domain.definitions.generations import GenerationStatus, GenerationView


@operation(
    "GET /v1/definitions/{definition_id}/scenarios",
    "List the scenarios of a definition, in order",
    role=VIEWER,
    returns="A page of scenarios",
    tag="scenarios",
)
def list_scenarios(
    call: Call, definition_id: str, version: VersionFilter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[ScenarioPageResponse]:
    listed = scenarios.list_scenarios(call.workspace, definition_id, version=version, limit=limit, cursor=cursor)
    return Listed(listed, ScenarioResponse.of)


@operation(
    "POST /v1/definitions/{definition_id}/scenarios",
    "Add scenarios to a definition",
    role=MEMBER,
    returns="The ids of the new scenarios",
    tag="scenarios",
    status=201,
    location="/v1/definitions/{definition_id}/scenarios",
    replay=Replay.RESPONSE,
)
def create_scenarios(call: Call, definition_id: str, body: CreateScenarios) -> ScenariosCreatedResponse:
    return _created(scenarios.add_scenarios(call.workspace, definition_id, body.items, call.now))


@operation(
    "POST /v1/definitions/{definition_id}/scenarios/import",
    "Import scenarios from CSV or JSONL",
    role=MEMBER,
    returns="The ids of the new scenarios",
    tag="scenarios",
    status=201,
    location="/v1/definitions/{definition_id}/scenarios",
    replay=Replay.RESPONSE,
)
def import_scenarios(call: Call, definition_id: str, body: ImportScenarios) -> ScenariosCreatedResponse:
    return _created(
        scenarios.import_scenarios(
            call.workspace, definition_id, body.format, body.content, call.now, replace=body.replace
        )
    )


@operation(
    "GET /v1/definitions/{definition_id}/scenarios/{scenario_id}",
    "Get a scenario, in the latest or a given version of its definition",
    role=VIEWER,
    returns="The scenario",
    tag="scenarios",
)
def get_scenario(
    call: Call, definition_id: str, scenario_id: str, version: VersionFilter = None
) -> Tagged[ScenarioDetailResponse]:
    return _tagged(scenarios.get(call.workspace, definition_id, scenario_id, version))


@operation(
    "PATCH /v1/definitions/{definition_id}/scenarios/{scenario_id}",
    "Update a scenario in the next version of its definition",
    role=MEMBER,
    returns="The updated scenario",
    tag="scenarios",
    if_match=True,
)
def update_scenario(
    call: Call, definition_id: str, scenario_id: str, body: UpdateScenario
) -> Tagged[ScenarioDetailResponse]:
    """Its id stays. Earlier versions and their runs keep the previous content."""
    return _tagged(scenarios.update(call.workspace, definition_id, scenario_id, body, call.now, call.precondition))


@operation(
    "DELETE /v1/definitions/{definition_id}/scenarios/{scenario_id}",
    "Delete a scenario in the next version of its definition",
    role=MEMBER,
    returns="Deleted",
    tag="scenarios",
    if_match=True,
)
def delete_scenario(call: Call, definition_id: str, scenario_id: str) -> None:
    """Earlier versions and their runs keep it."""
    scenarios.delete(call.workspace, definition_id, scenario_id, call.now, call.precondition)


@operation(
    "POST /v1/definitions/{definition_id}/scenarios/generate",
    "Generate one scenario for each combination of dimension levels",
    role=MEMBER,
    returns="The scenarios were generated",
    also={202: "Generation was started"},
    tag="scenarios",
    status=201,
    location="/v1/definitions/{definition_id}/scenarios/generations/{id}",
    replay=Replay.CREATED,
    tool=AsTool(
        ToolGroup.AUTHORING,
        "id status definitionVersion progress error",
        is_default=True,
        advice="Unless the model is free, it needs max_budget_usd: ask the user first.",
        max_kb=1,
        destroys=True,
        calls_models=True,
    ),
)
def generate_scenarios(call: Call, definition_id: str, body: GenerateScenarios) -> Answered[ScenarioGenerationResponse]:
    """The scenarios exist when the response arrives (201) in mode `matrix`. They are generated in the background (202)
    in mode `llm`; poll the generation for its status.
    """
    generation = generations.start_generation(call.workspace, definition_id, body.spec(), call.now)
    status = 201 if generation.status is GenerationStatus.COMPLETED else 202
    return Answered(ScenarioGenerationResponse.of(GenerationView(generation)), status)


@operation(
    "GET /v1/definitions/{definition_id}/scenarios/generations/{generation_id}",
    "Get the status of a scenario generation",
    role=VIEWER,
    returns="The generation and its progress",
    tag="scenarios",
)
def get_scenario_generation(call: Call, definition_id: str, generation_id: str) -> ScenarioGenerationResponse:
    return ScenarioGenerationResponse.of(generations.get(call.workspace, definition_id, generation_id))


def _tagged(found: ScenarioInVersion) -> Tagged[ScenarioDetailResponse]:
    return Tagged(ScenarioDetailResponse.of_version(*found), found.etag)


def _created(added: AddedScenarios) -> ScenariosCreatedResponse:
    return ScenariosCreatedResponse(ids=list(added.ids), total=added.total, definition_version=added.version)
