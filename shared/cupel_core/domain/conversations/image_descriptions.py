"""Simulated models describe a file by its format, its size and, if it is a small PNG, its average color. All of it can
be checked."""

from cupel_core.domain.conversations.parts import FilePart
from cupel_core.domain.files.formats import FileFormat, FileInfo
from cupel_core.domain.files.png_colors import Undecodable, average_color, color_name

_MAX_REMEMBERED = 1_000
_colors: dict[str, str] = {}
"""It maps ids of files, which follow from the content, to colors, so that each image is decoded once."""


def describe(number: int, part: FilePart, content: bytes) -> str:
    """Return, for example, `Image 1 (cat.png): PNG, 640×480 pixels, average color #fa8011 (orange).`"""
    name = f" ({part.name})" if part.name else ""
    info = part.info
    if info is None or not info.format.is_image:
        return f"File {number}{name}: PDF, {len(content):,} bytes; its content is not read."
    return (
        f"Image {number}{name}: {info.format.label}, {info.width}×{info.height} pixels, "
        f"average color {_color(part.file_id or '', info, content)}."
    )


def _color(file_id: str, info: FileInfo, content: bytes) -> str:
    if info.format is not FileFormat.PNG:
        return "unknown, because only PNGs are decoded"
    if file_id not in _colors:
        if len(_colors) >= _MAX_REMEMBERED:
            _colors.clear()
        _colors[file_id] = _decoded_color(content)
    return _colors[file_id]


def _decoded_color(content: bytes) -> str:
    try:
        red, green, blue = average_color(content)
    except Undecodable as error:
        return f"unknown, because {error}"
    return f"#{red:02x}{green:02x}{blue:02x} ({color_name((red, green, blue))})"
