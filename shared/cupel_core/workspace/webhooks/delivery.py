"""Delivery of the events of a run, in order, and of outcomes of probes to the workspace's webhook.

Delivery is at least once. A failed call is repeated with back-off until its event or outcomes are a day old. After five
failures in a row the webhook is suspended, for all runs of the workspace. Events of a run are sent from an outbox,
which their transitions write (`shared/cupel_core/store/callbacks.py`). For outcomes of probes, the message in the queue
is the only record of the call, and a failed call is requeued.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from random import uniform

from cupel_core.base.clock import from_iso, utc_now
from cupel_core.base.messages import ProbeCallback, RunCallback, RunRef
from cupel_core.domain.resources.webhooks import (
    GIVE_UP_AFTER,
    CallbackRecord,
    CallbackResult,
    CallbackStatus,
    Webhook,
    retry_delay,
    suspension,
)
from cupel_core.domain.runs.barrier import FANOUT, leaf_of
from cupel_core.domain.runs.run import ACTIVE, STATUS_EVENTS, RunEvent
from cupel_core.store import barrier, callback_log, callbacks, events, outcomes, runs, webhooks
from cupel_core.store.callbacks import PendingCallbacks
from cupel_core.workspace.webhooks import calls, payloads
from cupel_core.workspace.webhooks.payloads import Payload

CLAIM = timedelta(seconds=60)
"""A claim lasts as long as an invocation may take."""
_RESERVE_SECONDS = calls.TIMEOUT_SECONDS + 5.0
"""No call starts if the invocation has less time left."""
_CLOCK_TOLERANCE_SECONDS = 1
"""A message must not arrive before its row is due."""
_MAX_JITTER_SECONDS = 5.0
_RECHECK_AFTER = timedelta(seconds=2)
"""The worker checks again after this delay for outcomes that no leaf names yet."""
_MAX_WAIT_FOR_LEAF = timedelta(minutes=5)
"""A call waits at most this long for leaves to name its outcomes. Another worker takes over from a dead one sooner."""


class Step(StrEnum):
    NOTHING = "nothing"
    """Nothing is to be called: it was delivered before, another message will deliver it, or there is no enabled
    webhook."""
    DELIVERED = "delivered"
    POSTPONED = "postponed"


async def deliver_events(callback: RunCallback, seconds_left: Callable[[], float]) -> Step:
    """Call the webhook with each status change of the run that it has not received, in order."""
    now = utc_now()
    pending = callbacks.claim(callback.run, now, now + CLAIM)
    if pending is None:
        return Step.NOTHING
    webhook = webhooks.find(callback.workspace)
    if webhook is None or not webhook.enabled or runs.find(callback.run) is None:
        callbacks.remove(callback.run)
        return Step.NOTHING
    if webhook.is_suspended(now):
        return _postpone(pending, _after_suspension(webhook, now), pending.attempts)
    return await _deliver_pending(pending, seconds_left)


async def _deliver_pending(pending: PendingCallbacks, seconds_left: Callable[[], float]) -> Step:
    delivered, attempts = pending.delivered, pending.attempts
    while not callbacks.remove(pending.ref, delivered):
        unsent = events.list_after(pending.ref, delivered)
        if not unsent:  # The run was erased.
            callbacks.remove(pending.ref)
            return Step.NOTHING
        for event in unsent:
            if seconds_left() < _RESERVE_SECONDS:
                return _postpone(pending, utc_now(), attempts)
            retry_at = await _deliver_event(pending.ref, event, attempts)
            if retry_at is not None:
                return _postpone(pending, retry_at, attempts + 1)
            delivered, attempts = event.seq, 0
            callbacks.advance(pending.ref, delivered)
    return Step.DELIVERED


async def _deliver_event(ref: RunRef, event: RunEvent, attempts: int) -> datetime | None:
    """Call the webhook with one event. Return when to repeat the call, or None if the event needs no further call."""
    webhook = webhooks.find(ref.workspace)
    if event.type not in STATUS_EVENTS or webhook is None or not webhook.enabled:
        return None
    return await _call(ref, webhook, payloads.of_event(ref, event), attempts)


async def deliver_probes(callback: ProbeCallback) -> Step:
    """Call the webhook with the outcomes of probes. A failed call is requeued."""
    now, webhook, run = utc_now(), webhooks.find(callback.workspace), runs.find(callback.run)
    if webhook is None or not webhook.enabled or run is None:
        return Step.NOTHING
    if webhook.is_suspended(now):
        _requeue(callback, _after_suspension(webhook, now), callback.attempts)
        return Step.POSTPONED
    is_late = run.status not in ACTIVE or now - from_iso(callback.created_at) >= _MAX_WAIT_FOR_LEAF
    if not is_late and not _are_counted(callback):
        _requeue(callback, now + _RECHECK_AFTER, callback.attempts)
        return Step.POSTPONED
    reported = list(outcomes.list_digests(callback.run, callback.indexes))
    if not reported:
        return Step.NOTHING
    payload = payloads.of_probes(run, callback.id, from_iso(callback.created_at), reported)
    retry_at = await _call(callback.run, webhook, payload, callback.attempts)
    if retry_at is None:
        return Step.DELIVERED
    _requeue(callback, retry_at, callback.attempts + 1)
    return Step.POSTPONED


def _are_counted(callback: ProbeCallback) -> bool:
    """Return whether leaves name the outcomes, so that they can be read. Callbacks are requested before that."""
    leaves = barrier.get_leaves(callback.run, sorted({leaf_of(index).number for index in callback.indexes}))
    return all(index % FANOUT in leaves[leaf_of(index).number].leaf.recorded for index in callback.indexes)


async def _call(ref: RunRef, webhook: Webhook, payload: Payload, attempts: int) -> datetime | None:
    """Call once, after `attempts` failed attempts. Return when to repeat it, or None if it succeeded or is given up."""
    result = await calls.send(ref.workspace, webhook, payload)
    now = utc_now()
    _count(ref.workspace, webhook, result, now)
    retry_at = None if _is_over(payload, result, now) else now + retry_delay(attempts + 1)
    callback_log.save(ref.workspace, _record(ref, payload, result, attempts + 1, now, retry_at))
    return retry_at


def _is_over(payload: Payload, result: CallbackResult, now: datetime) -> bool:
    return result.delivered or result.is_gone or now - payload.created_at >= GIVE_UP_AFTER


def _count(workspace: str, webhook: Webhook, result: CallbackResult, now: datetime) -> None:
    """Count failures in a row, which suspend the webhook. A receiver that is gone disables it."""
    if result.is_gone:
        webhooks.disable(workspace, webhook, "the receiver answered 410 (gone)", now)
    elif not result.delivered:
        pause = suspension(webhook.failures + 1)
        webhooks.set_failures(workspace, webhook, webhook.failures + 1, now + pause if pause else None)
    elif webhook.failures:
        webhooks.set_failures(workspace, webhook, 0, None)


def _record(
    ref: RunRef, payload: Payload, result: CallbackResult, attempts: int, now: datetime, retry_at: datetime | None
) -> CallbackRecord:
    unsuccessful = CallbackStatus.RETRYING if retry_at else CallbackStatus.GIVEN_UP
    return CallbackRecord(
        id=payload.id,
        type=payload.type,
        run_id=ref.run_id,
        status=CallbackStatus.DELIVERED if result.delivered else unsuccessful,
        attempts=attempts,
        created_at=payload.created_at,
        attempted_at=now,
        http_status=result.http_status,
        error=result.error,
        next_attempt_at=retry_at,
    )


def _after_suspension(webhook: Webhook, now: datetime) -> datetime:
    """Return a slightly random time, because every run of the workspace waits for the same moment."""
    jitter = timedelta(seconds=uniform(0.0, _MAX_JITTER_SECONDS))  # noqa: S311 - no secret
    return (webhook.suspended_until or now) + jitter


def _postpone(pending: PendingCallbacks, due_at: datetime, attempts: int) -> Step:
    callbacks.postpone(pending.ref, due_at, attempts)
    message = RunCallback(workspace=pending.ref.workspace, run_id=pending.ref.run_id)
    callbacks.send(message, _delay_seconds(due_at))
    return Step.POSTPONED


def _requeue(callback: ProbeCallback, due_at: datetime, attempts: int) -> None:
    callbacks.send(callback.model_copy(update={"attempts": attempts}), _delay_seconds(due_at))


def _delay_seconds(due_at: datetime) -> int:
    return max(0, ceil((due_at - utc_now()).total_seconds())) + _CLOCK_TOLERANCE_SECONDS
