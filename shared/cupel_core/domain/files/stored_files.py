"""Describes a workspace's files. Their ids follow from their content, so that the same content is stored once."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.files.formats import FileFormat, FileInfo


class FileStatus(StrEnum):
    PENDING = "PENDING"
    READY = "READY"
    DELETED = "DELETED"
    """The file is hidden; its content stays available for a while to runs that started before."""
    ERASING = "ERASING"


@dataclass(frozen=True)
class StoredFile:
    id: str
    name: str
    format: FileFormat
    size: int
    sha256: str
    status: FileStatus
    created_at: datetime
    info: FileInfo | None = None
    """None until the content was checked."""
    deleted_at: datetime | None = None

    @property
    def width(self) -> int | None:
        return self.info.width if self.info else None

    @property
    def height(self) -> int | None:
        return self.info.height if self.info else None


class UploadAddress(NamedTuple):
    url: str
    headers: dict[str, str]
    expires_at: datetime
