"""Lists by offset, of which the API has pages by cursor."""

from collections.abc import Callable, Iterator
from itertools import islice

from cupel_core.paging import MAX_LIMIT, Page


def first_items[T](page: Callable[[int, str | None], Page[T]], limit: int, offset: int = 0) -> list[T]:
    """The items from `offset` on. With a filter, pages may have fewer than their limit."""
    return list(islice(_items(page, limit + offset), offset, offset + limit))


def _items[T](page: Callable[[int, str | None], Page[T]], wanted: int) -> Iterator[T]:
    cursor: str | None = None
    for _ in range(1 + wanted // MAX_LIMIT + _MAX_SHORT_PAGES):
        found = page(min(wanted, MAX_LIMIT), cursor)
        yield from found.items
        cursor = found.next_cursor
        if cursor is None:
            return


_MAX_SHORT_PAGES = 10
"""Of a filter that matches little."""
