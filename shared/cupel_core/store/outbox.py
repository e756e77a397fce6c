"""Dispatches still to be carried out. Each is written in the run's transition and removed when all its slices are
sent."""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import DispatchRequest, RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item, error_code


class OutboxItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    fencing_token = NumberAttribute(attr_name="fencingToken")
    cursors = JSONAttribute(default=dict)
    """The number of the leaf up to which all slices are sent, for each provider."""
    touched_at = UnicodeAttribute(attr_name="touchedAt")

    @classmethod
    def for_run(cls, ref: RunRef, fencing_token: int, now: datetime) -> "OutboxItem":
        return cls(
            keys.OUTBOX,
            keys.outbox(ref, fencing_token),
            workspace=ref.workspace,
            run_id=ref.run_id,
            fencing_token=fencing_token,
            cursors={},
            touched_at=to_iso(now),
        )


@dataclass(frozen=True)
class PendingDispatch:
    request: DispatchRequest
    cursors: dict[str, int]
    """The leaf to continue at, for each provider."""
    touched_at: datetime


def get(request: DispatchRequest) -> PendingDispatch | None:
    """Return what remains of a dispatch, or None if it was carried out."""
    try:
        item = OutboxItem.get(keys.OUTBOX, keys.outbox(request.run, request.fencing_token), consistent_read=True)
    except OutboxItem.DoesNotExist:
        return None
    return _pending(item)


def advance(pending: PendingDispatch, cursors: dict[str, int], now: datetime) -> bool:
    """Record how far each provider's slices are sent. Return False if the dispatch ended or another consumer advanced
    it."""
    request = pending.request
    try:
        OutboxItem(keys.OUTBOX, keys.outbox(request.run, request.fencing_token)).update(
            actions=[OutboxItem.cursors.set(cursors), OutboxItem.touched_at.set(to_iso(now))],
            condition=OutboxItem.cursors == pending.cursors,
        )
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        current = get(request)  # A retry after a lost response finds its own write, which is success.
        return current is not None and current.cursors == cursors
    return True


def restart(request: DispatchRequest, now: datetime) -> None:
    OutboxItem.for_run(request.run, request.fencing_token, now).save()


def remove(request: DispatchRequest) -> None:
    OutboxItem(keys.OUTBOX, keys.outbox(request.run, request.fencing_token)).delete()


def list_untouched_since(moment: datetime) -> Iterator[DispatchRequest]:
    """Yield dispatches without progress since `moment`: their message was never sent, or its consumer died."""
    for item in OutboxItem.query(keys.OUTBOX, filter_condition=OutboxItem.touched_at < to_iso(moment)):
        yield _pending(item).request


def _pending(item: OutboxItem) -> PendingDispatch:
    request = DispatchRequest(workspace=item.workspace, run_id=item.run_id, fencing_token=int(item.fencing_token))
    return PendingDispatch(request, item.cursors, from_iso(item.touched_at))
