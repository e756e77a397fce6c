from collections.abc import Callable, Iterable, Iterator

from cupel.json_types import Json

PAGE_SIZE = 100


class FirstItems(list[Json]):
    def __init__(self, items: Iterable[Json], *, has_more: bool) -> None:
        super().__init__(items)
        self.has_more = has_more


class Pages(Iterator[Json]):
    """Iterates over all items of a list. The next page is requested when it is needed."""

    def __init__(self, read_page: Callable[[int, str | None], Json], page_size: int = PAGE_SIZE) -> None:
        """Create the list; `read_page` requests at most so many items, after a cursor."""
        self._read_page = read_page
        self._page_size = page_size
        self._items = (item for page, _ in self._read(lambda: page_size) for item in page)

    def __next__(self) -> Json:
        return next(self._items)

    def first(self, limit: int, *, where: Callable[[Json], bool] | None = None) -> FirstItems:
        """Return at most `limit` items from the beginning, in pages that are no larger than needed."""
        found, is_last = list[Json](), False
        pages = self._read(lambda: self._page_size if where else min(self._page_size, limit - len(found)))
        while len(found) < limit and not is_last:
            page, is_last = next(pages)
            found += page if where is None else filter(where, page)
        return FirstItems(found[:limit], has_more=not is_last or len(found) > limit)

    def _read(self, page_size: Callable[[], int]) -> Iterator[tuple[list[Json], bool]]:
        cursor: str | None = None
        while True:
            page = self._read_page(page_size(), cursor)
            cursor = page.get("nextCursor")
            yield page["items"], cursor is None
            if cursor is None:
                return
