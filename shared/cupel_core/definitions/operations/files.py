from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.files import CreateFile, FileDetailResponse, FilePage, FileResponse, FileUploadResponse
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Call,
    Listed,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.definitions.files import catalog
from cupel_core.definitions.files.catalog import AnnouncedFile


@operation(
    "POST /v1/files",
    "Announce a file and get the address for its upload",
    role=MEMBER,
    returns="The file, and where to send its content",
    is_repeatable=True,
)
def create_file(call: Call, body: CreateFile) -> FileUploadResponse:
    """The id follows from the content: announcing it again changes nothing, and stored content needs no upload. Send
    the content to `upload.url`, then complete the file."""
    announced = AnnouncedFile(body.name, body.format, body.size, body.sha256)
    return FileUploadResponse.from_value(catalog.announce(call.workspace, announced, call.now))


@operation(
    "POST /v1/files/{file_id}/complete",
    "Check an uploaded file and make it usable",
    role=MEMBER,
    returns="The file",
    is_repeatable=True,
)
def complete_file(call: Call, file_id: str) -> FileResponse:
    """Its content must be what was announced: an intact PNG, JPEG, WebP, GIF or PDF with this size and checksum."""
    return FileResponse.from_value(catalog.complete(call.workspace, file_id))


@operation("GET /v1/files", "List the files, newest first", role=VIEWER, returns="A page of files")
def list_files(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[FilePage]:
    page = catalog.list_files(call.workspace, limit, cursor)
    return Listed(page, FileResponse.from_value)


@operation(
    "GET /v1/files/{file_id}", "Get a file with a short-lived address of its content", role=VIEWER, returns="The file"
)
def get_file(call: Call, file_id: str) -> FileDetailResponse:
    file = catalog.get(call.workspace, file_id)
    return FileDetailResponse.from_value(file, download_url=catalog.download_url(call.workspace, file))


@operation(
    "DELETE /v1/files/{file_id}",
    "Delete a file; its content is left to runs in progress for up to 23 hours",
    role=MEMBER,
    returns="Unreadable from now on, and erased within a day",
)
def delete_file(call: Call, file_id: str) -> None:
    """Probes that start without it end with the error `file_not_found`."""
    catalog.delete(call.workspace, file_id, call.now)
