"""Queued work that has not ended. It is listed for the sweeper, because the message that starts it may be lost."""

from datetime import datetime
from typing import NamedTuple

from pynamodb.attributes import UnicodeAttribute

from cupel_core.base.clock import to_iso
from cupel_core.base.messages import GenerationRequest, JobRequest, TurnOrder
from cupel_core.store.table import Item, updated


class OpenWork[R: (GenerationRequest, JobRequest, TurnOrder)](NamedTuple):
    partition: str
    sort_key: str
    request: R
    touched_at: datetime


class _TouchedItem(Item):
    touched_at = UnicodeAttribute(attr_name="touchedAt")


def touch[R: (GenerationRequest, JobRequest, TurnOrder)](work: OpenWork[R], now: datetime) -> None:
    item = _TouchedItem(work.partition, work.sort_key)
    updated(item, [_TouchedItem.touched_at.set(to_iso(now))], _TouchedItem.pk.exists())


def remove[R: (GenerationRequest, JobRequest, TurnOrder)](work: OpenWork[R]) -> None:
    _TouchedItem(work.partition, work.sort_key).delete()
