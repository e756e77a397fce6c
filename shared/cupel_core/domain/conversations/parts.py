"""Defines the parts of a user's message: texts, images and PDFs; messages of text alone have none.

A message refers to its files; their bytes are read when a request to a model is made.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.files.formats import FileFormat, FileInfo


class PartType(StrEnum):
    TEXT = "text"
    IMAGE = "image"
    FILE = "file"
    """The file is a PDF."""


class ImageDetail(StrEnum):
    """The detail controls how closely OpenAI's models look at an image; other providers have no such choice."""

    AUTO = "auto"
    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True)
class TextPart:
    text: str

    def to_json(self) -> dict[str, Any]:
        return {"type": PartType.TEXT.value, "text": self.text}


@dataclass(frozen=True)
class FilePart:
    """Contains an image or a PDF. As written, it has a file's id or a data URL; as stored, it has the id and the file's
    info."""

    type: PartType
    file_id: str | None = None
    name: str | None = None
    detail: ImageDetail | None = None
    info: FileInfo | None = None
    data_url: str | None = None

    @property
    def note(self) -> str:
        """Return what a reader or a judge sees of the file: `[image cat.png, 640×480 PNG]`."""
        name = f"{self.type} {self.name}" if self.name else str(self.type)
        return f"[{name}, {self.info.description}]" if self.info else f"[{name}]"

    def to_json(self) -> dict[str, Any]:
        own = {
            "fileId": self.file_id,
            "dataUrl": self.data_url,
            "name": self.name,
            "detail": self.detail and self.detail.value,
        }
        info = self.info.to_json() if self.info else {}
        return {"type": self.type.value, **{name: value for name, value in own.items() if value is not None}, **info}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "FilePart":
        detail = data.get("detail")
        return cls(
            PartType(data["type"]),
            data.get("fileId"),
            data.get("name"),
            ImageDetail(detail) if detail else None,
            FileInfo.from_json(data) if data.get("mediaType") and data.get("size") else None,
            data.get("dataUrl"),
        )


type MessagePart = TextPart | FilePart


def part_from_json(data: Mapping[str, Any]) -> MessagePart:
    return TextPart(data["text"]) if data["type"] == PartType.TEXT else FilePart.from_json(data)


def as_text(parts: Iterable[MessagePart]) -> str:
    return "\n".join(part.text if isinstance(part, TextPart) else part.note for part in parts)


def files_of(parts: Iterable[MessagePart]) -> Iterator[FilePart]:
    return (part for part in parts if isinstance(part, FilePart))


def map_texts(parts: Iterable[MessagePart], change: Callable[[str], str]) -> tuple[MessagePart, ...]:
    return tuple(replace(part, text=change(part.text)) if isinstance(part, TextPart) else part for part in parts)


type LargestFiles = Mapping[FileFormat, int]


def largest_files(parts: Iterable[MessagePart]) -> dict[FileFormat, int]:
    largest: dict[FileFormat, int] = {}
    for part in files_of(parts):
        if part.info is not None:
            largest[part.info.format] = max(part.info.size, largest.get(part.info.format, 0))
    return largest
