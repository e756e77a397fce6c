"""Small numbers in items of their own: counters of a workspace and of a run, and the latest readings of its progress.

A lost response may skip a number. No number is returned twice.
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
    item = CounterItem(keys.workspace_settings(workspace), "executions")
    item.update([CounterItem.value.add(1)])
    return int(item.value)


class UnusableRepliesItem(Item):
    replies = NumberAttribute()


def add_unusable_reply(ref: RunRef, fencing_token: int) -> int:
    """Count one more unusable reply of a run's judge since the run was last started or resumed. Return their number.
    Only unusable replies are written, so a run whose judge works costs no write. A lost response may count one
    twice."""
    item = UnusableRepliesItem(keys.run(ref), keys.unusable_replies(fencing_token))
    item.update([UnusableRepliesItem.replies.add(1)])
    return int(item.replies)


class ProgressReadingsItem(Item):
    readings = JSONAttribute()


def get_readings(ref: RunRef) -> Sequence[Reading]:
    try:
        item = ProgressReadingsItem.get(keys.run(ref), keys.PROGRESS_READINGS)
    except ProgressReadingsItem.DoesNotExist:
        return ()
    return [Reading(at, tuple(recorded)) for at, recorded in item.readings]


def save_readings(ref: RunRef, readings: Sequence[Reading]) -> None:
    """Save the readings. Of concurrent readers the last one wins, which is harmless because each is right."""
    ProgressReadingsItem(keys.run(ref), keys.PROGRESS_READINGS, readings=[list(each) for each in readings]).save()
