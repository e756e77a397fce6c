"""An outbox of run events that the workspace's webhook has not received yet: one row per run.

The transaction of a transition sets the row's `seq`. The row is removed when all events up to it are delivered, on
condition that `seq` has not grown. A consumer claims a due row by moving its `due_at` into the future. A failed call
moves `due_at` to the time of the next attempt, for which a message is sent with that delay. The sweeper sends a message
for each row that has been due for two minutes.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import batched
from typing import NamedTuple

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import DeleteError, UpdateError
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import RetryableError
from cupel_core.base.ids import new_id
from cupel_core.base.messages import ProbeCallback, RunCallback, RunRef
from cupel_core.store import keys, queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.settings import settings
from cupel_core.store.table import Item, error_code, updated

MAX_PROBES_PER_CALL = 100


class CallbackItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    seq = NumberAttribute()
    delivered = NumberAttribute(default=0)
    """All events up to this number are delivered or were given up."""
    attempts = NumberAttribute(default=0)
    due_at = UnicodeAttribute(attr_name="dueAt")

    @classmethod
    def of_run(cls, ref: RunRef) -> "CallbackItem":
        return cls(keys.CALLBACKS, keys.active_run(ref))


@dataclass(frozen=True)
class PendingCallbacks:
    ref: RunRef
    seq: int
    delivered: int
    attempts: int


class DueCallback(NamedTuple):
    message: RunCallback
    due_at: datetime


def add_event(transaction: TransactWrite, ref: RunRef, seq: int, now: datetime) -> None:
    """Record in a run's transaction that the webhook must receive its event `seq`."""
    actions: list[Action] = [
        CallbackItem.workspace.set(ref.workspace),
        CallbackItem.run_id.set(ref.run_id),
        CallbackItem.seq.set(seq),
        CallbackItem.due_at.set(CallbackItem.due_at | to_iso(now)),
        CallbackItem.delivered.set(CallbackItem.delivered | (seq - 1)),
        CallbackItem.attempts.set(CallbackItem.attempts | 0),
    ]
    transaction.update(CallbackItem.of_run(ref), actions=actions)


def claim(ref: RunRef, now: datetime, until: datetime) -> PendingCallbacks | None:
    """Claim a run's row until then. Return None if there is none or it is not due: another message will handle it."""
    item = CallbackItem.of_run(ref)
    try:
        item.update(actions=[CallbackItem.due_at.set(to_iso(until))], condition=CallbackItem.due_at <= to_iso(now))
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return None
    return PendingCallbacks(ref, int(item.seq), int(item.delivered), int(item.attempts))


def advance(ref: RunRef, delivered: int) -> None:
    _update(ref, [CallbackItem.delivered.set(delivered), CallbackItem.attempts.set(0)])


def postpone(ref: RunRef, due_at: datetime, attempts: int) -> None:
    _update(ref, [CallbackItem.due_at.set(to_iso(due_at)), CallbackItem.attempts.set(attempts)])


def remove(ref: RunRef, delivered: int | None = None) -> bool:
    """Remove the row. Return False if the run has events after `delivered`."""
    try:
        CallbackItem.of_run(ref).delete(condition=None if delivered is None else CallbackItem.seq <= delivered)
    except DeleteError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return not _exists(ref)
    return True


def list_due_before(moment: datetime) -> Iterator[DueCallback]:
    for item in CallbackItem.query(keys.CALLBACKS, filter_condition=CallbackItem.due_at < to_iso(moment)):
        yield DueCallback(RunCallback(workspace=item.workspace, run_id=item.run_id), from_iso(item.due_at))


def request(ref: RunRef) -> None:
    """Send a message that gets a run's events delivered soon. If that fails, the sweeper sends one for the stored
    row."""
    with suppress(*AWS_ERRORS, RetryableError):
        send(RunCallback(workspace=ref.workspace, run_id=ref.run_id))


def request_for_probes(ref: RunRef, indexes: Sequence[int], now: datetime) -> None:
    """Send messages that get the outcomes of these probes delivered. It raises if that fails, as nothing else records
    them."""
    for part in batched(indexes, MAX_PROBES_PER_CALL):
        call_id = new_id("msg")
        send(
            ProbeCallback(
                workspace=ref.workspace, run_id=ref.run_id, id=call_id, indexes=list(part), created_at=to_iso(now)
            )
        )


def send(message: RunCallback, delay_seconds: int = 0) -> None:
    """Send a message. Its group is the workspace, so that many messages of one workspace do not delay those of
    others."""
    queues.send(settings().notify_queue_url, [message], delay_seconds, group=message.workspace)


def _update(ref: RunRef, actions: list[Action]) -> None:
    """Update the row unless it is gone, because its run or its webhook was deleted."""
    updated(CallbackItem.of_run(ref), actions, CallbackItem.pk.exists())


def _exists(ref: RunRef) -> bool:
    try:
        CallbackItem.get(keys.CALLBACKS, keys.active_run(ref), consistent_read=True)
    except CallbackItem.DoesNotExist:
        return False
    return True
