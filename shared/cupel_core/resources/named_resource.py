"""Something that a workspace keeps under a name, with headers whose values are secrets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cupel_core.errors import Conflict
from cupel_core.paging import Page
from cupel_core.resources import headers
from cupel_core.store import resources
from cupel_core.store.resources import Kind, Resource


@dataclass(frozen=True)
class Kept[T]:
    """Of the headers only the names are told."""

    item: T
    header_names: tuple[str, ...]
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, resource: Resource, item: T) -> "Kept[T]":
        return cls(item, tuple(resource.body.get("headerNames") or ()), resource.created_at, resource.updated_at)


def owner(kind: Kind, resource_id: str) -> str:
    """Whose header values they are."""
    return f"{kind}/{resource_id}"


def create(
    workspace: str, kind: Kind, resource_id: str, fields: Mapping[str, Any], body: Mapping[str, Any], now: datetime
) -> Resource:
    """`fields` has the name and perhaps headers, `body` the rest as it is stored. Conflict when the name is taken."""
    stored = headers.keep(workspace, owner(kind, resource_id), fields.get("headers") or {})
    resource = Resource(kind, resource_id, fields["name"], {**body, **stored}, now, now)
    try:
        resources.create(workspace, resource)
    except Conflict:
        headers.forget(workspace, owner(kind, resource_id))
        raise
    return resource


def change(
    workspace: str, before: Resource, fields: Mapping[str, Any], body: Mapping[str, Any], now: datetime
) -> Resource:
    """Headers that are given replace all. Conflict when it was changed at the same time, or the name is another's."""
    whose, given = owner(before.kind, before.id), fields.get("headers") or {}
    stored = headers.keep(workspace, whose, given) if "headers" in fields else {}
    after = replace(before, name=fields.get("name", before.name), body={**body, **stored}, updated_at=now)
    changed = resources.change(workspace, before, after)
    if "headers" in fields and not given:
        headers.forget(workspace, whose)
    return changed


def listed[T](
    workspace: str, kind: Kind, read: Callable[[Resource], T], limit: int, cursor: str | None
) -> Page[Kept[T]]:
    """Newest first."""
    page = resources.listed(workspace, kind, limit, cursor)
    return Page(tuple(Kept.of(resource, read(resource)) for resource in page.items), page.next_cursor)


def delete(workspace: str, kind: Kind, resource_id: str, now: datetime) -> None:
    """Hides it. Its header values stay for the runs that go on; to have them gone, set `headers` to null before."""
    resources.delete(workspace, kind, resource_id, now)


def stored_fields(fields: Mapping[str, object], names: Mapping[str, str]) -> dict[str, Any]:
    """Those of the fields that `names` knows, by the names under which they are stored."""
    return {stored: fields[name] for name, stored in names.items() if name in fields}
