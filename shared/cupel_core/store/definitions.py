"""Definitions in the table: a mutable head, immutable versions, and an edge from a parent to each fork.

Every change is one transaction on condition that the head is unchanged, so of two concurrent changes one is refused. A
version refers to its content and to a manifest of its scenarios, so changing one does not copy the other. Deleting
hides the head. The versions stay for the runs and forks that use them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.exceptions import TransactWriteError, UpdateError
from pynamodb.expressions.condition import Condition

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.paging import ANY_TIME, Creation, Page, fill_page
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.definitions.definitions import DefinitionHead, DefinitionVersion, StoredVersion
from cupel_core.domain.definitions.scenarios import ID_TAIL_LENGTH, Manifest
from cupel_core.domain.limits.quotas import Quota
from cupel_core.store import idempotency_keys, keys, partitions, quotas
from cupel_core.store.listing import all_of, list_newest
from cupel_core.store.table import CreationIndex, ExtraWrite, Item, error_code

_HEAD = "head"
_CHILD = "child#"


class HeadItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute(null=True)
    """Absent once the definition is deleted, so that no list contains it."""
    gsi1sk = UnicodeAttribute(null=True)
    name = UnicodeAttribute()
    folded_name = UnicodeAttribute(attr_name="foldedName")
    """The name is case-folded for searching."""
    folder = UnicodeAttribute(null=True)
    tags = UnicodeSetAttribute(null=True)
    version = NumberAttribute()
    parent_id = UnicodeAttribute(attr_name="parentId", null=True)
    parent_version = NumberAttribute(attr_name="parentVersion", null=True)
    created_at = UnicodeAttribute(attr_name="createdAt")
    updated_at = UnicodeAttribute(attr_name="updatedAt")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)
    version_label = UnicodeAttribute(attr_name="versionLabel", null=True)
    revision = NumberAttribute()


class VersionItem(Item):
    content = JSONAttribute(null=True)
    """A fork stores only its overrides. This is absent if `content_version` stores the content."""
    content_version = NumberAttribute(attr_name="contentVersion", null=True)
    """The version that stores the content, if it is another one."""
    scenarios_revision = NumberAttribute(attr_name="scenariosRevision")
    label = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute(attr_name="createdAt")


class ManifestItem(Item):
    manifest = JSONAttribute()


class ChildItem(Item):
    created_at = UnicodeAttribute(attr_name="createdAt")


class OwnerItem(Item):
    """The definition by the tail of its id, which is part of its scenarios' ids."""


class UnknownVersion(NotFound):
    pass


def create(
    workspace: str,
    head: DefinitionHead,
    content: Mapping[str, Any],
    inherited: Manifest | None = None,
    extra: ExtraWrite | None = None,
) -> None:
    """Create the head and its first version. For a fork, also create the parent's edge and the inherited scenarios.
    Raise NotFound if the parent was deleted since it was read, because its versions may be about to be erased. Raise
    Conflict if there is a definition with this id. Raise QuotaExceeded."""
    quotas.take(workspace, Quota.DEFINITIONS)
    try:
        _create(workspace, head, content, inherited, extra)
    except TransactWriteError as error:
        if error_code(error) != "TransactionCanceledException":
            raise
        if head.parent is None:
            if find(workspace, head.id) is None:
                raise
            raise Conflict(f"there is a definition {head.id} already") from None
        get(workspace, head.parent.definition_id)
        raise Conflict("the definition to fork was changed at the same time; try again") from None


def _create(
    workspace: str,
    head: DefinitionHead,
    content: Mapping[str, Any],
    inherited: Manifest | None,
    extra: ExtraWrite | None,
) -> None:
    created = to_iso(head.created_at)
    manifest = replace(inherited, revision=1) if inherited else Manifest()
    version = StoredVersion(1, head.created_at, content, 1, manifest.revision, head.version_label)
    with idempotency_keys.transaction() as transaction:
        transaction.save(_to_item(workspace, head), condition=HeadItem.pk.does_not_exist())
        transaction.save(_version_item(workspace, head.id, version))
        transaction.save(OwnerItem(keys.scenario_owners(workspace), f"{head.id[-ID_TAIL_LENGTH:]}#{head.id}"))
        if head.parent:
            pk = keys.definition(workspace, head.parent.definition_id)
            transaction.save(ChildItem(pk, f"{_CHILD}{head.id}", created_at=created))
            exists = HeadItem.pk.exists() & HeadItem.deleted_at.does_not_exist()
            transaction.condition_check(HeadItem, pk, _HEAD, condition=exists)
        if inherited:
            transaction.save(_manifest_item(workspace, head.id, manifest))
        if extra is not None:
            transaction.save(extra.item, condition=extra.condition)


def find(workspace: str, definition_id: str) -> DefinitionHead | None:
    """Return the definition, even a deleted one, or None if the workspace never had one of this id."""
    try:
        return _to_head(HeadItem.get(keys.definition(workspace, definition_id), _HEAD, consistent_read=True))
    except HeadItem.DoesNotExist:
        return None


def get(workspace: str, definition_id: str) -> DefinitionHead:
    """Return the definition. Raise NotFound if there is none or it is deleted."""
    head = find(workspace, definition_id)
    if head is None or head.deleted_at:
        raise _not_found(definition_id)
    return head


def get_heads(workspace: str, definition_ids: Iterable[str]) -> dict[str, DefinitionHead]:
    item_keys = [(keys.definition(workspace, definition_id), _HEAD) for definition_id in definition_ids]
    existing = (_to_head(item) for item in HeadItem.batch_get(item_keys, consistent_read=True))
    return {head.id: head for head in existing if not head.deleted_at}


def get_content(workspace: str, version: DefinitionVersion) -> dict[str, Any]:
    """Return the JSON that this version itself defines: of a fork, its overrides. Raise NotFound if there is no such
    version. Versions survive the deletion of their definition."""
    return dict(get_version(workspace, version).content)


def get_version(workspace: str, version: DefinitionVersion) -> StoredVersion:
    item = _get_version_item(workspace, version)
    content_version = int(item.content_version or version.number)
    content = item.content
    if content is None:
        content = _get_version_item(workspace, version._replace(number=content_version)).content
    return StoredVersion(
        number=version.number,
        created_at=from_iso(item.created_at),
        content=dict(content),
        content_version=content_version,
        scenarios_revision=int(item.scenarios_revision),
        label=item.label,
    )


def get_manifest(workspace: str, definition_id: str, revision: int) -> Manifest:
    if revision == 0:
        return Manifest()
    try:
        item = ManifestItem.get(
            keys.definition(workspace, definition_id), keys.manifest(revision), consistent_read=True
        )
    except ManifestItem.DoesNotExist:
        return Manifest()
    return decode(Manifest, item.manifest)


def update(
    workspace: str,
    before: DefinitionHead,
    after: DefinitionHead,
    version: StoredVersion | None = None,
    manifest: Manifest | None = None,
    extra: ExtraWrite | None = None,
) -> DefinitionHead:
    """Replace `before` with `after`, together with its version and that version's manifest if they are new. Raise
    Conflict if the definition was changed since `before` was read, or the condition of `extra` does not hold."""
    written = replace(after, revision=before.revision + 1)
    try:
        with idempotency_keys.transaction() as transaction:
            transaction.save(_to_item(workspace, written), condition=_unchanged_since(before))
            if version is not None:
                transaction.save(_version_item(workspace, after.id, version))
            if manifest is not None:
                item = _manifest_item(workspace, after.id, manifest)
                transaction.save(item, condition=ManifestItem.pk.does_not_exist())
            if extra is not None:
                transaction.save(extra.item, condition=extra.condition)
    except TransactWriteError as error:
        if error_code(error) != "TransactionCanceledException":
            raise
        raise Conflict("this definition was changed at the same time; read it and try again") from None
    return written


def delete(workspace: str, before: DefinitionHead, now: datetime) -> None:
    """Hide the definition. Runs and forks keep using its versions. Raise Conflict if it was changed since it was
    read."""
    item = HeadItem(keys.definition(workspace, before.id), _HEAD)
    try:
        item.update(
            [
                HeadItem.deleted_at.set(to_iso(now)),
                HeadItem.revision.set(before.revision + 1),
                HeadItem.gsi1pk.remove(),
                HeadItem.gsi1sk.remove(),
            ],
            condition=_unchanged_since(before),
        )
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        raise Conflict("this definition was changed at the same time; read it and try again") from None


def list_definitions(
    workspace: str,
    *,
    folder: str | None,
    include_children: bool = False,
    search: str | None,
    tag: str | None,
    limit: int,
    cursor: str | None,
    created: Creation = ANY_TIME,
) -> Page[DefinitionHead]:
    """Return a page of definitions, newest first unless `created` says otherwise. `search` matches a part of the name.
    `search` ignores case. With `include_children`, folders below `folder` count too: their names start with it and a
    slash."""
    condition = _filter(folder, search, tag, include_children=include_children)
    entries = list_newest(
        HeadItem,
        f"{workspace}#definitions",
        limit,
        cursor,
        condition=condition,
        is_selective=condition is not None,
        created=created,
    )
    return fill_page((entry.map(_to_head) for entry in entries), limit)


def erase(workspace: str, definition_id: str) -> None:
    partitions.erase(keys.definition(workspace, definition_id), except_sort_key=_HEAD)
    OwnerItem(keys.scenario_owners(workspace), f"{definition_id[-ID_TAIL_LENGTH:]}#{definition_id}").delete()
    partitions.erase(keys.definition(workspace, definition_id))


def list_ids(workspace: str) -> Iterator[str]:
    """Yield the ids of all definitions that are not erased, even of deleted ones."""
    return (edge.sk.partition("#")[2] for edge in OwnerItem.query(keys.scenario_owners(workspace)))


def list_fork_ids(workspace: str, definition_id: str) -> Iterator[str]:
    pk = keys.definition(workspace, definition_id)
    edges = ChildItem.query(pk, ChildItem.sk.startswith(_CHILD), consistent_read=True)
    return (edge.sk.removeprefix(_CHILD) for edge in edges)


def list_scenario_owners(workspace: str, tail: str) -> tuple[DefinitionHead, ...]:
    """Return the definitions whose own scenarios have this tail in their ids: one, except for a rare collision."""
    edges = OwnerItem.query(keys.scenario_owners(workspace), OwnerItem.sk.startswith(f"{tail}#"), consistent_read=True)
    return tuple(get_heads(workspace, (edge.sk.partition("#")[2] for edge in edges)).values())


def _in_folder(folder: str, *, include_children: bool) -> Condition:
    own: Condition = HeadItem.folder == folder
    return own | HeadItem.folder.startswith(f"{folder.rstrip('/')}/") if include_children else own


def _unchanged_since(before: DefinitionHead) -> Any:
    return (
        (HeadItem.revision == before.revision)
        & (HeadItem.version == before.version)
        & HeadItem.deleted_at.does_not_exist()
    )


def _get_version_item(workspace: str, version: DefinitionVersion) -> VersionItem:
    pk = keys.definition(workspace, version.definition_id)
    try:
        return VersionItem.get(pk, keys.version(version.number), consistent_read=True)
    except VersionItem.DoesNotExist:
        raise UnknownVersion(f"definition {version.definition_id} has no version {version.number}") from None


def _filter(folder: str | None, search: str | None, tag: str | None, *, include_children: bool) -> Condition | None:
    return all_of(
        _in_folder(folder, include_children=include_children) if folder else None,
        HeadItem.folded_name.contains(search.casefold()) if search else None,
        HeadItem.tags.contains(tag) if tag else None,
    )


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
        version_label=head.version_label,
        revision=head.revision,
    )


def _version_item(workspace: str, definition_id: str, version: StoredVersion) -> VersionItem:
    has_own_content = version.content_version == version.number
    return VersionItem(
        keys.definition(workspace, definition_id),
        keys.version(version.number),
        content=dict(version.content) if has_own_content else None,
        content_version=None if has_own_content else version.content_version,
        scenarios_revision=version.scenarios_revision,
        label=version.label,
        created_at=to_iso(version.created_at),
    )


def _manifest_item(workspace: str, definition_id: str, manifest: Manifest) -> ManifestItem:
    pk = keys.definition(workspace, definition_id)
    return ManifestItem(pk, keys.manifest(manifest.revision), manifest=encode(manifest))


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
        version_label=item.version_label,
        revision=int(item.revision),
    )
