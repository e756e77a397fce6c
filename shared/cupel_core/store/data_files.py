"""Files with rows of data for runs, and uploads in parts from which a larger file is made.

The content of a file is an object in the bucket, written before its item. Without an item, it cannot be read.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Creation, Entry, encode_cursor
from cupel_core.store import blobs, keys, object_names
from cupel_core.store.listing import list_newest
from cupel_core.store.table import CreationIndex, Item, updated

_REPEATED_BYTES = 1_000_000
"""An upload may receive this much more than twice its size, because clients repeat parts after errors."""


class UploadStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class DataFile:
    id: str
    name: str
    size: int
    created_at: datetime


@dataclass(frozen=True)
class DataUpload:
    id: str
    name: str
    size: int
    """The size that was announced when the upload was created."""
    created_at: datetime
    status: UploadStatus = UploadStatus.PENDING
    file_id: str | None = None


class DataFileItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute(null=True)
    gsi1sk = UnicodeAttribute(null=True)
    name = UnicodeAttribute()
    size = NumberAttribute()
    created_at = UnicodeAttribute(attr_name="createdAt")


class DataUploadItem(Item):
    name = UnicodeAttribute()
    size = NumberAttribute()
    status = UnicodeAttribute()
    file_id = UnicodeAttribute(attr_name="fileId", null=True)
    received_bytes = NumberAttribute(attr_name="receivedBytes", null=True)
    created_at = UnicodeAttribute(attr_name="createdAt")


def create(workspace: str, file: DataFile, content: bytes) -> None:
    """Create the file. It may be repeated with the same content."""
    blobs.put_bytes(object_names.data_file_blob(workspace, file.id), content)
    DataFileItem(
        keys.data_files(workspace),
        file.id,
        gsi1pk=keys.creation_list(workspace, "openai-files"),
        gsi1sk=f"{to_iso(file.created_at)}#{file.id}",
        name=file.name,
        size=file.size,
        created_at=to_iso(file.created_at),
    ).save()


def get(workspace: str, file_id: str) -> DataFile:
    try:
        return _file(DataFileItem.get(keys.data_files(workspace), file_id, consistent_read=True))
    except DataFileItem.DoesNotExist:
        raise NotFound(f"there is no file {file_id}") from None


def read_content(workspace: str, file: DataFile) -> bytes:
    """Return the content. Raise NotFound if the file was deleted meanwhile."""
    return blobs.get_bytes(object_names.data_file_blob(workspace, file.id), file.size)


def delete(workspace: str, file_id: str) -> None:
    """Make the file unreadable, then erase it. Repeating it erases what a crash has left."""
    DataFileItem(keys.data_files(workspace), file_id).delete()
    blobs.delete(object_names.data_file_blob(workspace, file_id))


def list_files(workspace: str, after: DataFile | None, limit: int, *, oldest_first: bool) -> Iterator[DataFile]:
    cursor = None if after is None else encode_cursor(f"{to_iso(after.created_at)}#{after.id}")
    partition = keys.creation_list(workspace, "openai-files")
    entries: Iterator[Entry[DataFileItem]] = list_newest(
        DataFileItem, partition, limit, cursor, created=Creation(oldest_first=oldest_first)
    )
    return (_file(entry.item) for entry in entries if entry.item is not None)


def create_upload(workspace: str, upload: DataUpload) -> None:
    DataUploadItem(
        keys.data_files(workspace),
        upload.id,
        name=upload.name,
        size=upload.size,
        status=upload.status,
        created_at=to_iso(upload.created_at),
    ).save()


def get_upload(workspace: str, upload_id: str) -> DataUpload:
    try:
        item = DataUploadItem.get(keys.data_files(workspace), upload_id, consistent_read=True)
    except DataUploadItem.DoesNotExist:
        raise NotFound(f"there is no upload {upload_id}") from None
    return DataUpload(
        item.sk, item.name, int(item.size), from_iso(item.created_at), UploadStatus(item.status), item.file_id
    )


def max_received(upload: DataUpload) -> int:
    """Return how many bytes the parts may have together. It exceeds the size, as clients repeat parts after errors."""
    return 2 * upload.size + _REPEATED_BYTES


def receive(workspace: str, upload: DataUpload, size: int) -> bool:
    """Count a received part. Return False if the upload would receive far more than it has announced."""
    received = DataUploadItem.received_bytes
    has_room = received.does_not_exist() | (received <= max_received(upload) - size)
    return updated(DataUploadItem(keys.data_files(workspace), upload.id), [received.add(size)], has_room)


def add_part(workspace: str, upload_id: str, part_id: str, content: bytes) -> None:
    blobs.put_bytes(object_names.data_part_blob(workspace, upload_id, part_id), content)


def read_part(workspace: str, upload_id: str, part_id: str, max_bytes: int) -> bytes:
    return blobs.get_bytes(object_names.data_part_blob(workspace, upload_id, part_id), max_bytes)


def end_upload(workspace: str, upload: DataUpload, status: UploadStatus, file_id: str | None = None) -> DataUpload:
    """End the upload and delete its parts. Raise NotFound if another request ended it otherwise."""
    item, actions = DataUploadItem(keys.data_files(workspace), upload.id), [DataUploadItem.status.set(status)]
    if file_id is not None:
        actions.append(DataUploadItem.file_id.set(file_id))
    if not updated(item, actions, DataUploadItem.status == UploadStatus.PENDING):
        raise NotFound(f"there is no pending upload {upload.id}")
    blobs.delete_prefix(object_names.data_part_blob(workspace, upload.id, ""))
    return replace(upload, status=status, file_id=file_id)


def _file(item: DataFileItem) -> DataFile:
    return DataFile(item.sk, item.name, int(item.size), from_iso(item.created_at))
