"""Pages of lists: `{items, nextCursor}`. A cursor is a position in the caller's own partition, never a partition."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from cupel_core.errors import Invalid

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


@dataclass(frozen=True)
class Page[T]:
    """Part of a list; `next_cursor` is None on the last page."""

    items: tuple[T, ...]
    next_cursor: str | None = None


def slice_page[T](items: Sequence[T], limit: int, cursor: str | None) -> Page[T]:
    """A page of a list that is in memory as a whole."""
    start = decode_index(cursor)
    more = start + limit < len(items)
    return Page(tuple(items[start : start + limit]), encode_cursor(str(start + limit)) if more else None)


def encode_cursor(position: str) -> str:
    """The opaque cursor for a position."""
    return base64.urlsafe_b64encode(f"c1:{position}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """The position that a cursor encodes. Raises Invalid (field `cursor`) for anything that is not a cursor."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        text = ""
    if not text.removeprefix("c1:") or not text.startswith("c1:"):
        raise Invalid.field("cursor", "must be the nextCursor of an earlier page of the same list")
    return text.removeprefix("c1:")


def decode_index(cursor: str | None) -> int:
    """For lists addressed by index: the index to continue at, 0 without a cursor."""
    if cursor is None:
        return 0
    position = decode_cursor(cursor)
    if not position.isascii() or not position.isdigit():
        raise Invalid.field("cursor", "must be the nextCursor of an earlier page of the same list")
    return int(position)
