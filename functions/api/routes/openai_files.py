"""OpenAI's Files and Uploads: rows of data for runs of evals."""

import base64
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.openai_pages import After, Order, document_page
from api.pages import MAX_PAGE_BYTES, payload_bytes
from api.rendering import Rendered
from api.routing import OpenAIRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Invalid, TooLarge
from cupel_core.contract.openai_evals import CompleteUpload, CreateUpload
from cupel_core.domain.openai_evals.multipart import FormField, read_form
from cupel_core.interop.openai_evals import files
from cupel_core.interop.openai_evals.documents import FILE_PURPOSE, file_document, upload_document

router = OpenAIRouter()

FileLimit = Annotated[int, Query(ge=1, le=10_000)]
Purpose = Annotated[str | None, Query(max_length=50)]


@router.operation("createOpenAIFile")
def create_file() -> dict[str, Any]:
    form = _form("file", "purpose")
    sent, purpose = form.get("file"), form.get("purpose")
    if sent is None:
        raise Invalid.field("file", "is required")
    text = purpose.content.decode("utf-8", "replace") if purpose else None
    return file_document(files.create(router.workspace, sent.filename, text, sent.content, utc_now()))


@router.operation("listOpenAIFiles")
def list_files(
    after: After = None, limit: FileLimit = 10_000, order: Order = "desc", purpose: Purpose = None
) -> Rendered[Any]:
    listed = files.list_files(router.workspace, after, min(limit, 100), oldest_first=order == "asc")
    documents = map(file_document, listed) if purpose in (None, FILE_PURPOSE, *files.PURPOSES) else ()
    return document_page(documents, limit)


@router.operation("getOpenAIFile")
def get_file(file_id: str) -> dict[str, Any]:
    return file_document(files.get(router.workspace, file_id))


@router.operation("readOpenAIFile")
def read_file(file_id: str) -> Response[str]:
    content = files.read(router.workspace, file_id)
    if payload_bytes(content) > MAX_PAGE_BYTES:
        raise TooLarge("the file is too large for a response: Lambda sends at most 6 MB")
    return Response(200, "application/jsonl", content.decode())


@router.operation("deleteOpenAIFile")
def delete_file(file_id: str) -> dict[str, Any]:
    files.delete(router.workspace, file_id, utc_now())
    return {"object": "file", "deleted": True, "id": file_id}


@router.operation("createOpenAIUpload")
def create_upload(body: CreateUpload) -> dict[str, Any]:
    return upload_document(files.create_upload(router.workspace, body, utc_now()))


@router.operation("addOpenAIUploadPart")
def add_part(upload_id: str) -> dict[str, Any]:
    data, now = _form("data").get("data"), utc_now()
    if data is None:
        raise Invalid.field("data", "is required")
    part_id = files.add_part(router.workspace, upload_id, data.content)
    return {"object": "upload.part", "id": part_id, "upload_id": upload_id, "created_at": int(now.timestamp())}


@router.operation("completeOpenAIUpload")
def complete_upload(upload_id: str, body: CompleteUpload) -> dict[str, Any]:
    upload, file = files.complete_upload(router.workspace, upload_id, body.part_ids, body.md5, utc_now())
    return {**upload_document(upload), "file": file_document(file)}


@router.operation("cancelOpenAIUpload")
def cancel_upload(upload_id: str) -> dict[str, Any]:
    return upload_document(files.cancel_upload(router.workspace, upload_id))


def _form(*names: str) -> dict[str, FormField]:
    """The form of the current request, whose body Powertools would read as text. Invalid if it has other fields."""
    event = router.current_event.raw_event
    body = event.get("body") or ""
    content = base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()
    try:
        form = read_form(event["headers"].get("content-type", ""), content)
    except ValueError as error:
        raise Invalid.field("body", str(error)) from None
    if unknown := [name.partition("[")[0][:100] for name in form if name not in names]:
        raise Invalid.field(unknown[0], f"is not supported; this form has {' and '.join(names)}")
    return form
