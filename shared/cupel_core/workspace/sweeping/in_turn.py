"""Iteration over a list that may be too long for one sweep. Each sweep continues where the last one stopped."""

from collections.abc import Callable, Iterator
from itertools import chain, takewhile

from cupel_core.store import sweep_cursors


def in_turn[T](
    name: str,
    list_after: Callable[[str | None], Iterator[T]],
    sort_key: Callable[[T], str],
    has_time: Callable[[], bool],
) -> Iterator[T]:
    """Yield every item while there is time, from the last sweep's position to the end, and then from the beginning.
    `list_after` lists the items after a sort key, or all for None."""
    start = position = sweep_cursors.get(name)
    earlier = takewhile(lambda item: sort_key(item) <= str(start), list_after(None)) if start else iter(())
    for item in chain(list_after(start), earlier):
        if not has_time():
            if position is not None:
                sweep_cursors.save(name, position)
            return
        yield item
        position = sort_key(item)
    if start is not None:
        sweep_cursors.remove(name)
