"""The scenarios of a definition: read, add, import, generate."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse, OpenAPIResponseContentModel
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.definitions import (
    AddedAnswer,
    GenerationAnswer,
    GenerationRequest,
    ImportRequest,
    ScenarioAnswer,
    ScenarioList,
    ScenariosRequest,
)
from cupel_core.definitions import scenarios
from cupel_core.domain.definitions.generations import GenerationStatus
from cupel_core.generation import generations
from cupel_core.paging import DEFAULT_LIMIT

router = APIGatewayHttpRouter()
_TAGS = ["scenarios"]
_PATH = "/definitions/<definition_id>/scenarios"
_GENERATION: OpenAPIResponseContentModel = {"model": GenerationAnswer}
_GENERATED: dict[int, OpenAPIResponse] = {
    201: {"description": "The scenarios are there", "content": {"application/json": _GENERATION}},
    202: {"description": "The scenarios are being written", "content": {"application/json": _GENERATION}},
}


@router.get(_PATH, summary="List the scenarios of a definition, in order", tags=_TAGS)
def listed(definition_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ScenarioList:
    page = scenarios.listed(_workspace(), definition_id, limit=limit, cursor=cursor)
    return ScenarioList(items=[ScenarioAnswer.of(each) for each in page.items], next_cursor=page.next_cursor)


@router.post(_PATH, summary="Add scenarios", tags=_TAGS, status_code=201)
def add(definition_id: str, body: ScenariosRequest) -> AddedAnswer:
    added = scenarios.add(_workspace(), definition_id, body.items)
    return AddedAnswer(ids=list(added.ids), total=added.total)


@router.post(f"{_PATH}/import", summary="Import scenarios from CSV or JSONL", tags=_TAGS, status_code=201)
def import_text(definition_id: str, body: ImportRequest) -> AddedAnswer:
    added = scenarios.import_text(_workspace(), definition_id, body.format, body.content, replace=body.replace)
    return AddedAnswer(ids=list(added.ids), total=added.total)


@router.post(
    f"{_PATH}/generate",
    summary="Generate a scenario for every combination of levels",
    description="Mode `matrix` is done when this answers (201); mode `llm` is queued work (202) to ask after.",
    tags=_TAGS,
    status_code=201,
    responses=_GENERATED,
)
def generate(definition_id: str, body: GenerationRequest) -> Response[GenerationAnswer]:
    generation = generations.begin(_workspace(), definition_id, body.spec(), utc_now())
    status = 201 if generation.status is GenerationStatus.COMPLETED else 202
    return Response(status, "application/json", GenerationAnswer.of(generation))


@router.get(f"{_PATH}/generations/<generation_id>", summary="Read how far a generation is", tags=_TAGS)
def generation(definition_id: str, generation_id: str) -> GenerationAnswer:
    return GenerationAnswer.of(generations.get(_workspace(), definition_id, generation_id))


def _workspace() -> str:
    return caller(router.current_event).workspace
