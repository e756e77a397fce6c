"""Erasing whole partitions, of what is deleted or erased."""

from collections.abc import Callable

from cupel_core.store.table import Item


class AnyItem(Item):
    """An item of any kind, of which only the keys are read."""


def erase(
    partition: str,
    *,
    prefix: str | None = None,
    except_sort_key: str | None = None,
    has_time: Callable[[], bool] = lambda: True,
) -> bool:
    """Delete all items of a partition, or those whose sort keys begin with `prefix`, as far as time allows.

    Whether none is left. Reads only their keys.
    """
    condition = AnyItem.sk.startswith(prefix) if prefix else None
    with AnyItem.batch_write() as batch:
        for item in AnyItem.query(partition, condition, attributes_to_get=["pk", "sk"], consistent_read=True):
            if not has_time():
                return False
            if item.sk != except_sort_key:
                batch.delete(item)
    return True
