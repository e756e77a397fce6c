from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from cupel_core.base.errors import Conflict
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.resources import headers
from cupel_core.store import resources
from cupel_core.store.resources import Resource, ResourceKind


def from_stored[T](resource: Resource, item: T) -> NamedResource[T]:
    header_names = tuple(resource.body.get("headerNames") or ())
    return NamedResource(item, header_names, resource.created_at, resource.updated_at, resource.revision)


def owner(kind: ResourceKind, resource_id: str) -> str:
    return f"{kind}/{resource_id}"


def create(
    workspace: str,
    kind: ResourceKind,
    resource_id: str,
    fields: Mapping[str, Any],
    body: Mapping[str, Any],
    now: datetime,
) -> Resource:
    """Create from `fields` (name, headers) and `body` (all others, as stored). Raise Conflict if the name is taken."""
    stored = headers.save(workspace, owner(kind, resource_id), fields.get("headers") or {})
    resource = Resource(kind, resource_id, fields["name"], {**body, **stored}, now, now)
    try:
        resources.create(workspace, resource)
    except Conflict:
        headers.delete(workspace, owner(kind, resource_id))
        raise
    return resource


def update(
    workspace: str,
    before: Resource,
    fields: Mapping[str, Any],
    body: Mapping[str, Any],
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> Resource:
    """Update a resource. Headers in `fields` replace all. Raise Conflict for a concurrent change or a name in use."""
    precondition.check(etag(before.revision))
    headers_owner, new_headers = owner(before.kind, before.id), fields.get("headers") or {}
    stored = headers.save(workspace, headers_owner, new_headers) if "headers" in fields else {}
    after = replace(before, name=fields.get("name", before.name), body={**body, **stored}, updated_at=now)
    with precondition.guard_write():
        updated = resources.update(workspace, before, after)
    if "headers" in fields and not new_headers:
        headers.delete(workspace, headers_owner)
        _forget_lost_headers(workspace, before.kind, before.id)
    return updated


def _forget_lost_headers(workspace: str, kind: ResourceKind, resource_id: str) -> None:
    stored = resources.find(workspace, kind, resource_id)
    if stored and headers.is_lost(workspace, owner(kind, resource_id), stored.body.get("headersVersion")):
        with suppress(Conflict):  # The headers were set once more.
            resources.update(workspace, stored, replace(stored, body={**stored.body, **headers.NOT_SET}))


def list_resources[T](
    workspace: str, kind: ResourceKind, to_item: Callable[[Resource], T], limit: int, cursor: str | None
) -> Page[NamedResource[T]]:
    page = resources.list_resources(workspace, kind, limit, cursor)
    return page.map(lambda resource: from_stored(resource, to_item(resource)))


def delete(
    workspace: str, kind: ResourceKind, resource_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL
) -> None:
    """Hide the resource. Its header values stay for runs that continue. To delete them, set `headers` to null
    before."""
    before = resources.get(workspace, kind, resource_id)
    precondition.check(etag(before.revision))
    with precondition.guard_write():
        resources.delete(workspace, before, now)


def stored_fields(fields: Mapping[str, object], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields in `names` (field → stored name), by their stored names."""
    return {stored: fields[name] for name, stored in names.items() if name in fields}
