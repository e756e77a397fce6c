"""The scenarios of a definition: list, add, import, generate, update and delete them."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse, OpenAPIResponseContentModel

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit, VersionFilter
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition
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
from cupel_core.contract.scenarios import UpdateScenario
from cupel_core.definitions import scenarios
from cupel_core.definitions.generation import generations
from cupel_core.definitions.scenarios import AddedScenarios, ScenarioInVersion
from cupel_core.domain.definitions.generations import GenerationStatus, GenerationView

router = OperationRouter()
_GENERATION: OpenAPIResponseContentModel = {"model": ScenarioGenerationResponse}
_GENERATED: dict[int, OpenAPIResponse] = {
    201: {"description": "The scenarios were generated", "content": {"application/json": _GENERATION}},
    202: {"description": "Generation was started", "content": {"application/json": _GENERATION}},
}


@router.operation("listScenarios")
def list_scenarios(
    definition_id: str, version: VersionFilter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Rendered[ScenarioPageResponse]:
    listed = scenarios.list_scenarios(router.workspace, definition_id, version=version, limit=limit, cursor=cursor)
    return bounded_page(ScenarioPageResponse, listed.entries(), limit, ScenarioResponse.of)


@router.operation("createScenarios", status=201)
def create_scenarios(definition_id: str, body: CreateScenarios) -> ScenariosCreatedResponse:
    return _created(scenarios.add_scenarios(router.workspace, definition_id, body.items, utc_now()))


@router.operation("importScenarios", status=201)
def import_scenarios(definition_id: str, body: ImportScenarios) -> ScenariosCreatedResponse:
    return _created(
        scenarios.import_scenarios(
            router.workspace, definition_id, body.format, body.content, utc_now(), replace=body.replace
        )
    )


@router.operation("getScenario")
def get_scenario(definition_id: str, scenario_id: str, version: VersionFilter = None) -> ScenarioDetailResponse:
    return _tagged(scenarios.get(router.workspace, definition_id, scenario_id, version))


@router.operation("updateScenario")
def update_scenario(
    definition_id: str, scenario_id: str, body: UpdateScenario, if_match: IfMatch = None
) -> ScenarioDetailResponse:
    precondition = Precondition.parse(if_match)
    return _tagged(scenarios.update(router.workspace, definition_id, scenario_id, body, utc_now(), precondition))


@router.operation("deleteScenario", status=204)
def delete_scenario(definition_id: str, scenario_id: str, if_match: IfMatch = None) -> Response[None]:
    scenarios.delete(router.workspace, definition_id, scenario_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


@router.operation("generateScenarios", status=201, responses=_GENERATED)
def generate_scenarios(definition_id: str, body: GenerateScenarios) -> Response[ScenarioGenerationResponse]:
    generation = generations.start_generation(router.workspace, definition_id, body.spec(), utc_now())
    status = 201 if generation.status is GenerationStatus.COMPLETED else 202
    return Response(status, "application/json", ScenarioGenerationResponse.of(GenerationView(generation)))


@router.operation("getScenarioGeneration")
def get_scenario_generation(definition_id: str, generation_id: str) -> ScenarioGenerationResponse:
    return ScenarioGenerationResponse.of(generations.get(router.workspace, definition_id, generation_id))


def _tagged(found: ScenarioInVersion) -> ScenarioDetailResponse:
    return router.tagged(ScenarioDetailResponse.of_version(*found), found.etag)


def _created(added: AddedScenarios) -> ScenariosCreatedResponse:
    return ScenariosCreatedResponse(ids=list(added.ids), total=added.total, definition_version=added.version)
