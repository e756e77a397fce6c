"""Lists: `{items, nextCursor}`. A cursor says where to go on in the caller's own partition, never which partition."""

import base64
import binascii
from dataclasses import dataclass

from cupel_core.errors import Invalid

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


@dataclass(frozen=True)
class Page[T]:
    items: tuple[T, ...]
    next_cursor: str | None = None


def encode_cursor(position: str) -> str:
    return base64.urlsafe_b64encode(f"c1:{position}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """The position a cursor of ours stands for; anything else is an invalid `cursor`."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        text = ""
    if not text.removeprefix("c1:") or not text.startswith("c1:"):
        raise Invalid.field("cursor", "must be the nextCursor of an earlier answer to the same list")
    return text.removeprefix("c1:")


def decode_index(cursor: str | None) -> int:
    """For lists that are counted through: the index to go on at, 0 without a cursor."""
    if cursor is None:
        return 0
    position = decode_cursor(cursor)
    if not position.isascii() or not position.isdigit():
        raise Invalid.field("cursor", "must be the nextCursor of an earlier answer to the same list")
    return int(position)
