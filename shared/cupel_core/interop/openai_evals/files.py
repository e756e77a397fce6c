"""Stores files with rows of data, in the shape of OpenAI's Files and Uploads."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import orjson
from pydantic import ValidationError

from cupel_core.base.errors import Conflict, FieldError, Invalid, NotFound, TooLarge, named_in_body
from cupel_core.base.ids import content_id, new_id
from cupel_core.base.messages import RunRef
from cupel_core.contract.openai_evals import MAX_ROWS, CreateUpload, DataRow
from cupel_core.domain.limits.quotas import Quota
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.store import data_files, deletion_log, quotas
from cupel_core.store.data_files import DataFile, DataUpload, UploadStatus
from cupel_core.store.deletion_log import DeletedWhole, Deletion

MAX_FILE_BYTES = 4 * 1024 * 1024
"""A request has at most this size: API Gateway passes a form in base64, and a function takes at most 6 MB."""
MAX_UPLOAD_BYTES = 16 * 1024 * 1024
PURPOSES = ("evals",)
_MAX_NAME_LENGTH = 300
_ID = re.compile(r"[a-z]{4,6}_[0-9a-z]{20,40}")
_MAX_ERRORS = 5


def create(workspace: str, name: str | None, purpose: str | None, content: bytes, now: datetime) -> DataFile:
    """Store a file. Raises Invalid for content that is not rows of data, and TooLarge."""
    if purpose not in PURPOSES:
        raise Invalid.field("purpose", f"must be one of {', '.join(PURPOSES)}")
    if len(content) > MAX_FILE_BYTES:
        raise TooLarge(f"a file must have at most {MAX_FILE_BYTES:,} bytes; larger ones are uploaded in parts")
    return _store(workspace, new_id("jsonl"), name, content, now, takes_quotas=True)


def get(workspace: str, file_id: str) -> DataFile:
    return data_files.get(workspace, file_id)


def read(workspace: str, file_id: str) -> bytes:
    return data_files.read_content(workspace, data_files.get(workspace, file_id))


def delete(workspace: str, file_id: str, now: datetime) -> None:
    """Delete a file. Runs that have read it keep its rows. Raises NotFound for an unknown file."""
    data_files.get(workspace, file_id)
    deletion_log.record(Deletion(RunRef(workspace, file_id), DeletedWhole.DATA_FILE), now)
    data_files.delete(workspace, file_id)


def list_files(workspace: str, after: str | None, limit: int, *, oldest_first: bool) -> Iterator[DataFile]:
    start = None if after is None else data_files.get(workspace, after)
    return data_files.list_files(workspace, start, limit, oldest_first=oldest_first)


def rows_of(workspace: str, file_id: str) -> list[dict[str, Any]]:
    """Return the rows of a file. Raises Invalid for an unknown file, and for one whose lines are not rows."""
    with named_in_body("data_source.source.id"):
        content = read(workspace, file_id)
    return _rows(content, "data_source.source.id")


def create_upload(workspace: str, body: CreateUpload, now: datetime) -> DataUpload:
    if body.bytes > MAX_UPLOAD_BYTES:
        raise TooLarge(f"an upload must have at most {MAX_UPLOAD_BYTES:,} bytes")
    upload = DataUpload(new_id("upld"), _named(body.filename), body.bytes, now)
    _take_quotas(workspace, upload.size)
    data_files.create_upload(workspace, upload)
    return upload


def get_upload(workspace: str, upload_id: str) -> DataUpload:
    return data_files.get_upload(workspace, upload_id)


def add_part(workspace: str, upload_id: str, content: bytes) -> str:
    """Store a part and return its id. Raises Conflict for an upload that has ended, and TooLarge."""
    upload = data_files.get_upload(workspace, upload_id)
    _check_pending(upload)
    if not 0 < len(content) <= MAX_FILE_BYTES:
        raise TooLarge(f"a part must have 1 to {MAX_FILE_BYTES:,} bytes")
    if not data_files.receive(workspace, upload, len(content)):
        raise TooLarge(
            f"the parts of this upload may have {data_files.max_received(upload):,} bytes, repeated ones too"
        )
    part_id = new_id("part")
    data_files.add_part(workspace, upload_id, part_id, content)
    return part_id


def complete_upload(
    workspace: str, upload_id: str, part_ids: Sequence[str], md5: str | None, now: datetime
) -> tuple[DataUpload, DataFile]:
    """Make a file of the parts. Repeating this returns the same file.

    Raises Invalid for unknown parts and for another size than announced.
    """
    upload = data_files.get_upload(workspace, upload_id)
    if upload.status is UploadStatus.COMPLETED and upload.file_id is not None:
        return upload, data_files.get(workspace, upload.file_id)
    _check_pending(upload)
    content = b"".join(_part(workspace, upload_id, number, each) for number, each in enumerate(part_ids))
    if len(content) != upload.size:
        raise Invalid.field("part_ids", f"have {len(content):,} bytes in total; the upload announced {upload.size:,}")
    if md5 is not None and md5.lower() != _md5(content):
        raise Invalid.field("md5", "is not the MD5 checksum of the parts")
    file = _store(workspace, _file_id(upload_id), upload.name, content, now)
    try:
        return data_files.end_upload(workspace, upload, UploadStatus.COMPLETED, file.id), file
    except NotFound:
        ended = data_files.get_upload(workspace, upload_id)
    if ended.status is UploadStatus.CANCELLED:
        data_files.delete(workspace, file.id)
        _check_pending(ended)
    return ended, file


def cancel_upload(workspace: str, upload_id: str) -> DataUpload:
    """Cancel an upload, and delete the parts that a crashed completion may have left."""
    upload = data_files.get_upload(workspace, upload_id)
    _check_pending(upload)
    cancelled = data_files.end_upload(workspace, upload, UploadStatus.CANCELLED)
    data_files.delete(workspace, _file_id(upload_id))
    return cancelled


def _file_id(upload_id: str) -> str:
    """Return the same id however often the upload is completed, so that only one file is made of it."""
    return content_id("jsonl", upload_id.encode())


def _part(workspace: str, upload_id: str, number: int, part_id: str) -> bytes:
    try:
        if _ID.fullmatch(part_id):
            return data_files.read_part(workspace, upload_id, part_id, MAX_FILE_BYTES)
    except NotFound:
        pass
    raise Invalid.field(f"part_ids.{number}", f"upload {upload_id} has no part {part_id[:60]!r}")


def _check_pending(upload: DataUpload) -> None:
    if upload.status is not UploadStatus.PENDING:
        raise Conflict(f"the upload is {upload.status}")


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def _store(
    workspace: str, file_id: str, name: str | None, content: bytes, now: datetime, *, takes_quotas: bool = False
) -> DataFile:
    _rows(content, "file")
    if takes_quotas:
        _take_quotas(workspace, len(content))
    file = DataFile(file_id, _named(name), len(content), now)
    data_files.create(workspace, file, content)
    return file


def _take_quotas(workspace: str, size: int) -> None:
    quotas.take(workspace, Quota.FILES)
    quotas.take(workspace, Quota.FILE_BYTES, size)


def _named(name: str | None) -> str:
    printable = "".join(each for each in name or "" if each.isprintable()).strip()
    return printable[:_MAX_NAME_LENGTH] or "data.jsonl"


def _rows(content: bytes, field: str) -> list[dict[str, Any]]:
    """Return the rows. Raises Invalid, naming the first lines that are not rows."""
    errors: list[FieldError] = []
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(DataRow.model_validate(orjson.loads(line)).model_dump(mode="json", exclude_none=True))
        except orjson.JSONDecodeError:
            errors.append(FieldError(field, f"line {number} is not JSON"))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"])) or "it"
            errors.append(FieldError(field, f"line {number}: {where}: {error_message(problem)}"))
        if len(errors) == _MAX_ERRORS:
            break
        if len(rows) > MAX_ROWS:
            raise Invalid.field(field, f"must have at most {MAX_ROWS:,} lines")
    if errors:
        raise Invalid.fields(errors)
    if not rows:
        raise Invalid.field(field, 'must have at least one line, such as {"item": {…}}')
    return rows
