from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import Any

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition

from cupel_core.base.clock import to_iso
from cupel_core.base.paging import ANY_TIME, Creation, Entry, decode_cursor, encode_cursor
from cupel_core.store.table import CreationIndex, Item

MAX_EXAMINED = 1_000
"""A list with a filter examines at most this many items per request, even if matches are rare."""
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
    created: Creation = ANY_TIME,
) -> Iterator[Entry[I]]:
    """Yield the items of a partition of the index of creation times, or with `by_sort_key` of the table itself.
    `condition` filters them. If it `is_selective`, each read examines more of them, and after MAX_EXAMINED items the
    list ends with an entry without an item."""
    sort_key = model.sk if by_sort_key else CreationIndex.gsi1sk
    position = decode_cursor(cursor) if cursor else None
    pages = model.query(
        partition,
        _range(sort_key, created, position),
        filter_condition=condition,
        index_name=None if by_sort_key else CreationIndex.Meta.index_name,
        scan_index_forward=created.oldest_first,
        page_size=_EXAMINED_PER_READ if is_selective else limit + 1,
    ).page_iter
    next_cursor = cursor or ""
    for page in pages:
        for raw in page["Items"]:
            if position is not None and raw["sk" if by_sort_key else "gsi1sk"]["S"] == position:
                continue  # This is the previous page's last item: a range includes its ends.
            yield Entry(next_cursor, model.from_raw_data(raw))
            next_cursor = _cursor_after(raw, by_sort_key=by_sort_key)
        last = pages.last_evaluated_key
        if last is not None and pages.total_scanned_count >= MAX_EXAMINED:
            yield Entry(_cursor_after(last, by_sort_key=by_sort_key), None)
            return


def all_of(*conditions: Condition | None) -> Condition | None:
    """Return the conjunction of the conditions that are not None, or None if there is none."""
    given = [condition for condition in conditions if condition is not None]
    return reduce(and_, given) if given else None


def list_ids(model: type[Item], *partitions: str) -> Iterator[str]:
    for partition in partitions:
        for item in model.query(partition, index_name=CreationIndex.Meta.index_name):
            yield item.pk.rpartition("#")[2]


def _range(sort_key: UnicodeAttribute, created: Creation, position: str | None) -> Condition | None:
    """Return the condition for items of these times after `position`. Sort keys are the time of creation and an id."""
    lower = to_iso(created.after) if created.after else None
    upper = to_iso(created.before) if created.before else None
    if position is not None and created.oldest_first:
        lower = max(position, lower or position)
    elif position is not None:
        upper = min(position, upper or position)
    if lower is not None and upper is not None:
        return sort_key.between(lower, max(lower, upper))
    return sort_key > lower if lower is not None else sort_key < upper if upper is not None else None


def _cursor_after(raw: dict[str, Any], *, by_sort_key: bool) -> str:
    return encode_cursor(raw["sk" if by_sort_key else "gsi1sk"]["S"])
