"""Dispatches that are still to be carried out. Written with the run's move, removed when all slices are sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError

from cupel_core.clock import from_iso, to_iso
from cupel_core.messages import DispatchOrder, RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item, code_of


class OutboxItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    epoch = NumberAttribute()
    cursors = JSONAttribute(default=dict)
    """By provider: slices of leaves before this one are sent."""
    touched_at = UnicodeAttribute(attr_name="touchedAt")

    @classmethod
    def of(cls, ref: RunRef, epoch: int, now: datetime) -> "OutboxItem":
        return cls(
            keys.OUTBOX,
            keys.outbox(ref, epoch),
            workspace=ref.workspace,
            run_id=ref.run_id,
            epoch=epoch,
            cursors={},
            touched_at=to_iso(now),
        )


@dataclass(frozen=True)
class Pending:
    order: DispatchOrder
    cursors: dict[str, int]
    """By provider: the leaf to go on at."""
    touched_at: datetime


def get(order: DispatchOrder) -> Pending | None:
    """What is left of a dispatch; None when it was carried out."""
    try:
        item = OutboxItem.get(keys.OUTBOX, keys.outbox(order.run, order.epoch), consistent_read=True)
    except OutboxItem.DoesNotExist:
        return None
    return _pending(item)


def advance(pending: Pending, cursors: dict[str, int], now: datetime) -> bool:
    """How far the slices of each provider are sent. False when the dispatch is over, or somebody else carries it on."""
    order = pending.order
    try:
        OutboxItem(keys.OUTBOX, keys.outbox(order.run, order.epoch)).update(
            actions=[OutboxItem.cursors.set(cursors), OutboxItem.touched_at.set(to_iso(now))],
            condition=OutboxItem.cursors == pending.cursors,
        )
    except UpdateError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
        found = get(order)  # A retry after a lost reply meets its own write; that is success.
        return found is not None and found.cursors == cursors
    return True


def renew(order: DispatchOrder, now: datetime) -> None:
    """Writes down once more that the run is to be dispatched, from its first leaf on."""
    OutboxItem.of(order.run, order.epoch, now).save()


def remove(order: DispatchOrder) -> None:
    OutboxItem(keys.OUTBOX, keys.outbox(order.run, order.epoch)).delete()


def untouched_since(moment: datetime) -> Iterator[DispatchOrder]:
    """Dispatches that nobody has worked on since: their message was never sent, or its consumer died."""
    for item in OutboxItem.query(keys.OUTBOX, filter_condition=OutboxItem.touched_at < to_iso(moment)):
        yield _pending(item).order


def _pending(item: OutboxItem) -> Pending:
    order = DispatchOrder(workspace=item.workspace, run_id=item.run_id, epoch=int(item.epoch))
    return Pending(order, item.cursors, from_iso(item.touched_at))
