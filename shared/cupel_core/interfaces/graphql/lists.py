from collections.abc import Callable

from cupel_core.base.paging import MAX_LIMIT, Page, encode_cursor


def first_items[T](read: Callable[[int, str | None], Page[T]], limit: int, offset: int = 0) -> Page[T]:
    """Return the items from `offset` on. With a filter, pages may have fewer than their limit."""
    items, wanted = list[T](), limit + offset
    cursor: str | None = None
    for _ in range(1 + wanted // MAX_LIMIT + _MAX_SHORT_PAGES):
        page = read(min(wanted, MAX_LIMIT), cursor)
        items += page.items
        cursor = page.next_cursor
        if cursor is None or len(items) >= wanted:
            break
    more = cursor if len(items) <= wanted else encode_cursor(str(wanted))
    return Page(tuple(items[offset:wanted]), more)


_MAX_SHORT_PAGES = 10
"""A filter may leave few items on a page; at most this many extra pages are read to make up for it."""
