"""Images and PDFs for messages: announced, uploaded to the bucket, completed."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.content_parts import FileName, MediaType
from cupel_core.domain.files.formats import MAX_FILE_BYTES, MEDIA_TYPES, FileFormat
from cupel_core.domain.files.stored_files import FileStatus


class CreateFile(RequestModel):
    """What will be uploaded. Images have at most 5 MB (5,242,880 bytes), PDFs 10 MB."""

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
    size: Annotated[int, Field(strict=True, ge=1, le=MAX_FILE_BYTES, description="In bytes")]
    sha256: Annotated[
        str,
        StringConstraints(strict=True, pattern=r"^[0-9a-f]{64}$"),
        Field(description="SHA-256 of the content, as 64 hexadecimal digits; the file's id follows from it"),
    ]

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
    id: Annotated[str, Field(description="For `fileId` in messages; the same content has the same id")]
    name: str
    type: Annotated[MediaType, read_from("format.media_type")]
    size: Annotated[int, Field(description="In bytes")]
    sha256: str
    status: Annotated[FileStatus, Field(description="`PENDING` until the upload was completed, then `READY`")]
    width: Annotated[int | None, Field(description="Of an image, in pixels")]
    height: Annotated[int | None, Field(description="Of an image, in pixels")]
    created_at: Time


class FileDetailResponse(FileResponse):
    download_url: Annotated[str, Field(description="Where to get the content, for five minutes")]


class UploadResponse(ResponseModel):
    method: Literal["PUT"] = "PUT"
    url: Annotated[str, Field(description="Accepts exactly the announced content, without a token")]
    headers: Annotated[dict[str, str], Field(description="To send with the content")]
    expires_at: Time


class FileUploadResponse(ResponseModel):
    file: FileResponse
    upload: Annotated[UploadResponse | None, Field(description="Null if the workspace has the content already")]


class FilePage(ResponseModel):
    items: list[FileResponse]
    next_cursor: str | None
