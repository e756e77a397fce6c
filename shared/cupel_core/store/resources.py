"""What a workspace keeps under a name: personas, connectors and evals. Each kind has every name once, in any case.

The name is an item of its own, written in the same transaction, so that of two who take it at once one is refused.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import TransactWriteError
from pynamodb.transactions import TransactWrite

from cupel_core.clock import from_iso, to_iso
from cupel_core.errors import Conflict, FieldError, NotFound
from cupel_core.paging import Page, decode_cursor, encode_cursor
from cupel_core.store import keys
from cupel_core.store.table import Item, Newest, code_of, connection

MAX_NAME_LENGTH = 100
_MAX_NAME_BYTES = 1_024
"""Of a sort key, which a name is when it is folded."""
_SORT_KEY = "resource"


class Kind(StrEnum):
    PERSONA = "persona"
    CONNECTOR = "connector"
    EVAL = "eval"


@dataclass(frozen=True)
class Resource:
    """`body` is JSON that only the kind's own capability reads."""

    kind: Kind
    id: str
    name: str
    body: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    revision: int = 1
    deleted_at: datetime | None = None


class ResourceItem(Item):
    newest = Newest()
    gsi1pk = UnicodeAttribute(null=True)
    """Not there once it is deleted, so that no list finds it."""
    gsi1sk = UnicodeAttribute(null=True)
    name = UnicodeAttribute()
    body = JSONAttribute()
    revision = NumberAttribute()
    created_at = UnicodeAttribute(attr_name="createdAt")
    updated_at = UnicodeAttribute(attr_name="updatedAt")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)


class NameItem(Item):
    resource_id = UnicodeAttribute(attr_name="resourceId")


def create(workspace: str, resource: Resource) -> None:
    """Conflict names the field `name` when another of its kind has it."""
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(_to_item(workspace, resource), condition=ResourceItem.pk.does_not_exist())
            transaction.save(_name_item(workspace, resource), condition=NameItem.pk.does_not_exist())
    except TransactWriteError as error:
        raise _refused(workspace, resource, error) from None


def change(workspace: str, before: Resource, after: Resource) -> Resource:
    """Puts `after` in the place of `before`; Conflict when it was changed since, or the new name is another's."""
    written = replace(after, revision=before.revision + 1)
    renamed = folded(after.name) != folded(before.name)
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(_to_item(workspace, written), condition=_is_as(before))
            if renamed:
                transaction.save(_name_item(workspace, written), condition=NameItem.pk.does_not_exist())
                transaction.delete(_name_item(workspace, before))
    except TransactWriteError as error:
        raise _refused(workspace, after, error) from None
    return written


def delete(workspace: str, kind: Kind, resource_id: str, now: datetime) -> None:
    """Hides it and sets its name free; what was started with it may still read it."""
    before = get(workspace, kind, resource_id)
    gone = replace(before, deleted_at=now, updated_at=now, revision=before.revision + 1)
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(_to_item(workspace, gone), condition=_is_as(before))
            transaction.delete(_name_item(workspace, before))
    except TransactWriteError as error:
        raise _refused(workspace, before, error) from None


def find(workspace: str, kind: Kind, resource_id: str) -> Resource | None:
    """Also a deleted one; None when there never was one of this id in the workspace."""
    try:
        item = ResourceItem.get(keys.resource(workspace, kind, resource_id), _SORT_KEY, consistent_read=True)
    except ResourceItem.DoesNotExist:
        return None
    return _from_item(kind, item)


def get(workspace: str, kind: Kind, resource_id: str) -> Resource:
    """NotFound when there is none, or it is deleted."""
    found = find(workspace, kind, resource_id)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"there is no {kind} {resource_id}")
    return found


def get_many(workspace: str, kind: Kind, resource_ids: Iterable[str]) -> dict[str, Resource]:
    """Those that there are and that are not deleted, by id."""
    wanted = [(keys.resource(workspace, kind, each), _SORT_KEY) for each in dict.fromkeys(resource_ids)]
    found = (_from_item(kind, item) for item in ResourceItem.batch_get(wanted, consistent_read=True))
    return {resource.id: resource for resource in found if resource.deleted_at is None}


def listed(workspace: str, kind: Kind, limit: int, cursor: str | None) -> Page[Resource]:
    """Newest first."""
    below = Newest.gsi1sk < decode_cursor(cursor) if cursor else None
    found = ResourceItem.newest.query(f"{workspace}#{kind}s", below, scan_index_forward=False, limit=limit + 1)
    items = list(found)
    more = encode_cursor(str(items[limit - 1].gsi1sk)) if len(items) > limit else None
    return Page(tuple(_from_item(kind, item) for item in items[:limit]), more)


def folded(name: str) -> str:
    """Names that differ in case, in spaces or in how an accent is encoded are the same name."""
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()


def is_name(name: str) -> bool:
    """Whether there is something to see, and the table can hold it. Some characters grow when they are folded."""
    return 0 < len(folded(name).encode()) <= _MAX_NAME_BYTES


def _is_as(before: Resource) -> Any:
    return (ResourceItem.revision == before.revision) & ResourceItem.deleted_at.does_not_exist()


def _refused(workspace: str, resource: Resource, error: TransactWriteError) -> Exception:
    """What a cancelled transaction means; other errors are what they are."""
    if code_of(error) != "TransactionCanceledException":
        return error
    if _owner(workspace, resource.kind, resource.name) not in (None, resource.id):
        message = f"there is another {resource.kind} of this name"
        return Conflict(f"name: {message}", (FieldError("name", message),))
    return Conflict(f"this {resource.kind} was changed at the same time; read it and try again")


def _owner(workspace: str, kind: Kind, name: str) -> str | None:
    try:
        return NameItem.get(keys.names(workspace, kind), folded(name), consistent_read=True).resource_id
    except NameItem.DoesNotExist:
        return None


def _name_item(workspace: str, resource: Resource) -> NameItem:
    return NameItem(keys.names(workspace, resource.kind), folded(resource.name), resource_id=resource.id)


def _to_item(workspace: str, resource: Resource) -> ResourceItem:
    deleted_at = resource.deleted_at
    return ResourceItem(
        keys.resource(workspace, resource.kind, resource.id),
        _SORT_KEY,
        gsi1pk=None if deleted_at else f"{workspace}#{resource.kind}s",
        gsi1sk=None if deleted_at else f"{to_iso(resource.created_at)}#{resource.id}",
        name=resource.name,
        body=dict(resource.body),
        revision=resource.revision,
        created_at=to_iso(resource.created_at),
        updated_at=to_iso(resource.updated_at),
        deleted_at=to_iso(deleted_at) if deleted_at else None,
    )


def _from_item(kind: Kind, item: ResourceItem) -> Resource:
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
