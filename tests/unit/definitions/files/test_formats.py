"""What a file is, told by its content."""

import struct

import pytest

from cupel_core.domain.files.formats import FileFormat, FileInfo, InvalidFile, file_id, inspect
from tests.files_for_tests import PDF, gif, jpeg, png, png_of, webp


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (png(4, 3), FileInfo(FileFormat.PNG, len(png(4, 3)), 4, 3)),
        (jpeg(640, 480), FileInfo(FileFormat.JPEG, len(jpeg(640, 480)), 640, 480)),
        (gif(7, 9), FileInfo(FileFormat.GIF, len(gif(7, 9)), 7, 9)),
        (webp(40, 30), FileInfo(FileFormat.WEBP, len(webp(40, 30)), 40, 30)),
        (webp(40, 30, b"VP8L"), FileInfo(FileFormat.WEBP, len(webp(40, 30, b"VP8L")), 40, 30)),
        (webp(40, 30, b"VP8 "), FileInfo(FileFormat.WEBP, len(webp(40, 30, b"VP8 ")), 40, 30)),
        (PDF, FileInfo(FileFormat.PDF, len(PDF))),
    ],
)
def test_format_and_size_are_read_from_the_header(content: bytes, expected: FileInfo) -> None:
    assert inspect(content) == expected
    assert FileInfo.from_json(expected.to_json()) == expected


def test_a_jpegs_size_is_found_behind_long_metadata() -> None:
    metadata = b"\xff\xe1" + struct.pack(">H", 60_000) + bytes(59_998)
    assert inspect(jpeg(640, 480, metadata * 3)).width == 640


def test_a_jpeg_may_have_fill_bytes_and_a_preview_after_its_end() -> None:
    assert inspect(jpeg(640, 480, b"\xff\xff\xff") + b"preview").height == 480


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is none of PNG, JPEG, WebP, GIF, PDF"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is none of"),
        (b"junk" + png(2, 2), "is none of"),
        (b"\n%PDF-1.7 %%EOF", "is none of"),
        (png(2, 2)[:-1], "is a truncated PNG"),
        (png(2, 2) + b"PK\x03\x04 another file", "is a truncated PNG"),
        (jpeg(2, 2)[:40], "is a truncated JPEG"),
        (jpeg(2, 2)[:2] + b"\xff\xd9", "is a truncated JPEG"),
        (jpeg(2, 2)[:20] + b"no marker\xff\xd9", "is a JPEG without an image"),
        (gif(2, 2)[:-1], "is a truncated GIF"),
        (webp(2, 2)[:-1], "is a truncated WebP"),
        (webp(2, 2).replace(b"VP8X", b"XXXX"), "is a WebP without an image"),
        (PDF[:-6], "is a truncated PDF"),
        (png_of(struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0), b""), "has 100,000×100,000 pixels"),
        (gif(0, 5), "has 0×5 pixels"),
        (png(2, 2)[:33] + bytes(5 * 1024 * 1024) + png(2, 2)[-12:], "a PNG may have 5,242,880"),
    ],
)
def test_what_is_not_accepted_is_refused_with_the_reason(content: bytes, problem: str) -> None:
    with pytest.raises(InvalidFile, match=problem):
        inspect(content)


def test_the_id_follows_from_the_content() -> None:
    assert file_id("0123456789abcdef" * 4) == "file_0123456789abcdef0123456789abcdef"
