"""Lists that are read from the table no further than a request needs."""

from collections.abc import Iterator
from typing import Any

from pynamodb.expressions.condition import Condition

from cupel_core.paging import Entry, decode_cursor, encode_cursor
from cupel_core.store.table import CreationIndex, Item

MAX_EXAMINED = 1_000
"""Items examined per request by a list with a filter: a rare match must not make it read all items."""
_EXAMINED_PER_READ = 250


def list_newest[I: Item](
    model: type[I],
    partition: str,
    limit: int,
    cursor: str | None,
    *,
    condition: Condition | None = None,
    is_selective: bool = False,
    by_sort_key: bool = False,
    oldest_first: bool = False,
) -> Iterator[Entry[I]]:
    """The items of a partition of the index of creation times, or `by_sort_key` of the table itself.

    `condition` filters them. If it `is_selective`, more are examined per read, and once MAX_EXAMINED were, the list
    ends with an entry without an item.
    """
    sort_key = model.sk if by_sort_key else CreationIndex.gsi1sk
    after = decode_cursor(cursor) if cursor else None
    pages = model.query(
        partition,
        None if after is None else sort_key > after if oldest_first else sort_key < after,
        filter_condition=condition,
        index_name=None if by_sort_key else CreationIndex.Meta.index_name,
        scan_index_forward=oldest_first,
        page_size=_EXAMINED_PER_READ if is_selective else limit + 1,
    ).page_iter
    next_cursor = cursor or ""
    for page in pages:
        for raw in page["Items"]:
            yield Entry(next_cursor, model.from_raw_data(raw))
            next_cursor = _cursor_after(raw, by_sort_key=by_sort_key)
        last = pages.last_evaluated_key
        if last is not None and pages.total_scanned_count >= MAX_EXAMINED:
            yield Entry(_cursor_after(last, by_sort_key=by_sort_key), None)
            return


def _cursor_after(raw: dict[str, Any], *, by_sort_key: bool) -> str:
    return encode_cursor(raw["sk" if by_sort_key else "gsi1sk"]["S"])
