"""Files of a workspace: announced, uploaded to the bucket, checked, read and deleted.

An upload is checked by its content, whatever was announced. Only then it becomes an object that workers read.
"""

from base64 import b64encode
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from cupel_core.base.errors import Conflict, Invalid, NotFound, RetryableError, TooLarge
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Page
from cupel_core.domain.files.formats import FileFormat, FileInfo, InvalidFile, digest_of, file_id, inspect
from cupel_core.domain.files.stored_files import FileStatus, StoredFile, UploadAddress
from cupel_core.domain.limits.quotas import Quota
from cupel_core.store import active_runs, blobs, deletion_log, erasures, files, object_names, quotas
from cupel_core.store.deletion_log import DeletedWhole, Deletion
from cupel_core.store.erasures import Erasure, ErasureKind

UPLOAD_SECONDS = 900
DOWNLOAD_SECONDS = 300
_ERASING_SECONDS = 60.0
_PATIENCE = timedelta(hours=23)
"""Active runs may read a deleted file for this long, because it must be erased within a day."""
_CHECK_AGAIN_AFTER = timedelta(minutes=10)


class AnnouncedFile(NamedTuple):
    name: str
    format: FileFormat
    size: int
    sha256: str


class FileUpload(NamedTuple):
    file: StoredFile
    upload: UploadAddress | None
    """None if the workspace has the content already."""


def announce(workspace: str, announced: AnnouncedFile, now: datetime) -> FileUpload:
    """Return the file with an address for its content. Repeating it changes nothing; a deleted file is restored. Raise
    QuotaExceeded for further content."""
    if announced.size > announced.format.max_bytes:
        raise Invalid.field(
            "size", f"must be at most {announced.format.max_bytes:,} for files of type {announced.format.media_type}"
        )
    new_id = file_id(announced.sha256)
    before = _find(workspace, new_id)
    if before is not None and before.status in (FileStatus.READY, FileStatus.DELETED):
        return FileUpload(_restored(workspace, before, now), None)
    file = StoredFile(
        new_id, announced.name, announced.format, announced.size, announced.sha256, FileStatus.PENDING, now
    )
    _take_quotas(workspace, file.size)
    files.save(workspace, file, before)
    return FileUpload(file, _upload(workspace, file, now))


def complete(workspace: str, stored_id: str) -> StoredFile:
    """Check an uploaded file and make it usable. Raise NotFound for an unknown one, Conflict if nothing was uploaded,
    and Invalid if it differs from the announcement; its upload is then deleted."""
    before = _find(workspace, stored_id)
    if before is None or before.status is FileStatus.DELETED:
        raise NotFound(f"there is no file {stored_id}")
    if before.status is FileStatus.READY:
        return before
    key = object_names.upload_blob(workspace, stored_id)
    try:
        content = blobs.get_file(key, before.format.max_bytes)
    except NotFound:
        raise Conflict(f"the content of {stored_id} was not uploaded yet") from None
    except TooLarge as error:
        blobs.delete(key)
        raise Invalid.field("size", error.detail) from None
    try:
        info = _checked(before, content)
    except Invalid:
        blobs.delete(key)
        raise
    files.put_content(workspace, stored_id, content, info)
    ready = replace(before, status=FileStatus.READY, info=info)
    files.save(workspace, ready, before)
    blobs.delete(key)
    return ready


def store(workspace: str, name: str, content: bytes, info: FileInfo, now: datetime) -> str:
    """Store a file that was part of a request, and return its id."""
    digest = digest_of(content)
    before = _find(workspace, file_id(digest))
    if before is not None and before.status in (FileStatus.READY, FileStatus.DELETED):
        return _restored(workspace, before, now).id
    file = StoredFile(file_id(digest), name, info.format, info.size, digest, FileStatus.READY, now, info)
    _take_quotas(workspace, file.size)
    files.put_content(workspace, file.id, content, info)
    files.save(workspace, file, before)
    return file.id


def get(workspace: str, stored_id: str) -> StoredFile:
    """Return a file that is ready. Raise NotFound."""
    return files.get(workspace, stored_id)


def list_files(workspace: str, limit: int, cursor: str | None) -> Page[StoredFile]:
    return files.list_files(workspace, limit, cursor)


def download_url(workspace: str, file: StoredFile) -> str:
    key = object_names.file_blob(workspace, file.id)
    return blobs.download_url(key, file.name, file.format.media_type, DOWNLOAD_SECONDS)


def delete(workspace: str, stored_id: str, now: datetime) -> None:
    """Hide a file and have it erased, once the runs that need it have ended, or after 23 hours. Raise NotFound."""
    before = files.get(workspace, stored_id)
    ref = RunRef(workspace, stored_id)
    deletion_log.record(Deletion(ref, DeletedWhole.FILE), now)
    erasures.request(Erasure(ref, ErasureKind.FILE, now))
    files.save(workspace, replace(before, status=FileStatus.DELETED, deleted_at=now), before)


def erase(erasure: Erasure, now: datetime) -> None:
    workspace, stored_id = erasure.ref
    file = files.find(workspace, stored_id)
    if file is None or file.status not in (FileStatus.DELETED, FileStatus.ERASING):
        return  # The file was stored again.
    is_needed = (
        file.deleted_at is not None
        and now < file.deleted_at + _PATIENCE
        and any(active_runs.list_of_workspace(workspace))
    )
    if is_needed and file.status is FileStatus.DELETED:
        erasures.request(erasure.postponed_to(now + _CHECK_AGAIN_AFTER))
    else:
        files.erase(workspace, file)


def _take_quotas(workspace: str, size: int) -> None:
    quotas.take(workspace, Quota.FILES)
    quotas.take(workspace, Quota.FILE_BYTES, size)


def _find(workspace: str, stored_id: str) -> StoredFile | None:
    found = files.find(workspace, stored_id)
    if found is not None and found.status is FileStatus.ERASING:
        raise RetryableError("the same file was deleted and is being erased", _ERASING_SECONDS)
    return found


def _restored(workspace: str, file: StoredFile, now: datetime) -> StoredFile:
    """Restore a deleted file, whose content is the same and was not erased yet."""
    if file.status is FileStatus.READY:
        return file
    restored = replace(file, status=FileStatus.READY, created_at=now, deleted_at=None)
    files.save(workspace, restored, file)
    return restored


def _upload(workspace: str, file: StoredFile, now: datetime) -> UploadAddress:
    """Return an address that accepts no other content: its type, length and checksum are signed."""
    checksum = b64encode(bytes.fromhex(file.sha256)).decode()
    media_type = file.format.media_type
    key = object_names.upload_blob(workspace, file.id)
    url = blobs.upload_url(key, media_type, file.size, checksum, UPLOAD_SECONDS)
    headers = {"content-type": media_type, "x-amz-checksum-sha256": checksum}
    return UploadAddress(url, headers, now + timedelta(seconds=UPLOAD_SECONDS))


def _checked(file: StoredFile, content: bytes) -> FileInfo:
    if digest_of(content) != file.sha256:
        raise Invalid.field("sha256", "is not that of the uploaded content")
    try:
        info = inspect(content)
    except InvalidFile as error:
        raise Invalid.field("type", f"the file {error}") from None
    if info.format is not file.format:
        raise Invalid.field("type", f"is {file.format.media_type}, but the file is a {info.format.label}")
    return info
