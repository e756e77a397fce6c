"""Pages lists as `{items, nextCursor}`. A cursor is a position in the caller's own partition, never a partition."""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
_MAX_INDEX_DIGITS = 18
"""An index with more digits does not fit a machine's integer, which slices require."""


@dataclass(frozen=True)
class Page[T]:
    """Contains a part of a list; `next_cursor` is None on the last page."""

    items: tuple[T, ...]
    next_cursor: str | None = None
    cursors: tuple[str, ...] = ()
    """Each item of a list that MCP may cut has a cursor that continues the list at it."""

    def map[R](self, change: Callable[[T], R]) -> "Page[R]":
        return Page(tuple(map(change, self.items)), self.next_cursor, self.cursors)

    def entries(self) -> "Iterator[Entry[T]]":
        for cursor, item in zip(self.cursors, self.items, strict=True):
            yield Entry(cursor, item)
        if self.next_cursor is not None:
            yield Entry(self.next_cursor, None)


@dataclass(frozen=True)
class Creation:
    """Selects items of a list that is sorted by creation time, and their order."""

    after: datetime | None = None
    before: datetime | None = None
    oldest_first: bool = False

    def __post_init__(self) -> None:
        if self.after is not None and self.before is not None and self.after >= self.before:
            raise Invalid.field("createdBefore", "must be later than createdAfter")


ANY_TIME = Creation()


class Entry[T](NamedTuple):
    cursor: str
    """The cursor that continues the list at this item; empty for the first one."""
    item: T | None
    """None ends a page here, because enough was read without finding a matching item."""

    def map[R](self, change: Callable[[T], R]) -> "Entry[R]":
        return Entry(self.cursor, None if self.item is None else change(self.item))


def fill_page[T](
    entries: Iterable[Entry[T]], limit: int, size: Callable[[T], int] = lambda _: 0, max_size: int = 0
) -> Page[T]:
    """Collect at least one entry, until there are `limit`, or until their sizes together exceed `max_size`."""
    items: list[T] = []
    cursors: list[str] = []
    total = 0
    for cursor, item in entries:
        total += 0 if item is None else size(item)
        if item is None or len(items) == limit or (items and total > max_size):
            return Page(tuple(items), cursor, tuple(cursors))
        items.append(item)
        cursors.append(cursor)
    return Page(tuple(items), None, tuple(cursors))


def slice_page[T](items: Sequence[T], limit: int, cursor: str | None) -> Page[T]:
    start = decode_index(cursor)
    more = start + limit < len(items)
    shown = tuple(items[start : start + limit])
    cursors = tuple(encode_cursor(str(index)) for index in range(start, start + len(shown)))
    return Page(shown, encode_cursor(str(start + limit)) if more else None, cursors)


def encode_cursor(position: str) -> str:
    return base64.urlsafe_b64encode(f"c1:{position}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """Return the position that a cursor encodes. Raises Invalid (field `cursor`) for anything that is not a cursor."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        text = ""
    if not text.removeprefix("c1:") or not text.startswith("c1:"):
        raise Invalid.field("cursor", "must be the nextCursor of an earlier page of the same list")
    return text.removeprefix("c1:")


def decode_index(cursor: str | None) -> int:
    """Return the index at which a list addressed by index continues; 0 without a cursor."""
    return 0 if cursor is None else parse_index(decode_cursor(cursor))


def parse_index(text: str) -> int:
    """Return the index in a decoded cursor. Raises Invalid (field `cursor`) for other text."""
    if not text.isascii() or not text.isdigit() or len(text) > _MAX_INDEX_DIGITS:
        raise Invalid.field("cursor", "must be the nextCursor of an earlier page of the same list")
    return int(text)
