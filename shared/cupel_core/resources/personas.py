from collections.abc import Iterable, Mapping
from datetime import datetime

from cupel_core.base.errors import Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.domain.resources.personas import Persona, PersonaFields
from cupel_core.resources import headers as secret_headers
from cupel_core.resources import named_resource
from cupel_core.resources.named_resource import owner, stored_fields
from cupel_core.store import resources
from cupel_core.store.resources import Resource, ResourceKind

_FIELDS = {"description": "description", "system_prompt": "systemPrompt", "connector_urls": "connectorUrls"}


def create(workspace: str, fields: PersonaFields, now: datetime) -> NamedResource[Persona]:
    """Create a persona. Raise Conflict if another one has this name, and Invalid for headers without
    `connector_urls`."""
    _check_connector_urls(None, fields)
    return _named(
        named_resource.create(
            workspace, ResourceKind.PERSONA, new_id("per"), fields, stored_fields(fields, _FIELDS), now
        )
    )


def get(workspace: str, persona_id: str) -> Persona:
    """Return the persona without its headers. Raise NotFound for an unknown or deleted one."""
    return _persona(resources.get(workspace, ResourceKind.PERSONA, persona_id))


def get_many(workspace: str, persona_ids: Iterable[str]) -> dict[str, Persona]:
    """Return personas by id, without their headers. Unknown and deleted ones are left out."""
    stored = resources.get_many(workspace, ResourceKind.PERSONA, persona_ids)
    return {persona_id: _persona(resource) for persona_id, resource in stored.items()}


def load_headers(workspace: str, persona: Persona) -> Mapping[str, str]:
    """Return the header values of the persona's version of them, even if they were changed or deleted since."""
    return secret_headers.load(workspace, owner(ResourceKind.PERSONA, persona.id), persona.headers_version)


def get_resource(workspace: str, persona_id: str) -> NamedResource[Persona]:
    return _named(resources.get(workspace, ResourceKind.PERSONA, persona_id))


def get_resources(workspace: str, persona_ids: Iterable[str]) -> dict[str, NamedResource[Persona]]:
    stored = resources.get_many(workspace, ResourceKind.PERSONA, persona_ids)
    return {persona_id: _named(resource) for persona_id, resource in stored.items()}


def list_personas(workspace: str, limit: int, cursor: str | None) -> Page[NamedResource[Persona]]:
    return named_resource.list_resources(workspace, ResourceKind.PERSONA, _persona, limit, cursor)


def update(
    workspace: str, persona_id: str, fields: PersonaFields, now: datetime, precondition: Precondition = UNCONDITIONAL
) -> NamedResource[Persona]:
    """Update a persona. Headers are replaced as a whole. Raise Conflict for a concurrent change or a name in use. Raise
    Invalid if headers or their `connector_urls` are set without the other."""
    before = resources.get(workspace, ResourceKind.PERSONA, persona_id)
    _check_connector_urls(_persona(before), fields)
    return _named(
        named_resource.update(
            workspace, before, fields, {**before.body, **stored_fields(fields, _FIELDS)}, now, precondition
        )
    )


def delete(workspace: str, persona_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL) -> None:
    """Hide the persona. Runs that use it continue."""
    named_resource.delete(workspace, ResourceKind.PERSONA, persona_id, now, precondition)


def _check_connector_urls(before: Persona | None, fields: PersonaFields) -> None:
    """Raise Invalid unless headers and their addresses are set together: stored headers are sent to no address added
    later."""
    urls = fields.get("connector_urls") or ()
    if fields.get("headers") and not urls:
        raise Invalid.field("connectorUrls", "is required with headers: the connectors' addresses that may get them")
    keeps_headers = before is not None and before.has_headers and "headers" not in fields
    if before is not None and keeps_headers and not all(map(before.sends_headers_to, urls)):
        raise Invalid.field("headers", "must be set again or set to null: the stored values belong to other addresses")


def _persona(resource: Resource) -> Persona:
    return Persona.from_json({**resource.body, "id": resource.id, "name": resource.name})


def _named(resource: Resource) -> NamedResource[Persona]:
    return named_resource.from_stored(resource, _persona(resource))
