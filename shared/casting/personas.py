"""Personas: simulated users that a workspace keeps."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict

from shared.casting import headers as secret_headers
from shared.casting.kept import Kept
from shared.domain.personas import Persona
from shared.errors import Conflict
from shared.ids import new_id
from shared.paging import Page
from shared.store import resources
from shared.store.resources import Kind, Resource

_FIELDS = {"description": "description", "system_prompt": "systemPrompt"}


class PersonaFields(TypedDict, total=False):
    """In a change, what is left out stays as it is."""

    name: str
    description: str | None
    system_prompt: str | None
    headers: Mapping[str, str] | None


def create(workspace: str, fields: PersonaFields, now: datetime) -> Kept[Persona]:
    """Conflict when another has this name."""
    persona_id = new_id("per")
    stored = secret_headers.keep(workspace, _owner(persona_id), fields.get("headers") or {})
    resource = Resource(Kind.PERSONA, persona_id, fields["name"], {**_body(fields), **stored}, now, now)
    try:
        resources.create(workspace, resource)
    except Conflict:
        secret_headers.forget(workspace, _owner(persona_id))
        raise
    return _kept(resource)


def get(workspace: str, persona_id: str) -> Persona:
    """Without its headers. NotFound when there is none, or it is deleted."""
    return _persona(resources.get(workspace, Kind.PERSONA, persona_id))


def get_many(workspace: str, persona_ids: Iterable[str]) -> dict[str, Persona]:
    """Those that there are and that are not deleted, by id; without their headers."""
    found = resources.get_many(workspace, Kind.PERSONA, persona_ids)
    return {persona_id: _persona(resource) for persona_id, resource in found.items()}


def headers(workspace: str, persona: Persona) -> Mapping[str, str]:
    """The values at the persona's version of them, also when it was changed or deleted since."""
    return secret_headers.read(workspace, _owner(persona.id), persona.headers_version)


def read(workspace: str, persona_id: str) -> Kept[Persona]:
    return _kept(resources.get(workspace, Kind.PERSONA, persona_id))


def listed(workspace: str, limit: int, cursor: str | None) -> Page[Kept[Persona]]:
    """Newest first."""
    page = resources.listed(workspace, Kind.PERSONA, limit, cursor)
    return Page(tuple(map(_kept, page.items)), page.next_cursor)


def change(workspace: str, persona_id: str, fields: PersonaFields, now: datetime) -> Kept[Persona]:
    """Headers are replaced as a whole. Conflict when it was changed at the same time, or another has the new name."""
    before = resources.get(workspace, Kind.PERSONA, persona_id)
    body = {**before.body, **_body(fields)}
    given = fields.get("headers")
    if "headers" in fields:
        body |= secret_headers.keep(workspace, _owner(persona_id), given or {})
    after = replace(before, name=fields.get("name", before.name), body=body, updated_at=now)
    changed = resources.change(workspace, before, after)
    if "headers" in fields and not given:
        secret_headers.forget(workspace, _owner(persona_id))
    return _kept(changed)


def delete(workspace: str, persona_id: str, now: datetime) -> None:
    """Hides it. Its header values stay for the runs that go on; to have them gone, set `headers` to null before."""
    resources.delete(workspace, Kind.PERSONA, persona_id, now)


def _body(fields: Mapping[str, object]) -> dict[str, Any]:
    return {stored: fields[name] for name, stored in _FIELDS.items() if name in fields}


def _owner(persona_id: str) -> str:
    return f"{Kind.PERSONA}/{persona_id}"


def _persona(resource: Resource) -> Persona:
    return Persona.from_json({**resource.body, "id": resource.id, "name": resource.name})


def _kept(resource: Resource) -> Kept[Persona]:
    return Kept.of(resource, _persona(resource))
