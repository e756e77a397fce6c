from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Call,
    Listed,
    Replay,
    Tagged,
    operation,
)
from cupel_core.contract.personas import CreatePersona, PersonaPage, PersonaResponse, UpdatePersona
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.domain.resources.personas import Persona
from cupel_core.resources import personas


@operation(
    "POST /v1/personas",
    "Create a persona",
    role=MEMBER,
    returns="The persona",
    status=201,
    location="/v1/personas/{id}",
    replay=Replay.CREATED,
)
def create_persona(call: Call, body: CreatePersona) -> Tagged[PersonaResponse]:
    return _tagged(personas.create(call.workspace, body.fields(), call.now))


@operation("GET /v1/personas", "List the personas, newest first", role=VIEWER, returns="A page of personas")
def list_personas(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[PersonaPage]:
    listed = personas.list_personas(call.workspace, limit, cursor)
    return Listed(listed, PersonaResponse.from_value)


@operation("GET /v1/personas/{persona_id}", "Get a persona", role=VIEWER, returns="The persona")
def get_persona(call: Call, persona_id: str) -> Tagged[PersonaResponse]:
    return _tagged(personas.get_resource(call.workspace, persona_id))


@operation(
    "PATCH /v1/personas/{persona_id}", "Update a persona", role=MEMBER, returns="The updated persona", if_match=True
)
def update_persona(call: Call, persona_id: str, body: UpdatePersona) -> Tagged[PersonaResponse]:
    return _tagged(personas.update(call.workspace, persona_id, body.fields(), call.now, call.precondition))


@operation(
    "DELETE /v1/personas/{persona_id}",
    "Delete a persona; runs in progress keep using it",
    role=MEMBER,
    returns="Deleted",
    if_match=True,
)
def delete_persona(call: Call, persona_id: str) -> None:
    personas.delete(call.workspace, persona_id, call.now, call.precondition)


def _tagged(found: NamedResource[Persona]) -> Tagged[PersonaResponse]:
    return Tagged(PersonaResponse.from_value(found), etag(found.revision))
