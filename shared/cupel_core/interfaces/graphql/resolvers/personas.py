"""Personas: simulated users."""

from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.personas import CreatePersona, PersonaResponse, UpdatePersona
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.domain.resources.personas import Persona
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.graphql.inputs import check_limit, check_offset
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.lists import first_items
from cupel_core.resources import personas


@resolves("Query.persona", "getPersona")
def persona(request: Request, _: None, persona_id: str) -> Loaded | None:
    try:
        return _loaded(personas.get_resource(request.workspace, persona_id))
    except NotFound:
        return None


@resolves("Query.personas", "listPersonas")
def list_personas(request: Request, _: None, limit: int, offset: int) -> Page[Loaded]:
    found = first_items(
        lambda size, cursor: personas.list_personas(request.workspace, size, cursor),
        check_limit(limit),
        check_offset(offset),
    )
    return found.map(_loaded)


def _loaded(found: NamedResource[Persona]) -> Loaded:
    return Loaded(PersonaResponse.of(found))


@resolves("Transcript.persona", "getPersona")
async def transcript_persona(request: Request, source: Loaded) -> Loaded | None:
    if source["personaId"] is None:
        return None
    found: Loaded | None = await request.load.persona.load(source["personaId"])
    return found


@resolves("Mutation.createPersona", "createPersona", 5)
def create_persona(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    return _loaded(personas.create(request.workspace, parse(CreatePersona, body).fields(), request.now))


@resolves("Mutation.updatePersona", "updatePersona", 5)
def update_persona(request: Request, _: None, persona_id: str, body: dict[str, Any]) -> Loaded:
    fields = parse(UpdatePersona, body).fields()
    return _loaded(personas.update(request.workspace, persona_id, fields, request.now, UNCONDITIONAL))


@resolves("Mutation.deletePersona", "deletePersona", 5)
def delete_persona(request: Request, _: None, persona_id: str) -> bool:
    personas.delete(request.workspace, persona_id, request.now)
    return True
