"""Counters of a workspace. A lost response may skip a number; none is returned twice."""

from pynamodb.attributes import NumberAttribute

from cupel_core.store import keys
from cupel_core.store.table import Item


class CounterItem(Item):
    value = NumberAttribute()


def next_execution_id(workspace: str) -> int:
    """The next number of an eval's execution in this workspace, from 1."""
    item = CounterItem(keys.workspace_settings(workspace), "executions")
    item.update([CounterItem.value.add(1)])
    return int(item.value)
