"""How far a run was when its progress was last read, from which the next reader's rate is computed."""

from collections.abc import Sequence

from pynamodb.attributes import JSONAttribute

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.rates import Reading
from cupel_core.store import keys
from cupel_core.store.table import Item


class ProgressReadingsItem(Item):
    readings = JSONAttribute()


def get(ref: RunRef) -> Sequence[Reading]:
    """The latest readings, oldest first."""
    try:
        item = ProgressReadingsItem.get(keys.run(ref), keys.PROGRESS_READINGS)
    except ProgressReadingsItem.DoesNotExist:
        return ()
    return [Reading(at, tuple(recorded)) for at, recorded in item.readings]


def save(ref: RunRef, readings: Sequence[Reading]) -> None:
    """Of several concurrent readers the last one's readings stay; each of them is right."""
    ProgressReadingsItem(keys.run(ref), keys.PROGRESS_READINGS, readings=[list(each) for each in readings]).save()
