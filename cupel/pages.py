"""Lists of the API, which are read page by page."""

from collections.abc import Callable, Iterator

from cupel.json_types import Json

PAGE_SIZE = 100
TRANSCRIPTS_PER_PAGE = 500


class Pages(Iterator[Json]):
    """All items of a list. The next page is requested when it is needed."""

    def __init__(self, read_page: Callable[[int, str | None], Json], page_size: int = PAGE_SIZE) -> None:
        """`read_page` requests at most so many items, after a cursor."""
        self._read_page = read_page
        self._page_size = page_size
        self._items = (item for page in self._read(lambda: page_size) for item in page)

    def __next__(self) -> Json:
        return next(self._items)

    def first(self, limit: int, *, where: Callable[[Json], bool] | None = None) -> list[Json]:
        """At most `limit` items from the beginning, in pages that are no larger than needed."""
        found: list[Json] = []
        pages = self._read(lambda: self._page_size if where else min(self._page_size, limit - len(found)))
        while len(found) < limit and (page := next(pages, None)) is not None:
            found += page if where is None else filter(where, page)
        return found[:limit]

    def _read(self, page_size: Callable[[], int]) -> Iterator[list[Json]]:
        cursor: str | None = None
        while True:
            page = self._read_page(page_size(), cursor)
            yield page["items"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return
