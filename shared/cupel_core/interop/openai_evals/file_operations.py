"""Serves OpenAI's Files and Uploads: rows of data for runs of evals."""

from typing import Annotated, Any

from cupel_core.base.errors import Invalid, TooLarge
from cupel_core.contract.openai_evals import CompleteUpload, CreateUpload
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Call,
    HttpRequest,
    Rendered,
    Text,
    operation,
)
from cupel_core.contract.payloads import MAX_PAGE_BYTES, payload_bytes
from cupel_core.contract.query import (
    Parameter,
)
from cupel_core.domain.openai_evals.multipart import FormField, read_form
from cupel_core.interop.openai_evals import files
from cupel_core.interop.openai_evals.documents import FILE_PURPOSE, file_document, upload_document
from cupel_core.interop.openai_evals.pages import After, Order, document_page

FileLimit = Annotated[int, Parameter(ge=1, le=10_000)]


Purpose = Annotated[str | None, Parameter(max_length=50)]


@operation("POST /openai/v1/files", "Upload a file with rows of data", role=MEMBER, returns="The file")
def create_openai_file(call: Call) -> dict[str, Any]:
    form = _form(call.http, "file", "purpose")
    sent, purpose = form.get("file"), form.get("purpose")
    if sent is None:
        raise Invalid.field("file", "is required")
    text = purpose.content.decode("utf-8", "replace") if purpose else None
    return file_document(files.create(call.workspace, sent.filename, text, sent.content, call.now))


@operation("GET /openai/v1/files", "List files", role=VIEWER, returns="A page of files")
def list_openai_files(
    call: Call, after: After = None, limit: FileLimit = 10_000, order: Order = "desc", purpose: Purpose = None
) -> Rendered[Any]:
    listed = files.list_files(call.workspace, after, min(limit, 100), oldest_first=order == "asc")
    documents = map(file_document, listed) if purpose in (None, FILE_PURPOSE, *files.PURPOSES) else ()
    return document_page(documents, limit)


@operation("GET /openai/v1/files/{file_id}", "Get a file", role=VIEWER, returns="The file")
def get_openai_file(call: Call, file_id: str) -> dict[str, Any]:
    return file_document(files.get(call.workspace, file_id))


@operation("GET /openai/v1/files/{file_id}/content", "Read a file", role=VIEWER, returns="Its content")
def read_openai_file(call: Call, file_id: str) -> Text:
    content = files.read(call.workspace, file_id)
    if payload_bytes(content) > MAX_PAGE_BYTES:
        raise TooLarge("the file is too large for a response: Lambda sends at most 6 MB")
    return Text("application/jsonl", content.decode())


@operation("DELETE /openai/v1/files/{file_id}", "Delete a file", role=MEMBER, returns="Deleted")
def delete_openai_file(call: Call, file_id: str) -> dict[str, Any]:
    files.delete(call.workspace, file_id, call.now)
    return {"object": "file", "deleted": True, "id": file_id}


@operation("POST /openai/v1/uploads", "Begin an upload in parts", role=MEMBER, returns="The upload")
def create_openai_upload(call: Call, body: CreateUpload) -> dict[str, Any]:
    return upload_document(files.create_upload(call.workspace, body, call.now))


@operation("POST /openai/v1/uploads/{upload_id}/parts", "Add a part", role=MEMBER, returns="The part")
def add_openai_upload_part(call: Call, upload_id: str) -> dict[str, Any]:
    data, now = _form(call.http, "data").get("data"), call.now
    if data is None:
        raise Invalid.field("data", "is required")
    part_id = files.add_part(call.workspace, upload_id, data.content)
    return {"object": "upload.part", "id": part_id, "upload_id": upload_id, "created_at": int(now.timestamp())}


@operation(
    "POST /openai/v1/uploads/{upload_id}/complete",
    "Make a file of the parts",
    role=MEMBER,
    returns="The upload",
)
def complete_openai_upload(call: Call, upload_id: str, body: CompleteUpload) -> dict[str, Any]:
    upload, file = files.complete_upload(call.workspace, upload_id, body.part_ids, body.md5, call.now)
    return {**upload_document(upload), "file": file_document(file)}


@operation("POST /openai/v1/uploads/{upload_id}/cancel", "Cancel an upload", role=MEMBER, returns="The upload")
def cancel_openai_upload(call: Call, upload_id: str) -> dict[str, Any]:
    return upload_document(files.cancel_upload(call.workspace, upload_id))


def _form(http: HttpRequest, *names: str) -> dict[str, FormField]:
    """Return the form of a request. Raises Invalid if it has other fields."""
    try:
        form = read_form(http.headers.get("content-type", ""), http.body())
    except ValueError as error:
        raise Invalid.field("body", str(error)) from None
    if unknown := [name.partition("[")[0][:100] for name in form if name not in names]:
        raise Invalid.field(unknown[0], f"is not supported; this form has {' and '.join(names)}")
    return form
