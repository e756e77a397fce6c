"""Images and PDFs for messages: announced, uploaded to the bucket, completed."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.content_parts import FileName, MediaType
from cupel_core.domain.files.formats import MAX_FILE_BYTES, MEDIA_TYPES, FileFormat
from cupel_core.domain.files.stored_files import FileStatus


class CreateFile(RequestModel):
    """A file to be uploaded. Images have at most 5 MB (5,242,880 bytes), PDFs 10 MB."""

    model_config = example(
        {
            "name": "cat.png",
            "type": "image/png",
            "size": 48211,
            "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        }
    )

    name: FileName
    type: MediaType
    size: Annotated[int, Field(strict=True, ge=1, le=MAX_FILE_BYTES)]
    """Size in bytes."""
    sha256: Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the content, as 64 hexadecimal digits; the file's id follows from it."""

    @field_validator("type")
    @classmethod
    def _is_accepted(cls, media_type: str) -> str:
        if media_type not in MEDIA_TYPES:
            raise ValueError(f"must be one of {', '.join(MEDIA_TYPES)}")
        return media_type

    @property
    def format(self) -> FileFormat:
        return FileFormat.of_media_type(self.type)


class FileResponse(ResponseModel):
    id: str
    """Id for `fileId` in messages; the same content has the same id. Example: file_9f86d081884c7d659a2feaa0c55ad015"""
    name: str
    """Name of the file when its content was first uploaded. Example: cat.png"""
    type: Annotated[MediaType, read_from("format.media_type")]
    """Example: image/png"""
    size: int
    """Size in bytes."""
    sha256: str
    """SHA-256 of the content, as hexadecimal digits.

    Example: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    """
    status: FileStatus
    """`PENDING` until the upload was completed, then `READY`. Example: READY"""
    width: int | None
    """Of an image, in pixels."""
    height: int | None
    """Of an image, in pixels."""
    created_at: Time


class FileDetailResponse(FileResponse):
    download_url: str
    """Where to get the content, for five minutes.

    Example: https://example-bucket.s3.eu-central-1.amazonaws.com/files/team-a/file_9f86d081884c7d65
    """


class UploadResponse(ResponseModel):
    method: Literal["PUT"] = "PUT"
    """HTTP method that sends the content. Example: PUT"""
    url: str
    """Accepts exactly the announced content, without a token.

    Example: https://example-bucket.s3.eu-central-1.amazonaws.com/uploads/team-a/file_9f86d081884c7d65
    """
    headers: dict[str, str]
    """Headers to send with the content.

    Example: {"content-type": "image/png", "x-amz-checksum-sha256": "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="}
    """
    expires_at: Time
    """Expiry of the address."""


class FileUploadResponse(ResponseModel):
    file: FileResponse
    """The file as it is now."""
    upload: UploadResponse | None
    """Null if the workspace has the content already."""


class FilePage(ResponseModel):
    items: list[FileResponse]
    next_cursor: str | None
