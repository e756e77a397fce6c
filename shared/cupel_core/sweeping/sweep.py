"""The sweep: finds once a minute what a crash or a poison message has left behind.

Dead letters stay in their queue, where the alarm counts them and a user can redrive them. Their probes are recorded as
errored, so that no run waits for them. Recording is idempotent, so the same dead letter may be processed every minute.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

from pydantic import ValidationError

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import ACTIVE, Priority, Run
from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.errors import NotFound
from cupel_core.ids import new_id
from cupel_core.messages import ProbeSlice
from cupel_core.providers import PROVIDERS
from cupel_core.record_outcomes import probe_error_of_run, record
from cupel_core.settings import settings
from cupel_core.store import barrier, outbox, outcomes, queues, runs
from cupel_core.store.queues import Delivery
from cupel_core.sweeping.run_recovery import RecoveryAction, recover_runs

STALE_DISPATCH_AFTER = timedelta(minutes=2)
"""A dispatch that has made no progress for so long has lost its message or its consumer."""
_MAX_DEAD_LETTERS = 100
"""Per queue and sweep."""
_CLAIM_SECONDS = 60.0
"""Longer than a sweep takes."""


@dataclass(frozen=True)
class SweepResult:
    """Counts of one sweep."""

    dispatched: int
    errored: int
    unreadable: int
    recovered: Counter[RecoveryAction]


def sweep(now: datetime, seconds_left: Callable[[], float]) -> SweepResult:
    """Resend stale dispatches, record the probes of dead letters as errored, and recover runs that stand still."""
    dispatched = _resend_stale_dispatches(now)
    errored = unreadable = 0
    for provider, priority in product(PROVIDERS, Priority):
        for delivery in queues.peek(settings().probe_dlq_url(provider, priority), _MAX_DEAD_LETTERS):
            recorded = _record_dead_letter(delivery, now)
            errored += recorded or 0
            unreadable += recorded is None
    return SweepResult(dispatched, errored, unreadable, recover_runs(now, seconds_left))


def _resend_stale_dispatches(now: datetime) -> int:
    requests = list(outbox.list_untouched_since(now - STALE_DISPATCH_AFTER))
    queues.send(settings().dispatch_queue_url, requests)
    return len(requests)


def _record_dead_letter(delivery: Delivery, now: datetime) -> int | None:
    """Record the probes of a dead slice as errored; returns how many, or None for a message that names no slice."""
    try:
        probe_slice = ProbeSlice.model_validate_json(delivery.body)
        run = runs.get(probe_slice.run)
    except (ValidationError, NotFound):
        return None
    item = barrier.get_leaf(probe_slice.run, Node(0, probe_slice.leaf))
    missing = item.leaf.missing(probe_slice.indexes)
    indexes = [index for index in missing if _belongs_to_leaf(run, probe_slice, index)]
    if run.fencing_token != probe_slice.fencing_token or run.status not in ACTIVE or not indexes:
        return 0
    return _record_errors(run, probe_slice, indexes, item.failure_cause, now)


def _record_errors(run: Run, probe_slice: ProbeSlice, indexes: list[int], cause: str, now: datetime) -> int:
    """Under a claim, like a worker, because a worker may be processing another message with the same probes."""
    claimant, until = new_id("sweep"), now.timestamp() + _CLAIM_SECONDS
    claim = Claim(frozenset(index % FANOUT for index in indexes), until)
    node = Node(0, probe_slice.leaf)
    division = barrier.acquire(probe_slice.run, node, claimant, claim, indexes, now.timestamp())
    recorded = outcomes.get_recorded(run, division.expired) if division.expired else {}
    dead = [index for index in (*division.unclaimed, *division.expired) if index not in recorded]
    message = f"the message of this probe became a dead letter: {cause}"
    errors = [probe_error_of_run(run, index, ProbeErrorCode.DEAD_LETTER, message, 0, now) for index in dead]
    record(run, probe_slice.fencing_token, errors, recorded, {probe_slice.leaf: [claimant]})
    return len(dead)


def _belongs_to_leaf(run: Run, probe_slice: ProbeSlice, index: int) -> bool:
    return 0 <= index < run.plan.total and index // FANOUT == probe_slice.leaf
