"""Images and PDFs for messages."""

from aws_lambda_powertools.event_handler import Response

from api.parameters import Cursor, Limit
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.files import CreateFile, FileDetailResponse, FilePage, FileResponse, FileUploadResponse
from cupel_core.definitions.files import catalog
from cupel_core.definitions.files.catalog import AnnouncedFile

router = OperationRouter()


@router.operation("createFile")
def create_file(body: CreateFile) -> FileUploadResponse:
    announced = AnnouncedFile(body.name, body.format, body.size, body.sha256)
    return FileUploadResponse.of(*catalog.announce(router.workspace, announced, utc_now()))


@router.operation("completeFile")
def complete_file(file_id: str) -> FileResponse:
    return FileResponse.of(catalog.complete(router.workspace, file_id))


@router.operation("listFiles")
def list_files(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> FilePage:
    page = catalog.list_files(router.workspace, limit, cursor)
    return FilePage(items=[FileResponse.of(file) for file in page.items], next_cursor=page.next_cursor)


@router.operation("getFile")
def get_file(file_id: str) -> FileDetailResponse:
    file = catalog.get(router.workspace, file_id)
    return FileDetailResponse.of_file(file, catalog.download_url(router.workspace, file))


@router.operation("deleteFile", status=204)
def delete_file(file_id: str) -> Response[None]:
    catalog.delete(router.workspace, file_id, utc_now())
    return Response(204)
