"""Small images and PDFs, built byte by byte."""

import struct
import zlib


def png(width: int, height: int, color: tuple[int, int, int] = (255, 0, 0), *, filters: bytes = b"\0") -> bytes:
    """An image of one color; `filters` are used for its rows in turn."""
    rows, above = b"", bytes(3 * width)
    for number in range(height):
        row = bytes(color) * width
        kind = filters[number % len(filters)]
        rows += bytes([kind]) + _filtered(kind, row, above)
        above = row
    return png_of(struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), zlib.compress(rows))


def png_of(header: bytes, data: bytes, *others: tuple[bytes, bytes]) -> bytes:
    chunks = [(b"IHDR", header), *others, (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def _filtered(kind: int, row: bytes, above: bytes) -> bytes:
    """By the formulas of the PNG specification, section 9.2."""
    result = []
    for index, value in enumerate(row):
        left, corner = (row[index - 3], above[index - 3]) if index >= 3 else (0, 0)
        up = above[index]
        estimate = left + up - corner
        paeth = min((abs(estimate - left), 0, left), (abs(estimate - up), 1, up), (abs(estimate - corner), 2, corner))
        result.append((value - (0, left, up, (left + up) // 2, paeth[2])[kind]) % 256)
    return bytes(result)


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + bytes(14) + before + frame + b"\xff\xda\x00\x02data\xff\xd9"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0,data;"


def webp(width: int, height: int, kind: bytes = b"VP8X") -> bytes:
    bodies = {
        b"VP8X": bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
        b"VP8L": b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little"),
        b"VP8 ": bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height),
    }
    body = b"WEBP" + kind + struct.pack("<I", len(bodies[kind])) + bodies[kind]
    return b"RIFF" + struct.pack("<I", len(body)) + body


PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"
