"""Definitions in the table: a head that may change, versions that may not, and an edge from a parent to each fork."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.exceptions import TransactWriteError, UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.definitions.definitions import Head, Version
from cupel_core.domain.definitions.scenarios import TAIL_LENGTH, Manifest
from cupel_core.errors import Conflict, NotFound
from cupel_core.paging import Page, decode_cursor, encode_cursor
from cupel_core.store import keys, scenarios
from cupel_core.store.table import Item, Newest, code_of, connection

_HEAD = "head"
_CHILD = "child#"


class HeadItem(Item):
    newest = Newest()
    gsi1pk = UnicodeAttribute(null=True)
    """Not there once the definition is deleted, so that no list finds it."""
    gsi1sk = UnicodeAttribute(null=True)
    name = UnicodeAttribute()
    folded_name = UnicodeAttribute(attr_name="foldedName")
    """In lower case, for searching."""
    folder = UnicodeAttribute(null=True)
    tags = UnicodeSetAttribute(null=True)
    version = NumberAttribute()
    parent_id = UnicodeAttribute(attr_name="parentId", null=True)
    parent_version = NumberAttribute(attr_name="parentVersion", null=True)
    created_at = UnicodeAttribute(attr_name="createdAt")
    updated_at = UnicodeAttribute(attr_name="updatedAt")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)


class VersionItem(Item):
    content = JSONAttribute()
    """Of a fork, only what it overrides."""
    created_at = UnicodeAttribute(attr_name="createdAt")


class ChildItem(Item):
    created_at = UnicodeAttribute(attr_name="createdAt")


class OwnerItem(Item):
    """From the tail of a definition's id, which is in its scenarios' ids, to the definition."""


def create(workspace: str, head: Head, content: Mapping[str, Any], inherited: Manifest | None = None) -> None:
    """The head and its first version; for a fork also the parent's edge, and the scenarios it inherits."""
    created = to_iso(head.created_at)
    with TransactWrite(connection=connection()) as transaction:
        transaction.save(_to_item(workspace, head), condition=HeadItem.pk.does_not_exist())
        transaction.save(_version_item(workspace, head, content))
        transaction.save(OwnerItem(keys.scenario_owners(workspace), f"{head.id[-TAIL_LENGTH:]}#{head.id}"))
        if head.parent:
            pk = keys.definition(workspace, head.parent.definition_id)
            transaction.save(ChildItem(pk, f"{_CHILD}{head.id}", created_at=created))
        if inherited:
            transaction.save(scenarios.item(workspace, head.id, replace(inherited, revision=1)))


def find(workspace: str, definition_id: str) -> Head | None:
    """Also a deleted one; None when there never was one of this id in the workspace."""
    try:
        return _to_head(HeadItem.get(keys.definition(workspace, definition_id), _HEAD, consistent_read=True))
    except HeadItem.DoesNotExist:
        return None


def get(workspace: str, definition_id: str) -> Head:
    """NotFound when there is none, or it is deleted."""
    head = find(workspace, definition_id)
    if head is None or head.deleted_at:
        raise _unknown(definition_id)
    return head


def heads(workspace: str, definition_ids: Iterable[str]) -> dict[str, Head]:
    """Those that there are and that are not deleted, by id."""
    wanted = [(keys.definition(workspace, definition_id), _HEAD) for definition_id in definition_ids]
    found = (_to_head(item) for item in HeadItem.batch_get(wanted, consistent_read=True))
    return {head.id: head for head in found if not head.deleted_at}


def content(workspace: str, version: Version) -> dict[str, Any]:
    """What this version stores itself, in JSON: a fork's overrides. Deleting the definition leaves its versions."""
    try:
        item = VersionItem.get(
            keys.definition(workspace, version.definition_id), keys.version(version.number), consistent_read=True
        )
    except VersionItem.DoesNotExist:
        raise NotFound(f"definition {version.definition_id} has no version {version.number}") from None
    return dict(item.content)


def change(workspace: str, before: Head, after: Head, content: Mapping[str, Any] | None = None) -> None:
    """Puts `after` in the place of `before`, with the content of its version if that is a new one.

    Conflict when somebody else changed it since `before` was read.
    """
    unchanged = (
        (HeadItem.version == before.version)
        & (HeadItem.updated_at == to_iso(before.updated_at))
        & HeadItem.deleted_at.does_not_exist()
    )
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(_to_item(workspace, after), condition=unchanged)
            if content is not None:
                item = _version_item(workspace, after, content)
                transaction.save(item, condition=VersionItem.pk.does_not_exist())
    except TransactWriteError as error:
        if code_of(error) != "TransactionCanceledException":
            raise
        raise Conflict("this definition was changed at the same time; read it and try again") from None


def delete(workspace: str, definition_id: str, now: datetime) -> None:
    """Hides the definition; runs and forks that came from its versions keep them."""
    item = HeadItem(keys.definition(workspace, definition_id), _HEAD)
    try:
        item.update(
            [HeadItem.deleted_at.set(to_iso(now)), HeadItem.gsi1pk.remove(), HeadItem.gsi1sk.remove()],
            condition=HeadItem.pk.exists() & HeadItem.deleted_at.does_not_exist(),
        )
    except UpdateError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
        raise _unknown(definition_id) from None


def listed(
    workspace: str, *, folder: str | None, search: str | None, tag: str | None, limit: int, cursor: str | None
) -> Page[Head]:
    """Newest first; `search` is a part of the name in any case."""
    below = Newest.gsi1sk < decode_cursor(cursor) if cursor else None
    found = HeadItem.newest.query(
        f"{workspace}#definitions",
        below,
        filter_condition=_filter(folder, search, tag),
        scan_index_forward=False,
    )
    items: list[HeadItem] = []
    for item in found:
        if len(items) == limit:
            return Page(tuple(map(_to_head, items)), encode_cursor(str(items[-1].gsi1sk)))
        items.append(item)
    return Page(tuple(map(_to_head, items)))


def children(workspace: str, definition_id: str) -> Iterator[str]:
    """The ids of its forks, oldest first."""
    edges = ChildItem.query(keys.definition(workspace, definition_id), ChildItem.sk.startswith(_CHILD))
    return (edge.sk.removeprefix(_CHILD) for edge in edges)


def owners(workspace: str, tail: str) -> tuple[Head, ...]:
    """The definitions that first had the scenarios with this tail in their ids: one, but for a rare coincidence."""
    edges = OwnerItem.query(keys.scenario_owners(workspace), OwnerItem.sk.startswith(f"{tail}#"), consistent_read=True)
    return tuple(heads(workspace, (edge.sk.partition("#")[2] for edge in edges)).values())


def _filter(folder: str | None, search: str | None, tag: str | None) -> Condition | None:
    condition: Condition | None = None
    for wanted in (
        HeadItem.folder == folder if folder else None,
        HeadItem.folded_name.contains(search.casefold()) if search else None,
        HeadItem.tags.contains(tag) if tag else None,
    ):
        if wanted is not None:
            condition = wanted if condition is None else condition & wanted
    return condition


def _unknown(definition_id: str) -> NotFound:
    return NotFound(f"there is no definition {definition_id}")


def _to_item(workspace: str, head: Head) -> HeadItem:
    return HeadItem(
        keys.definition(workspace, head.id),
        _HEAD,
        gsi1pk=f"{workspace}#definitions",
        gsi1sk=f"{to_iso(head.created_at)}#{head.id}",
        name=head.name,
        folded_name=head.name.casefold(),
        folder=head.folder,
        tags=set(head.tags) or None,
        version=head.version,
        parent_id=head.parent and head.parent.definition_id,
        parent_version=head.parent and head.parent.number,
        created_at=to_iso(head.created_at),
        updated_at=to_iso(head.updated_at),
    )


def _version_item(workspace: str, head: Head, content: Mapping[str, Any]) -> VersionItem:
    pk = keys.definition(workspace, head.id)
    return VersionItem(pk, keys.version(head.version), content=dict(content), created_at=to_iso(head.updated_at))


def _to_head(item: HeadItem) -> Head:
    parent = Version(item.parent_id, int(item.parent_version or 0)) if item.parent_id else None
    return Head(
        id=item.pk.rpartition("#")[2],
        name=item.name,
        created_at=from_iso(item.created_at),
        updated_at=from_iso(item.updated_at),
        version=int(item.version),
        folder=item.folder,
        tags=tuple(sorted(item.tags or ())),
        parent=parent,
        deleted_at=from_iso(item.deleted_at) if item.deleted_at else None,
    )
