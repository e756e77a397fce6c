"""Erasing whole partitions of deleted runs and definitions."""

from cupel_core.store.table import Item


class AnyItem(Item):
    """An item of any kind, of which only the keys are read."""


def erase(partition: str, *, except_sort_key: str | None = None) -> None:
    """Delete all items of a partition. Reads only their keys."""
    with AnyItem.batch_write() as batch:
        for item in AnyItem.query(partition, attributes_to_get=["pk", "sk"], consistent_read=True):
            if item.sk != except_sort_key:
                batch.delete(item)
