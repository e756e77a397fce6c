"""Personas: simulated users."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.personas import PersonaAnswer, PersonaChange, PersonaList, PersonaRequest
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.resources import personas

router = APIGatewayHttpRouter()
_TAGS = ["personas"]


@router.post("/personas", summary="Create a persona", tags=_TAGS, status_code=201)
def create(body: PersonaRequest) -> PersonaAnswer:
    return PersonaAnswer.of(personas.create(_workspace(), body.fields(), utc_now()))


@router.get("/personas", summary="List the personas, newest first", tags=_TAGS)
def listed(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> PersonaList:
    page = personas.listed(_workspace(), limit, cursor)
    return PersonaList(items=[PersonaAnswer.of(each) for each in page.items], next_cursor=page.next_cursor)


@router.get("/personas/<persona_id>", summary="Read a persona", tags=_TAGS)
def get(persona_id: str) -> PersonaAnswer:
    return PersonaAnswer.of(personas.read(_workspace(), persona_id))


@router.patch("/personas/<persona_id>", summary="Change a persona", tags=_TAGS)
def change(persona_id: str, body: PersonaChange) -> PersonaAnswer:
    return PersonaAnswer.of(personas.change(_workspace(), persona_id, body.fields(), utc_now()))


@router.delete("/personas/<persona_id>", summary="Delete a persona; runs go on with it", tags=_TAGS, status_code=204)
def delete(persona_id: str) -> Response[None]:
    personas.delete(_workspace(), persona_id, utc_now())
    return Response(204)


def _workspace() -> str:
    return caller(router.current_event).workspace
