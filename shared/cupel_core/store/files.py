"""Items of files. The content is an object whose key follows from the id, so that workers need no item to read it.

PENDING items expire after a day. The content of a deleted file is erased in two steps, so that uploading it again at
the same time cannot lose it: an item that is ERASING accepts no other change.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import NotFound, RetryableError
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.files.formats import MAX_FILE_BYTES, FileFormat, FileInfo
from cupel_core.domain.files.stored_files import FileStatus, StoredFile
from cupel_core.store import batches, blobs, keys, object_names
from cupel_core.store.listing import list_newest
from cupel_core.store.table import CreationIndex, Item, error_code, updated

_PENDING_RETENTION = timedelta(days=1)


class FileItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute(null=True)
    """The partition of the list of files; only files that are READY have it."""
    gsi1sk = UnicodeAttribute(null=True)
    name = UnicodeAttribute()
    format = UnicodeAttribute()
    size = NumberAttribute()
    sha256 = UnicodeAttribute()
    status = UnicodeAttribute()
    info = JSONAttribute(null=True)
    created_at = UnicodeAttribute(attr_name="createdAt")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)
    ttl = NumberAttribute(null=True)


def find(workspace: str, file_id: str) -> StoredFile | None:
    """Return the file in any status, or None if the workspace does not have it."""
    try:
        item = FileItem.get(keys.files(workspace), file_id, consistent_read=True)
    except FileItem.DoesNotExist:
        return None
    return _from_item(item)


def get(workspace: str, file_id: str) -> StoredFile:
    """Return a file that is READY. Raise NotFound otherwise."""
    found = find(workspace, file_id)
    if found is None or found.status is not FileStatus.READY:
        raise NotFound(f"there is no file {file_id}")
    return found


def get_many(workspace: str, file_ids: Iterable[str]) -> dict[str, StoredFile]:
    partition = keys.files(workspace)
    item_keys: Iterator[dict[str, Any]] = (
        {"pk": {"S": partition}, "sk": {"S": file_id}} for file_id in sorted(set(file_ids))
    )
    found = (_from_item(FileItem.from_raw_data(raw)) for raw in batches.get_batch(item_keys))
    return {file.id: file for file in found if file.status is FileStatus.READY}


def list_files(workspace: str, limit: int, cursor: str | None) -> Page[StoredFile]:
    entries = list_newest(FileItem, keys.creation_list(workspace, "files"), limit, cursor)
    return fill_page(entries, limit).map(_from_item)


def save(workspace: str, file: StoredFile, before: StoredFile | None) -> None:
    """Write a file's item in its new status. Raise RetryableError if it is no longer as it was `before`."""
    try:
        _to_item(workspace, file).save(condition=_is_unchanged(before))
    except PutError as error:
        raise _changed_or(error) from None


def erase(workspace: str, file: StoredFile) -> bool:
    """Erase a deleted file with its content. Return False if it was stored again since. Repeating it is harmless."""
    item = FileItem(keys.files(workspace), file.id)
    claims = file.status is FileStatus.ERASING or updated(
        item, [FileItem.status.set(FileStatus.ERASING)], _is_unchanged(file)
    )
    if not claims:
        return False
    blobs.delete(object_names.file_blob(workspace, file.id))
    item.delete()
    return True


def put_content(workspace: str, file_id: str, content: bytes, info: FileInfo) -> None:
    blobs.put_file(object_names.file_blob(workspace, file_id), content, info.format.media_type)


def read_content(workspace: str, file_id: str) -> bytes | None:
    try:
        return blobs.get_file(object_names.file_blob(workspace, file_id), MAX_FILE_BYTES)
    except NotFound:
        return None


def _is_unchanged(before: StoredFile | None) -> Condition:
    """Return the condition that the item is still as it was `before`. DynamoDB may not have removed an expired item
    yet."""
    if before is None:
        return FileItem.pk.does_not_exist()
    is_same: Condition = FileItem.status == before.status
    if before.deleted_at is not None:
        is_same &= FileItem.deleted_at == to_iso(before.deleted_at)
    return is_same


def _changed_or(error: PutError) -> Exception:
    if error_code(error) != "ConditionalCheckFailedException":
        return error
    return RetryableError("the file was changed at the same time; try again")


def _to_item(workspace: str, file: StoredFile) -> FileItem:
    item = FileItem(
        keys.files(workspace),
        file.id,
        name=file.name,
        format=file.format,
        size=file.size,
        sha256=file.sha256,
        status=file.status,
        info=file.info and file.info.to_json(),
        created_at=to_iso(file.created_at),
        deleted_at=file.deleted_at and to_iso(file.deleted_at),
    )
    if file.status is FileStatus.READY:
        item.gsi1pk = keys.creation_list(workspace, "files")
        item.gsi1sk = f"{to_iso(file.created_at)}#{file.id}"
    if file.status is FileStatus.PENDING:
        item.ttl = int((file.created_at + _PENDING_RETENTION).timestamp())
    return item


def _from_item(item: FileItem) -> StoredFile:
    return StoredFile(
        id=item.sk,
        name=item.name,
        format=FileFormat(item.format),
        size=int(item.size),
        sha256=item.sha256,
        status=FileStatus(item.status),
        created_at=from_iso(item.created_at),
        info=FileInfo.from_json(item.info) if item.info else None,
        deleted_at=from_iso(item.deleted_at) if item.deleted_at else None,
    )
