"""Small numbers in items of their own: counters of a workspace and of a run, and how far a run was when last read.

A lost response may skip a number; none is returned twice.
"""

from collections.abc import Sequence

from pynamodb.attributes import JSONAttribute, NumberAttribute

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.rates import Reading
from cupel_core.store import keys
from cupel_core.store.table import Item


class CounterItem(Item):
    value = NumberAttribute()


def next_execution_id(workspace: str) -> int:
    """The next number of an eval's execution in this workspace, from 1."""
    item = CounterItem(keys.workspace_settings(workspace), "executions")
    item.update([CounterItem.value.add(1)])
    return int(item.value)


class UnusableRepliesItem(Item):
    replies = NumberAttribute()


def add_unusable_reply(ref: RunRef, fencing_token: int) -> int:
    """Count one more unusable reply of a run's judge since the run was started or resumed last; returns their number.

    Only unusable replies are written, so a run whose judge works costs no write. A lost response may count one twice.
    """
    item = UnusableRepliesItem(keys.run(ref), keys.unusable_replies(fencing_token))
    item.update([UnusableRepliesItem.replies.add(1)])
    return int(item.replies)


class ProgressReadingsItem(Item):
    readings = JSONAttribute()


def get_readings(ref: RunRef) -> Sequence[Reading]:
    """The latest readings, oldest first."""
    try:
        item = ProgressReadingsItem.get(keys.run(ref), keys.PROGRESS_READINGS)
    except ProgressReadingsItem.DoesNotExist:
        return ()
    return [Reading(at, tuple(recorded)) for at, recorded in item.readings]


def save_readings(ref: RunRef, readings: Sequence[Reading]) -> None:
    """Save the readings. If several readers do at the same time, those of the last one stay; each of them is right."""
    ProgressReadingsItem(keys.run(ref), keys.PROGRESS_READINGS, readings=[list(each) for each in readings]).save()
