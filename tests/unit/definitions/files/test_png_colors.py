import struct
import zlib

import pytest

from cupel_core.domain.conversations.image_descriptions import Undecodable, average_color, color_name
from tests.files_for_tests import png, png_of


def indexed(width: int, height: int, kind: int, samples: bytes, palette: bytes = b"", depth: int = 8) -> bytes:
    rows = b"".join(b"\0" + samples for _ in range(height))
    others = [(b"PLTE", palette)] if palette else []
    return png_of(struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0), zlib.compress(rows), *others)


@pytest.mark.parametrize("filters", [b"\0", b"\1", b"\2", b"\3", b"\4", b"\4\3\2\1\0"])
def test_every_filter_is_undone(filters: bytes) -> None:
    assert average_color(png(5, 4, (250, 128, 17), filters=filters)) == (250, 128, 17)


@pytest.mark.parametrize(
    ("image", "color"),
    [
        (indexed(2, 2, 0, b"\x00\xff"), (128, 128, 128)),
        (indexed(2, 2, 3, b"\x00\x01", b"\xff\0\0\0\0\xff"), (128, 0, 128)),
        (indexed(2, 1, 4, b"\x40\xff\x40\x00"), (64, 64, 64)),
        (indexed(1, 2, 6, b"\x01\x02\x03\x00"), (1, 2, 3)),
    ],
)
def test_every_kind_of_pixel_is_averaged(image: bytes, color: tuple[int, int, int]) -> None:
    assert average_color(image) == color


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (png_of(struct.pack(">IIBBBBB", 4096, 4096, 8, 2, 0, 0, 0), zlib.compress(b"")), "more than 65,536 pixels"),
        (indexed(2, 2, 0, b"\0", depth=1), "8 bits"),
        (png_of(struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 1), b""), "interlacing"),
        (png_of(struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0), b"not compressed"), "damaged"),
        (png_of(struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0), zlib.compress(b"\0")), "incomplete"),
        (png_of(struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), zlib.compress(b"\x09abc")), "damaged"),
        (indexed(2, 2, 3, b"\x00\x07", b"\xff\0\0"), "palette"),
    ],
)
def test_what_is_not_decoded_is_explained(image: bytes, reason: str) -> None:
    with pytest.raises(Undecodable, match=reason):
        average_color(image)


def test_no_more_is_decompressed_than_the_header_announces() -> None:
    bomb = png_of(struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), zlib.compress(bytes(50_000_000)))
    assert average_color(bomb) == (0, 0, 0)


@pytest.mark.parametrize(
    ("color", "name"), [((250, 5, 5), "red"), ((10, 150, 10), "green"), ((250, 160, 10), "orange")]
)
def test_a_color_has_the_name_of_the_nearest_one(color: tuple[int, int, int], name: str) -> None:
    assert color_name(color) == name
