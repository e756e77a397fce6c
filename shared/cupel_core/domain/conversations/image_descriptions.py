"""Describes files for simulated models by facts that can be checked: format, size and, for small PNGs, average
color."""

import zlib
from math import dist

from cupel_core.domain.conversations.parts import FilePart
from cupel_core.domain.files.formats import FileFormat, FileInfo

_MAX_REMEMBERED = 1_000
_colors: dict[str, str] = {}
"""Colors are cached by file id, which follows from the content, so that each image is decoded once."""


MAX_PIXELS = 65_536
"""Larger images are not decoded, because decoding would block the other conversations of a worker."""
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""The number of samples per pixel by color type: gray, RGB, palette, gray with alpha, RGB with alpha."""
_PALETTE, _GRAY = 3, (0, 4)
_NAMES = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "gray": (128, 128, 128),
    "red": (255, 0, 0),
    "green": (0, 160, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "cyan": (0, 255, 255),
    "magenta": (255, 0, 255),
    "orange": (255, 165, 0),
    "brown": (139, 69, 19),
    "pink": (255, 192, 203),
}

type Color = tuple[int, int, int]


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


class Undecodable(ValueError):
    """The message says why the color is unknown and continues after "because"."""


def color_name(color: Color) -> str:
    return min(_NAMES, key=lambda name: dist(_NAMES[name], color))


def average_color(data: bytes) -> Color:
    """Return the mean of all pixels without regard to transparency. Raises Undecodable."""
    width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    depth, kind, interlaced = data[24], data[25], data[28]
    if width * height > MAX_PIXELS:
        raise Undecodable(f"the image has more than {MAX_PIXELS:,} pixels")
    if depth != 8 or kind not in _SAMPLES or interlaced:
        raise Undecodable("only PNGs of 8 bits per sample without interlacing are decoded")
    chunks = _chunks(data)
    samples = _SAMPLES[kind]
    rows = _unfiltered(_inflated(chunks.get(b"IDAT", b""), (width * samples + 1) * height), width * samples, samples)
    if kind == _PALETTE:
        return _average_of_palette(rows, chunks.get(b"PLTE", b""))
    sums = [sum(rows[channel::samples]) for channel in range(samples)]
    red, green, blue = (sums[0],) * 3 if kind in _GRAY else sums[:3]
    count = width * height
    return round(red / count), round(green / count), round(blue / count)


def _chunks(data: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    position = 8
    while position + 12 <= len(data):
        length, kind = int.from_bytes(data[position : position + 4]), data[position + 4 : position + 8]
        found[kind] = found.get(kind, b"") + data[position + 8 : position + 8 + length]
        position += 12 + length
    return found


def _inflated(compressed: bytes, size: int) -> bytes:
    """Return exactly `size` bytes, whatever the data expands to."""
    try:
        rows = zlib.decompressobj().decompress(compressed, size)
    except zlib.error:
        raise Undecodable("its data is damaged") from None
    if len(rows) < size:
        raise Undecodable("its data is incomplete")
    return rows


def _unfiltered(rows: bytes, width: int, step: int) -> bytes:
    """Return the samples of all rows, each of which begins with its filter (PNG specification, section 9)."""
    result, above = bytearray(), bytes(width)
    for start in range(0, len(rows), width + 1):
        row = bytearray(rows[start + 1 : start + 1 + width])
        _undo_filter(rows[start], row, above, step)
        result += row
        above = bytes(row)
    return bytes(result)


def _undo_filter(kind: int, row: bytearray, above: bytes, step: int) -> None:
    match kind:
        case 0:
            return
        case 1:
            for index in range(step, len(row)):
                row[index] = (row[index] + row[index - step]) & 0xFF
        case 2:
            for index, up in enumerate(above):
                row[index] = (row[index] + up) & 0xFF
        case 3:
            for index, up in enumerate(above):
                left = row[index - step] if index >= step else 0
                row[index] = (row[index] + (left + up) // 2) & 0xFF
        case 4:
            for index, up in enumerate(above):
                left, corner = (row[index - step], above[index - step]) if index >= step else (0, 0)
                row[index] = (row[index] + _paeth(left, up, corner)) & 0xFF
        case _:
            raise Undecodable("its data is damaged")


def _paeth(left: int, up: int, corner: int) -> int:
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def _average_of_palette(indexes: bytes, palette: bytes) -> Color:
    counts = [(index, indexes.count(index)) for index in set(indexes)]
    if any(3 * index + 3 > len(palette) for index, _ in counts):
        raise Undecodable("its palette is incomplete")
    red, green, blue = (sum(palette[3 * index + channel] * n for index, n in counts) for channel in range(3))
    return round(red / len(indexes)), round(green / len(indexes)), round(blue / len(indexes))
