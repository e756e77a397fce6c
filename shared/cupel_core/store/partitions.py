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
    """Delete the items of a partition whose sort keys begin with `prefix`, while `has_time` allows. It reads only keys.
    Return whether none is left."""
    condition = AnyItem.sk.startswith(prefix) if prefix else None
    with AnyItem.batch_write() as batch:
        for item in AnyItem.query(partition, condition, attributes_to_get=["pk", "sk"], consistent_read=True):
            if not has_time():
                return False
            if item.sk != except_sort_key:
                batch.delete(item)
    return True
