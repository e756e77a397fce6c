"""Definitions in the table: a mutable head, immutable versions, and an edge from a parent to each fork."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.exceptions import TransactWriteError, UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.definitions.definitions import DefinitionHead, DefinitionVersion
from cupel_core.domain.definitions.scenarios import ID_TAIL_LENGTH, Manifest
from cupel_core.errors import Conflict, NotFound
from cupel_core.paging import Page, decode_cursor, encode_cursor
from cupel_core.store import keys, scenarios
from cupel_core.store.table import CreationIndex, Item, connection, error_code

_HEAD = "head"
_CHILD = "child#"


class HeadItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute(null=True)
    """Absent once the definition is deleted, so that no list contains it."""
    gsi1sk = UnicodeAttribute(null=True)
    name = UnicodeAttribute()
    folded_name = UnicodeAttribute(attr_name="foldedName")
    """Case-folded, for searching."""
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
    """A fork stores only its overrides."""
    created_at = UnicodeAttribute(attr_name="createdAt")


class ChildItem(Item):
    created_at = UnicodeAttribute(attr_name="createdAt")


class OwnerItem(Item):
    """Maps the tail of a definition's id, which is part of its scenarios' ids, to the definition."""


def create(workspace: str, head: DefinitionHead, content: Mapping[str, Any], inherited: Manifest | None = None) -> None:
    """Create the head and its first version; for a fork also the parent's edge and the inherited scenarios."""
    created = to_iso(head.created_at)
    with TransactWrite(connection=connection()) as transaction:
        transaction.save(_to_item(workspace, head), condition=HeadItem.pk.does_not_exist())
        transaction.save(_version_item(workspace, head, content))
        transaction.save(OwnerItem(keys.scenario_owners(workspace), f"{head.id[-ID_TAIL_LENGTH:]}#{head.id}"))
        if head.parent:
            pk = keys.definition(workspace, head.parent.definition_id)
            transaction.save(ChildItem(pk, f"{_CHILD}{head.id}", created_at=created))
        if inherited:
            transaction.save(scenarios.manifest_item(workspace, head.id, replace(inherited, revision=1)))


def find(workspace: str, definition_id: str) -> DefinitionHead | None:
    """The definition, even a deleted one; None if the workspace never had one of this id."""
    try:
        return _to_head(HeadItem.get(keys.definition(workspace, definition_id), _HEAD, consistent_read=True))
    except HeadItem.DoesNotExist:
        return None


def get(workspace: str, definition_id: str) -> DefinitionHead:
    """The definition; raises NotFound if there is none or it is deleted."""
    head = find(workspace, definition_id)
    if head is None or head.deleted_at:
        raise _not_found(definition_id)
    return head


def get_heads(workspace: str, definition_ids: Iterable[str]) -> dict[str, DefinitionHead]:
    """Those that exist and are not deleted, by id."""
    item_keys = [(keys.definition(workspace, definition_id), _HEAD) for definition_id in definition_ids]
    existing = (_to_head(item) for item in HeadItem.batch_get(item_keys, consistent_read=True))
    return {head.id: head for head in existing if not head.deleted_at}


def get_content(workspace: str, version: DefinitionVersion) -> dict[str, Any]:
    """The JSON this version itself stores; of a fork, its overrides. Versions survive the deletion of their definition.

    Raises NotFound if there is no such version.
    """
    try:
        item = VersionItem.get(
            keys.definition(workspace, version.definition_id), keys.version(version.number), consistent_read=True
        )
    except VersionItem.DoesNotExist:
        raise NotFound(f"definition {version.definition_id} has no version {version.number}") from None
    return dict(item.content)


def update(
    workspace: str, before: DefinitionHead, after: DefinitionHead, content: Mapping[str, Any] | None = None
) -> None:
    """Replace `before` with `after`, together with the content of its version if that is new.

    Raises Conflict if the definition was changed since `before` was read.
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
        if error_code(error) != "TransactionCanceledException":
            raise
        raise Conflict("this definition was changed at the same time; read it and try again") from None


def delete(workspace: str, definition_id: str, now: datetime) -> None:
    """Hide the definition; runs and forks of its versions keep them. Raises NotFound if there is none."""
    item = HeadItem(keys.definition(workspace, definition_id), _HEAD)
    try:
        item.update(
            [HeadItem.deleted_at.set(to_iso(now)), HeadItem.gsi1pk.remove(), HeadItem.gsi1sk.remove()],
            condition=HeadItem.pk.exists() & HeadItem.deleted_at.does_not_exist(),
        )
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        raise _not_found(definition_id) from None


def list_definitions(
    workspace: str, *, folder: str | None, search: str | None, tag: str | None, limit: int, cursor: str | None
) -> Page[DefinitionHead]:
    """A page of definitions, newest first; `search` is a part of the name, in any case."""
    below = CreationIndex.gsi1sk < decode_cursor(cursor) if cursor else None
    matching = HeadItem.creation_index.query(
        f"{workspace}#definitions",
        below,
        filter_condition=_filter(folder, search, tag),
        scan_index_forward=False,
    )
    items: list[HeadItem] = []
    for item in matching:
        if len(items) == limit:
            return Page(tuple(map(_to_head, items)), encode_cursor(str(items[-1].gsi1sk)))
        items.append(item)
    return Page(tuple(map(_to_head, items)))


def list_fork_ids(workspace: str, definition_id: str) -> Iterator[str]:
    """The ids of its forks, oldest first."""
    edges = ChildItem.query(keys.definition(workspace, definition_id), ChildItem.sk.startswith(_CHILD))
    return (edge.sk.removeprefix(_CHILD) for edge in edges)


def list_scenario_owners(workspace: str, tail: str) -> tuple[DefinitionHead, ...]:
    """The definitions whose own scenarios have this tail in their ids: one, except for a rare collision."""
    edges = OwnerItem.query(keys.scenario_owners(workspace), OwnerItem.sk.startswith(f"{tail}#"), consistent_read=True)
    return tuple(get_heads(workspace, (edge.sk.partition("#")[2] for edge in edges)).values())


def _filter(folder: str | None, search: str | None, tag: str | None) -> Condition | None:
    condition: Condition | None = None
    for part in (
        HeadItem.folder == folder if folder else None,
        HeadItem.folded_name.contains(search.casefold()) if search else None,
        HeadItem.tags.contains(tag) if tag else None,
    ):
        if part is not None:
            condition = part if condition is None else condition & part
    return condition


def _not_found(definition_id: str) -> NotFound:
    return NotFound(f"there is no definition {definition_id}")


def _to_item(workspace: str, head: DefinitionHead) -> HeadItem:
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


def _version_item(workspace: str, head: DefinitionHead, content: Mapping[str, Any]) -> VersionItem:
    pk = keys.definition(workspace, head.id)
    return VersionItem(pk, keys.version(head.version), content=dict(content), created_at=to_iso(head.updated_at))


def _to_head(item: HeadItem) -> DefinitionHead:
    parent = DefinitionVersion(item.parent_id, int(item.parent_version or 0)) if item.parent_id else None
    return DefinitionHead(
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
