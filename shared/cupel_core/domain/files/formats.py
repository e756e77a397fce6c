"""Recognizes formats of files that a message may contain by their content, never by their name.

Only headers are read, so a large declared size in pixels costs nothing. Images are never decoded.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any

from cupel_core.base.deferred import dataclass

MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_PDF_BYTES = 10 * 1024 * 1024
MAX_FILE_BYTES = max(MAX_IMAGE_BYTES, MAX_PDF_BYTES)
MAX_SIDE = 16_384
"""No side of an image has more pixels, because every provider refuses or shrinks larger ones."""
_ID_DIGITS = 32
_TAIL_BYTES = 2_048
"""A PDF must end within this many bytes of the end of the file, as some programs append a few."""


class FileFormat(StrEnum):
    PNG = "png"
    JPEG = "jpeg"
    WEBP = "webp"
    GIF = "gif"
    PDF = "pdf"

    @property
    def is_image(self) -> bool:
        return self is not FileFormat.PDF

    @property
    def media_type(self) -> str:
        return f"image/{self}" if self.is_image else f"application/{self}"

    @property
    def label(self) -> str:
        return "WebP" if self is FileFormat.WEBP else self.value.upper()

    @property
    def max_bytes(self) -> int:
        return MAX_IMAGE_BYTES if self.is_image else MAX_PDF_BYTES

    @classmethod
    def of_media_type(cls, media_type: str) -> "FileFormat":
        """Raises ValueError for a type that is not accepted."""
        return cls(media_type.partition("/")[2])


MEDIA_TYPES = tuple(each.media_type for each in FileFormat)


class InvalidFile(ValueError):
    """A file is not accepted; the message says why and continues after the file's name."""


@dataclass(frozen=True)
class FileInfo:
    """`width` and `height` are those of an image, in pixels."""

    format: FileFormat
    size: int
    """The size is in bytes."""
    width: int | None = None
    height: int | None = None

    @property
    def description(self) -> str:
        """Return `640×480 PNG`, or `PDF`."""
        return f"{self.width}×{self.height} {self.format.label}" if self.format.is_image else self.format.label

    def to_json(self) -> dict[str, Any]:
        sides = {"width": self.width, "height": self.height} if self.format.is_image else {}
        return {"mediaType": self.format.media_type, "size": self.size, **sides}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "FileInfo":
        file_format = FileFormat.of_media_type(data["mediaType"])
        return cls(file_format, data["size"], data.get("width"), data.get("height"))


def file_id(digest: str) -> str:
    """Return the id of a file in every workspace, from the SHA-256 of its content in hexadecimal digits."""
    return f"file_{digest[:_ID_DIGITS]}"


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def inspect(data: bytes) -> FileInfo:
    """Return what a complete file is. Raises InvalidFile if it has another format, is truncated, or is too large."""
    file_format = next((each for each, (is_one, _) in _READERS.items() if is_one(data)), None)
    if file_format is None:
        raise InvalidFile(f"is none of {', '.join(each.label for each in FileFormat)}, judged by its content")
    if len(data) > file_format.max_bytes:
        raise InvalidFile(f"has {len(data):,} bytes; a {file_format.label} may have {file_format.max_bytes:,}")
    try:
        width, height = _READERS[file_format][1](data)
    except IndexError:
        raise InvalidFile(f"is a truncated {file_format.label}") from None
    if file_format.is_image and not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise InvalidFile(f"has {width:,}×{height:,} pixels; each side may have 1 to {MAX_SIDE:,}")
    return FileInfo(file_format, len(data), *((width, height) if file_format.is_image else ()))


type _Sides = tuple[int, int]


def _number(data: bytes, start: int, length: int, *, little: bool = False) -> int:
    """Read a number. Raises IndexError beyond the end of the data."""
    if start + length > len(data):
        raise IndexError(start)
    return int.from_bytes(data[start : start + length], "little" if little else "big")


def _is_png(data: bytes) -> bool:
    return data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR"


def _png_sides(data: bytes) -> _Sides:
    """Read the sides. Data after the end of the image is refused, because it would be another file in this one."""
    if not data.endswith(b"\0\0\0\0IEND\xaeB`\x82"):
        raise IndexError(len(data))
    return _number(data, 16, 4), _number(data, 20, 4)


def _is_gif(data: bytes) -> bool:
    return data.startswith((b"GIF87a", b"GIF89a"))


def _gif_sides(data: bytes) -> _Sides:
    if not data.endswith(b";"):
        raise IndexError(len(data))
    return _number(data, 6, 2, little=True), _number(data, 8, 2, little=True)


def _is_webp(data: bytes) -> bool:
    return data.startswith(b"RIFF") and data[8:12] == b"WEBP"


def _webp_sides(data: bytes) -> _Sides:
    if _number(data, 4, 4, little=True) + 8 > len(data):
        raise IndexError(len(data))
    match data[12:16]:
        case b"VP8X":
            return _number(data, 24, 3, little=True) + 1, _number(data, 27, 3, little=True) + 1
        case b"VP8L":
            bits = _number(data, 21, 4, little=True)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _number(data, 26, 2, little=True) & 0x3FFF, _number(data, 28, 2, little=True) & 0x3FFF
    raise InvalidFile("is a WebP without an image")


_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Segments with these markers have the size of the image."""
_JPEG_END = b"\xff\xd9"


def _is_jpeg(data: bytes) -> bool:
    return data.startswith(b"\xff\xd8\xff")


def _jpeg_sides(data: bytes) -> _Sides:
    """Read the sides. Data after the end is accepted, because cameras append previews and their own data."""
    if _JPEG_END not in data[2:]:
        raise IndexError(len(data))
    position = 2
    while _number(data, position, 1) == 0xFF:
        marker = _number(data, position + 1, 1)
        if marker in _JPEG_FRAMES:
            return _number(data, position + 7, 2), _number(data, position + 5, 2)
        position += 1 if marker == 0xFF else 2 + max(2, _number(data, position + 2, 2))
    raise InvalidFile("is a JPEG without an image")


def _is_pdf(data: bytes) -> bool:
    return data.startswith(b"%PDF-")


def _pdf_sides(data: bytes) -> _Sides:
    if b"%%EOF" not in data[-_TAIL_BYTES:]:
        raise IndexError(len(data))
    return 0, 0


_READERS: dict[FileFormat, tuple[Callable[[bytes], bool], Callable[[bytes], _Sides]]] = {
    FileFormat.PNG: (_is_png, _png_sides),
    FileFormat.JPEG: (_is_jpeg, _jpeg_sides),
    FileFormat.WEBP: (_is_webp, _webp_sides),
    FileFormat.GIF: (_is_gif, _gif_sides),
    FileFormat.PDF: (_is_pdf, _pdf_sides),
}
