"""The sweep: once a minute, it repairs the effects of crashes and malformed messages.

Each part has its own share of the time, and each item its own errors: no run or message delays the others. If time runs
out, the next sweep continues after the last item. Each repair is a metric, and a `run.recovered` event of its run. The
parts are called in `functions/sweep/app.py`, which erases first, so that repairs never delay an erasure.

The probes of dead letters are recorded as errored, so that no run waits for them, and dead letters move to the table.
There each workspace sees its own, and the queue is free for later ones. Only unreadable messages stay in their queue,
and for a minute those with probes that another worker has claimed.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import NamedTuple

from aws_lambda_powertools import Logger
from pydantic import ValidationError

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import AppError, NotFound, RetryableError
from cupel_core.base.ids import new_id
from cupel_core.base.messages import ProbeSlice, RunRef
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import ACTIVE, Priority, Run
from cupel_core.domain.runs.spending import conversation_spending
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.providers import QUEUES
from cupel_core.runs.record_outcomes import (
    conversation_so_far,
    probe_error_of_run,
    record,
    record_dropped,
    record_unreported,
)
from cupel_core.store import barrier, dead_letters, outbox, queues, runs
from cupel_core.store.barrier_items import LeafItem
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.dead_letters import StoredDeadLetter
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import Lane, settings
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST
from cupel_core.workspace.sweeping.run_recovery import RecoveryAction, recover_runs

_BATCH = 100
_CLAIM_SECONDS = 60.0
"""The claim lasts longer than a sweep takes."""
logger = Logger(child=True)
STALE_DISPATCH_AFTER = timedelta(minutes=2)
"""A dispatch that has made no progress for so long has lost its message or its consumer."""
_RECOVERY_SECONDS = 17.0
"""Seconds that are reserved for the recovery of runs, rescores and generations, which follows."""


@dataclass
class DeadLetterCounts:
    errored: int = 0
    unreadable: int = 0
    """The number of messages that name no slice. They belong to no workspace and stay in their queue, where the alarm
    counts them."""


class _Recorded(NamedTuple):
    errored: int = 0
    is_complete: bool = True
    """False while another worker has claimed some of its probes. If that worker is dead and the run is
    cancelled, only this message still leads to the cost of their conversations."""


def record_dead_letters(now: datetime, has_time: Callable[[], bool]) -> DeadLetterCounts:
    """Process the dead letters of all queues while time allows."""
    counts = DeadLetterCounts()
    for provider, priority in product(filter(settings().has_queues, QUEUES), Priority):
        if not has_time():
            break
        _process_lane(Lane(provider, priority), now, has_time, counts)
    return counts


def _process_lane(lane: Lane, now: datetime, has_time: Callable[[], bool], counts: DeadLetterCounts) -> None:
    url, kept = settings().probe_dlq_url(*lane), list[Delivery]()
    while has_time() and (deliveries := queues.take(url, _BATCH)):
        done = [delivery for delivery in deliveries if _process(lane, delivery, now, counts)]
        queues.delete(done)
        kept += [delivery for delivery in deliveries if delivery not in done]
    queues.release(kept)


def _process(lane: Lane, delivery: Delivery, now: datetime, counts: DeadLetterCounts) -> bool:
    """Process a dead letter. Return whether its message can be deleted because everything in it is stored."""
    try:
        probe_slice = ProbeSlice.model_validate_json(delivery.body)
    except ValidationError:
        counts.unreadable += 1
        return False
    letter = StoredDeadLetter(delivery.id, lane.provider, lane.priority, delivery.receive_count, probe_slice)
    try:
        recorded = _record(letter, now)
    except (AppError, *AWS_ERRORS):
        logger.exception("a dead letter could not be processed", run_id=probe_slice.run_id)
        return False
    counts.errored += recorded.errored
    return recorded.is_complete


def _record(letter: StoredDeadLetter, now: datetime) -> _Recorded:
    """Store a dead letter that has probes without an outcome, and record these as errored."""
    probe_slice = letter.probe_slice
    try:
        run = runs.get(probe_slice.run)
    except NotFound:
        return _Recorded()
    if run.fencing_token != probe_slice.fencing_token or run.status not in ACTIVE:
        record_dropped(run, probe_slice)
        return _Recorded()
    item = barrier.get_leaf(probe_slice.run, Node(0, probe_slice.leaf))
    missing = item.leaf.missing(probe_slice.indexes)
    indexes = [index for index in missing if _belongs_to_leaf(run, probe_slice, index)]
    if not indexes:
        return _Recorded()
    provider = run.plan.column_of(indexes[0]).target.provider
    dead_letters.save(letter._replace(provider=provider), now)
    return _record_errors(run, probe_slice, indexes, item, now)


def _record_errors(run: Run, probe_slice: ProbeSlice, indexes: list[int], item: LeafItem, now: datetime) -> _Recorded:
    """Record these probes as errored, under a claim, because a worker may be processing another message with them."""
    claimant, since = new_id("sweep"), now.timestamp()
    claim = Claim(frozenset(index % FANOUT for index in indexes), since + _CLAIM_SECONDS, since)
    node = Node(0, probe_slice.leaf)
    division = barrier.acquire(probe_slice.run, node, claimant, claim, indexes, now.timestamp())
    expired = list(division.expired)
    if expired:
        expired = record_unreported(run, probe_slice.fencing_token, node).leaf.missing(expired)
    dead = [*division.unclaimed, *expired]
    rounds = {index: division.round_of(index, run.conversation_round) for index in dead}
    errors = [_dead_letter_error(run, index, item, rounds[index], now) for index in dead]
    record(run, probe_slice.fencing_token, errors, {probe_slice.leaf: [claimant]})
    return _Recorded(len(dead), is_complete=not division.claimed)


def _dead_letter_error(run: Run, index: int, item: LeafItem, conversation_round: int, now: datetime) -> ProbeError:
    """Return the error of a dead probe, with the cost of its conversation up to its last checkpoint."""
    message = f"the message of this probe became a dead letter: {item.failure_cause}"
    conversation = conversation_so_far(RunRef(run.workspace, run.id), index, conversation_round, now)
    return replace(
        probe_error_of_run(run, index, ProbeErrorCode.DEAD_LETTER, message, 0, now),
        spending=conversation_spending(conversation),
        started_at=conversation.started_at or item.called_since(index % FANOUT),
    )


def _belongs_to_leaf(run: Run, probe_slice: ProbeSlice, index: int) -> bool:
    return 0 <= index < run.plan.total and index // FANOUT == probe_slice.leaf


@dataclass(frozen=True)
class SweepResult:
    dispatched: int
    dead_letters: DeadLetterCounts
    recovered: Counter[RecoveryAction]


def sweep(now: datetime, seconds_left: Callable[[], float]) -> SweepResult:
    """Resend stale dispatches, record the probes of dead letters as errored, and recover runs without progress."""
    dispatched = resend_stale_dispatches(now)
    dead_letters = record_dead_letters(now, lambda: seconds_left() > _RECOVERY_SECONDS)
    return SweepResult(dispatched, dead_letters, recover_runs(now, seconds_left))


def resend_stale_dispatches(now: datetime, lost_before: datetime = NOTHING_LOST) -> int:
    """Resend requests without progress for long, or since before their messages were lost. Return how many."""
    try:
        requests = list(outbox.list_untouched_since(max(now - STALE_DISPATCH_AFTER, lost_before)))
        queues.send(settings().dispatch_queue_url, requests)
    except (*AWS_ERRORS, RetryableError):
        logger.exception("stale dispatches could not be resent")
        return 0
    return len(requests)
