"""Personas: simulated users."""

from aws_lambda_powertools.event_handler import Response

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.personas import CreatePersona, PersonaPage, PersonaResponse, UpdatePersona
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.domain.resources.personas import Persona
from cupel_core.resources import personas

router = OperationRouter()


@router.operation("createPersona", status=201)
def create_persona(body: CreatePersona) -> PersonaResponse:
    return _tagged(personas.create(router.workspace, body.fields(), utc_now()))


@router.operation("listPersonas")
def list_personas(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[PersonaPage]:
    listed = personas.list_personas(router.workspace, limit, cursor)
    return bounded_page(PersonaPage, listed.entries(), limit, PersonaResponse.of)


@router.operation("getPersona")
def get_persona(persona_id: str) -> PersonaResponse:
    return _tagged(personas.get_resource(router.workspace, persona_id))


@router.operation("updatePersona")
def update_persona(persona_id: str, body: UpdatePersona, if_match: IfMatch = None) -> PersonaResponse:
    precondition = Precondition.parse(if_match)
    return _tagged(personas.update(router.workspace, persona_id, body.fields(), utc_now(), precondition))


@router.operation("deletePersona", status=204)
def delete_persona(persona_id: str, if_match: IfMatch = None) -> Response[None]:
    personas.delete(router.workspace, persona_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


def _tagged(found: NamedResource[Persona]) -> PersonaResponse:
    return router.tagged(PersonaResponse.of(found), etag(found.revision))
