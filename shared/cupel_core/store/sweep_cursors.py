"""Positions at which the sweeper stopped in a list because its time was up. Its next pass continues there."""

from pynamodb.attributes import UnicodeAttribute

from cupel_core.store import keys
from cupel_core.store.table import Item


class SweepCursorItem(Item):
    position = UnicodeAttribute()


def get(name: str) -> str | None:
    """Return the sort key after which to continue, or None to start at the beginning."""
    try:
        return SweepCursorItem.get(keys.SWEEP_CURSORS, name, consistent_read=True).position
    except SweepCursorItem.DoesNotExist:
        return None


def save(name: str, position: str) -> None:
    SweepCursorItem(keys.SWEEP_CURSORS, name, position=position).save()


def remove(name: str) -> None:
    SweepCursorItem(keys.SWEEP_CURSORS, name).delete()
