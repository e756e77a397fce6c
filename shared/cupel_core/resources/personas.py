"""Personas: simulated users that a workspace keeps."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypedDict

from cupel_core.domain.resources.personas import Persona
from cupel_core.ids import new_id
from cupel_core.paging import Page
from cupel_core.resources import headers as secret_headers
from cupel_core.resources import named_resource
from cupel_core.resources.named_resource import Kept, owner, stored_fields
from cupel_core.store import resources
from cupel_core.store.resources import Kind, Resource

_FIELDS = {"description": "description", "system_prompt": "systemPrompt"}


class PersonaFields(TypedDict, total=False):
    """In a change, what is left out stays as it is."""

    name: str
    description: str | None
    system_prompt: str | None
    headers: Mapping[str, str] | None


def create(workspace: str, fields: PersonaFields, now: datetime) -> Kept[Persona]:
    """Conflict when another has this name."""
    return _kept(
        named_resource.create(workspace, Kind.PERSONA, new_id("per"), fields, stored_fields(fields, _FIELDS), now)
    )


def get(workspace: str, persona_id: str) -> Persona:
    """Without its headers. NotFound when there is none, or it is deleted."""
    return _persona(resources.get(workspace, Kind.PERSONA, persona_id))


def get_many(workspace: str, persona_ids: Iterable[str]) -> dict[str, Persona]:
    """Those that there are and that are not deleted, by id; without their headers."""
    found = resources.get_many(workspace, Kind.PERSONA, persona_ids)
    return {persona_id: _persona(resource) for persona_id, resource in found.items()}


def headers(workspace: str, persona: Persona) -> Mapping[str, str]:
    """The values at the persona's version of them, also when it was changed or deleted since."""
    return secret_headers.read(workspace, owner(Kind.PERSONA, persona.id), persona.headers_version)


def read(workspace: str, persona_id: str) -> Kept[Persona]:
    return _kept(resources.get(workspace, Kind.PERSONA, persona_id))


def listed(workspace: str, limit: int, cursor: str | None) -> Page[Kept[Persona]]:
    """Newest first."""
    return named_resource.listed(workspace, Kind.PERSONA, _persona, limit, cursor)


def change(workspace: str, persona_id: str, fields: PersonaFields, now: datetime) -> Kept[Persona]:
    """Headers are replaced as a whole. Conflict when it was changed at the same time, or another has the new name."""
    before = resources.get(workspace, Kind.PERSONA, persona_id)
    return _kept(
        named_resource.change(workspace, before, fields, {**before.body, **stored_fields(fields, _FIELDS)}, now)
    )


def delete(workspace: str, persona_id: str, now: datetime) -> None:
    named_resource.delete(workspace, Kind.PERSONA, persona_id, now)


def _persona(resource: Resource) -> Persona:
    return Persona.from_json({**resource.body, "id": resource.id, "name": resource.name})


def _kept(resource: Resource) -> Kept[Persona]:
    return Kept.of(resource, _persona(resource))
