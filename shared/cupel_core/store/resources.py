"""Named resources of a workspace: personas, connectors, evals and so on. A name is unique within its kind, in any case.

The name is a separate item written in the same transaction, so that of two concurrent writers one is refused. Deleting
hides the item and releases the name; runs that started with the resource can still read it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import TransactWriteError
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict, FieldError, NotFound
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.limits.quotas import Quota
from cupel_core.domain.resources.names import fold_name
from cupel_core.store import clients, idempotency_keys, keys, listing, quotas
from cupel_core.store.listing import list_newest
from cupel_core.store.table import CreationIndex, ExtraWrite, Item, connection, error_code

_SORT_KEY = "resource"


class ResourceKind(StrEnum):
    PERSONA = "persona"
    CONNECTOR = "connector"
    EVAL = "eval"
    EXPERIMENT = "experiment"
    PROFILE = "profile"


@dataclass(frozen=True)
class Resource:
    """A persona, a connector and so on. Only the capability of its kind reads `body`, which is JSON."""

    kind: ResourceKind
    id: str
    name: str
    body: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    revision: int = 1
    deleted_at: datetime | None = None


class ResourceItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    name = UnicodeAttribute()
    body = JSONAttribute()
    revision = NumberAttribute()
    created_at = UnicodeAttribute(attr_name="createdAt")
    updated_at = UnicodeAttribute(attr_name="updatedAt")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)


class NameItem(Item):
    resource_id = UnicodeAttribute(attr_name="resourceId")


def create(workspace: str, resource: Resource, extra: ExtraWrite | None = None) -> None:
    """Create a resource. Raise Conflict (field `name`) if another of its kind has the name, and QuotaExceeded."""
    take_quota(workspace, resource.kind)
    try:
        with idempotency_keys.transaction() as transaction:
            add(transaction, workspace, resource)
            _save_extra(transaction, extra)
    except TransactWriteError as error:
        raise _conflict_of(workspace, resource, error) from None


def take_quota(workspace: str, kind: ResourceKind) -> None:
    """Take one of the quota for this kind of resource. This is done before a resource is created."""
    quotas.take(workspace, Quota(f"{kind}s"))


def add(transaction: TransactWrite, workspace: str, resource: Resource) -> None:
    """Create a resource as a part of a transaction, which fails if another of its kind has the name. Call `take_quota`
    before."""
    transaction.save(_to_item(workspace, resource), condition=ResourceItem.pk.does_not_exist())
    transaction.save(_name_item(workspace, resource), condition=NameItem.pk.does_not_exist())


def update(workspace: str, before: Resource, after: Resource, extra: ExtraWrite | None = None) -> Resource:
    """Replace `before` with `after`. Raise Conflict if it changed since it was read, or another has the new name."""
    written = replace(after, revision=before.revision + 1)
    renamed = fold_name(after.name) != fold_name(before.name)
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(_to_item(workspace, written), condition=_unchanged_since(before))
            if renamed:
                transaction.save(_name_item(workspace, written), condition=NameItem.pk.does_not_exist())
                transaction.delete(_name_item(workspace, before))
            _save_extra(transaction, extra)
    except TransactWriteError as error:
        raise _conflict_of(workspace, after, error) from None
    return written


def delete(workspace: str, before: Resource, now: datetime) -> None:
    """Hide a resource and release its name. Runs that use it can still read it. Raise Conflict if it changed."""
    deleted = replace(before, deleted_at=now, updated_at=now, revision=before.revision + 1)
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(_to_item(workspace, deleted), condition=_unchanged_since(before))
            transaction.delete(_name_item(workspace, before))
    except TransactWriteError as error:
        raise _conflict_of(workspace, before, error) from None


def find(workspace: str, kind: ResourceKind, resource_id: str) -> Resource | None:
    """Return the resource, even a deleted one, or None if the workspace never had one of this id."""
    try:
        item = ResourceItem.get(keys.resource(workspace, kind, resource_id), _SORT_KEY, consistent_read=True)
    except ResourceItem.DoesNotExist:
        return None
    return _from_item(kind, item)


def get(workspace: str, kind: ResourceKind, resource_id: str) -> Resource:
    """Return the resource. Raise NotFound if there is none or it is deleted."""
    resource = find(workspace, kind, resource_id)
    if resource is None or resource.deleted_at is not None:
        raise NotFound(f"there is no {kind} {resource_id}")
    return resource


def exists(workspace: str, kind: ResourceKind, resource_id: str) -> bool:
    resource = find(workspace, kind, resource_id)
    return resource is not None and resource.deleted_at is None


def get_many(workspace: str, kind: ResourceKind, resource_ids: Iterable[str]) -> dict[str, Resource]:
    item_keys = [(keys.resource(workspace, kind, name), _SORT_KEY) for name in dict.fromkeys(resource_ids)]
    existing = (_from_item(kind, item) for item in ResourceItem.batch_get(item_keys, consistent_read=True))
    return {resource.id: resource for resource in existing if resource.deleted_at is None}


def list_resources(workspace: str, kind: ResourceKind, limit: int, cursor: str | None) -> Page[Resource]:
    entries = list_newest(ResourceItem, keys.creation_list(workspace, f"{kind}s"), limit, cursor)
    return fill_page((entry.map(partial(_from_item, kind)) for entry in entries), limit)


def list_ids(workspace: str, kind: ResourceKind) -> Iterator[str]:
    lists = [keys.creation_list(workspace, f"{kind}s", deleted=deleted) for deleted in (False, True)]
    return listing.list_ids(ResourceItem, *lists)


def _save_extra(transaction: TransactWrite, extra: ExtraWrite | None) -> None:
    if extra is not None:
        transaction.save(extra.item, condition=extra.condition)


def _unchanged_since(before: Resource) -> Any:
    return (ResourceItem.revision == before.revision) & ResourceItem.deleted_at.does_not_exist()


def _conflict_of(workspace: str, resource: Resource, error: TransactWriteError) -> Exception:
    """Return the Conflict that a cancelled transaction means. Any other error is returned as it is."""
    if error_code(error) != "TransactionCanceledException" or clients.is_transient(error):
        return error
    if _name_owner(workspace, resource.kind, resource.name) not in (None, resource.id):
        message = f"there is another {resource.kind} of this name"
        return Conflict(f"name: {message}", (FieldError("name", message),))
    return Conflict(f"this {resource.kind} was changed at the same time; read it and try again")


def _name_owner(workspace: str, kind: ResourceKind, name: str) -> str | None:
    try:
        return NameItem.get(keys.resource_names(workspace, kind), fold_name(name), consistent_read=True).resource_id
    except NameItem.DoesNotExist:
        return None


def _name_item(workspace: str, resource: Resource) -> NameItem:
    return NameItem(keys.resource_names(workspace, resource.kind), fold_name(resource.name), resource_id=resource.id)


def _to_item(workspace: str, resource: Resource) -> ResourceItem:
    deleted_at = resource.deleted_at
    return ResourceItem(
        keys.resource(workspace, resource.kind, resource.id),
        _SORT_KEY,
        gsi1pk=keys.creation_list(workspace, f"{resource.kind}s", deleted=deleted_at is not None),
        gsi1sk=f"{to_iso(resource.created_at)}#{resource.id}",
        name=resource.name,
        body=dict(resource.body),
        revision=resource.revision,
        created_at=to_iso(resource.created_at),
        updated_at=to_iso(resource.updated_at),
        deleted_at=to_iso(deleted_at) if deleted_at else None,
    )


def _from_item(kind: ResourceKind, item: ResourceItem) -> Resource:
    return Resource(
        kind=kind,
        id=item.pk.rpartition("#")[2],
        name=item.name,
        body=item.body,
        created_at=from_iso(item.created_at),
        updated_at=from_iso(item.updated_at),
        revision=int(item.revision),
        deleted_at=from_iso(item.deleted_at) if item.deleted_at else None,
    )
