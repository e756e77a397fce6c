"""Numbers that a workspace counts up. A lost reply may leave one out; none is given twice."""

from pynamodb.attributes import NumberAttribute

from cupel_core.store import keys
from cupel_core.store.table import Item


class CounterItem(Item):
    value = NumberAttribute()


def next_execution_id(workspace: str) -> int:
    """From 1: which start of an eval this is, in the whole workspace."""
    item = CounterItem(keys.workspace_settings(workspace), "executions")
    item.update([CounterItem.value.add(1)])
    return int(item.value)
