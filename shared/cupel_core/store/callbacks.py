"""Runs with events that the workspace's webhook has not received yet: an outbox of one row per run.

The transaction of a transition sets the row's `seq`; the row is removed when all events up to it are delivered. Its
`due_at` says from when on the row is nobody's responsibility: a consumer claims a due row by moving it ahead.

A failed call moves `due_at` to the time of the next attempt, for which a message is sent with that delay; the sweeper
sends one for rows that have been due for two minutes. The row is removed on condition that its `seq` has not grown.
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
    """The run's newest event."""
    delivered = NumberAttribute(default=0)
    """All events up to this one are delivered, or given up."""
    attempts = NumberAttribute(default=0)
    """How many calls with the next event have failed."""
    due_at = UnicodeAttribute(attr_name="dueAt")

    @classmethod
    def of_run(cls, ref: RunRef) -> "CallbackItem":
        return cls(keys.CALLBACKS, keys.active_run(ref))


@dataclass(frozen=True)
class PendingCallbacks:
    """A claimed row: what the webhook has not received yet."""

    ref: RunRef
    seq: int
    delivered: int
    attempts: int


class DueCallback(NamedTuple):
    """The message for a row, and when the row is due."""

    message: RunCallback
    due_at: datetime


def add_event(transaction: TransactWrite, ref: RunRef, seq: int, now: datetime) -> None:
    """Record in a run's transaction that the webhook is to receive its event `seq`."""
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
    """Claim a run's row until then; None if there is none, or if it is not due: then another message is for it."""
    item = CallbackItem.of_run(ref)
    try:
        item.update(actions=[CallbackItem.due_at.set(to_iso(until))], condition=CallbackItem.due_at <= to_iso(now))
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return None
    return PendingCallbacks(ref, int(item.seq), int(item.delivered), int(item.attempts))


def advance(ref: RunRef, delivered: int) -> None:
    """Record that all events up to this one are delivered or given up."""
    _update(ref, [CallbackItem.delivered.set(delivered), CallbackItem.attempts.set(0)])


def postpone(ref: RunRef, due_at: datetime, attempts: int) -> None:
    """End the claim; the row is due again from then on."""
    _update(ref, [CallbackItem.due_at.set(to_iso(due_at)), CallbackItem.attempts.set(attempts)])


def remove(ref: RunRef, delivered: int | None = None) -> bool:
    """Remove the row; False if the run has events after `delivered`."""
    try:
        CallbackItem.of_run(ref).delete(condition=None if delivered is None else CallbackItem.seq <= delivered)
    except DeleteError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return not _exists(ref)
    return True


def list_due_before(moment: datetime) -> Iterator[DueCallback]:
    """The rows that are due before a moment."""
    for item in CallbackItem.query(keys.CALLBACKS, filter_condition=CallbackItem.due_at < to_iso(moment)):
        yield DueCallback(RunCallback(workspace=item.workspace, run_id=item.run_id), from_iso(item.due_at))


def request(ref: RunRef) -> None:
    """Have a run's events delivered soon. If that fails, the sweeper does it: the row is already written."""
    with suppress(*AWS_ERRORS, RetryableError):
        send(RunCallback(workspace=ref.workspace, run_id=ref.run_id))


def request_for_probes(ref: RunRef, indexes: Sequence[int], now: datetime) -> None:
    """Have the outcomes of these probes delivered. Raises if it could not be requested: nothing else records it."""
    for part in batched(indexes, MAX_PROBES_PER_CALL):
        call_id = new_id("msg")
        send(
            ProbeCallback(
                workspace=ref.workspace, run_id=ref.run_id, id=call_id, indexes=list(part), created_at=to_iso(now)
            )
        )


def send(message: RunCallback, delay_seconds: int = 0) -> None:
    """The workspace is the message's group, so that many messages of one do not delay those of others."""
    queues.send(settings().notify_queue_url, [message], delay_seconds, group=message.workspace)


def _update(ref: RunRef, actions: list[Action]) -> None:
    """A row that is gone stays so: its run was deleted, or its webhook."""
    updated(CallbackItem.of_run(ref), actions, CallbackItem.pk.exists())


def _exists(ref: RunRef) -> bool:
    try:
        CallbackItem.get(keys.CALLBACKS, keys.active_run(ref), consistent_read=True)
    except CallbackItem.DoesNotExist:
        return False
    return True
