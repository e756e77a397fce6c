"""Claims of slices: a message is read, its run is checked and its probes are claimed.

A slice is dropped if its fencing token is not that of the run, or if the run is deleted or neither PENDING nor RUNNING:
the cost of its conversations is counted, and the message is acknowledged. The first slice sets a PENDING run to
RUNNING.

One update writes the claim into the leaf and returns the leaf with all of its claims. It covers only the first probes
of the slice, as many as fit into the worker's memory; the others without an outcome are sent back to the queue at once.
Offsets with an outcome are done. Offsets under another worker's active claim are requeued in a message of their own,
with a delay. An expired claim is revoked. Its worker may have died between its outcomes and the barrier, so pages that
the leaf's log does not name are added to the log first, and their calls are not repeated.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import AppError, Conflict, Invalid
from cupel_core.base.messages import ProbeSlice
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import Action, IllegalTransition, Run, RunStatus
from cupel_core.runs.probing.caches import AccountCache, RunCache
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.slice_context import load_slice_context
from cupel_core.runs.record_outcomes import record_dropped, record_unreported
from cupel_core.store import barrier, queues, runs, snapshots
from cupel_core.store.queues import Delivery

CLAIM_SECONDS = 30.0
"""A claim lasts this long unless it is renewed, but never beyond its worker's invocation."""
RENEW_BEFORE_SECONDS = 20.0
"""A claim with more time left is not renewed: most slices end before that."""
RECHECK_SECONDS = 10.0
"""A probe that another worker has claimed is checked again after this delay."""
MAX_CLAIMED_BYTES = 8_000_000
"""A worker claims at most this many bytes of scenarios with one slice, because they stay in memory."""


class SliceClaimer:
    """Claims slices for one worker, whose invocation ends at `ends_at` (seconds since 1970)."""

    def __init__(
        self, worker_id: str, ends_at: float, run_cache: RunCache, clock: Callable[[], float] = time.time
    ) -> None:
        self._worker_id = worker_id
        self._ends_at = ends_at
        self._run_cache = run_cache
        self._clock = clock
        self._claim_numbers = count()
        self._accounts = AccountCache(clock=clock)

    async def claim(self, delivery: Delivery) -> ClaimedSlice | None:
        """Claim the slice of a message. Return None when its run is paused, over or deleted. Raise ValidationError or
        AppError for a malformed message, and when the slice cannot be loaded or dropped."""
        probe_slice = ProbeSlice.model_validate_json(delivery.body)
        run = await self._run_cache.get_open_run(probe_slice.run, probe_slice.fencing_token)
        if run is not None:
            return await asyncio.to_thread(self._claim_or_note_error, probe_slice, delivery, run)
        if (closed := await self._run_cache.get(probe_slice.run)) is not None:
            await asyncio.to_thread(record_dropped, closed, probe_slice)
        return None

    async def is_open(self, probe_slice: ProbeSlice) -> bool:
        """Return whether the slice may be claimed. It is void once its run is paused, over or deleted."""
        return await self._run_cache.get_open_run(probe_slice.run, probe_slice.fencing_token) is not None

    def _claim_or_note_error(self, probe_slice: ProbeSlice, delivery: Delivery, run: Run) -> ClaimedSlice:
        try:
            _validate(probe_slice, run)
            return self._claim(probe_slice, delivery, run)
        except AppError as error:
            barrier.note_error(probe_slice.run, Node(0, probe_slice.leaf), error.detail)
            raise

    def _claim(self, received: ProbeSlice, delivery: Delivery, run: Run) -> ClaimedSlice:
        probe_slice, scenario_bytes = _first_part(received, run)
        context = load_slice_context(run, probe_slice, self._accounts)
        if run.status is RunStatus.PENDING:
            _start_run(probe_slice)
        claimant = f"{self._worker_id}:{next(self._claim_numbers)}"
        claim = self._new_claim(frozenset(index % FANOUT for index in probe_slice.indexes), self._clock())
        node = Node(0, probe_slice.leaf)
        division = barrier.acquire(probe_slice.run, node, claimant, claim, received.indexes, self._clock())
        first = frozenset(probe_slice.indexes)
        rest, division = [index for index in division.missing if index not in first], division.only(first)
        expired = list(division.expired)
        if expired:
            expired = record_unreported(run, probe_slice.fencing_token, node).leaf.missing(expired)
        others = frozenset(index % FANOUT for index in division.claimed)
        claimed = ClaimedSlice(
            probe_slice=probe_slice,
            delivery=delivery,
            claimant=claimant,
            claim=replace(claim, offsets=claim.offsets - others),
            context=context,
            pending=deque(division.unclaimed),
            rounds={index: division.round_of(index, run.conversation_round) for index in probe_slice.indexes},
            rest=rest,
            scenario_mb=scenario_bytes / 1_000_000,
            begun=set(_begun(received, delivery, division.expired)),
        )
        claimed.pending.extend(expired)
        for index in division.claimed:
            # They go into a new message, because this one has few receives left and the other worker may die.
            claimed.postpone(index, RECHECK_SECONDS)
        return claimed

    def is_renewal_due(self, claimed: ClaimedSlice) -> bool:
        return claimed.claim.until - self._clock() < RENEW_BEFORE_SECONDS

    def is_report_due(self, claimed: ClaimedSlice) -> bool:
        return claimed.is_report_due(self._clock())

    def renew(self, claimed: ClaimedSlice) -> None:
        """Renew the claim of a slice. Mark the slice as lost if another worker has revoked it."""
        if claimed.is_lost or not claimed.claim.offsets:
            return
        claim = self._new_claim(claimed.claim.offsets, claimed.claim.since)
        claimed.reported_at = self._clock()
        claim = replace(claim, calling=claimed.calling(), slow_calls=claimed.slow_calls(self._clock()))
        node = Node(0, claimed.probe_slice.leaf)
        if barrier.renew(claimed.probe_slice.run, node, claimed.claimant, claim):
            claimed.claim = claim
        else:
            claimed.is_lost = True

    def _new_claim(self, offsets: frozenset[int], since: float) -> Claim:
        return Claim(offsets, min(self._clock() + CLAIM_SECONDS, self._ends_at), since)


def _validate(probe_slice: ProbeSlice, run: Run) -> None:
    if any(index // FANOUT != probe_slice.leaf or index >= run.plan.total for index in probe_slice.indexes):
        raise Invalid.field("indexes", f"must be probes of leaf {probe_slice.leaf} of the run")
    if len({run.plan.column_of(index).target.provider for index in probe_slice.indexes}) > 1:
        raise Invalid.field("indexes", "must be probes of one provider")


def _start_run(probe_slice: ProbeSlice) -> None:
    """Start the run with its first probe. A later worker, or one after a pause, finds it started."""
    now = utc_now()
    try:
        runs.transition(probe_slice.run, Action.START, now, fencing_token=probe_slice.fencing_token, started_at=now)
    except (IllegalTransition, Conflict):
        return


def _begun(received: ProbeSlice, delivery: Delivery, expired: Iterable[int]) -> Iterable[int]:
    """Return the probes whose conversations an earlier delivery may have begun. After a pause or a crash, that is
    any."""
    if delivery.receive_count > 1 or received.fencing_token > 1:
        return received.indexes
    return (*received.begun, *expired)


def _first_part(received: ProbeSlice, run: Run) -> tuple[ProbeSlice, float]:
    """Return the first probes of the slice, as many as MAX_CLAIMED_BYTES allows, and the bytes of their scenarios.
    There is at least one."""
    snapshot, cases = snapshots.get(run.snapshot_key), set[int]()
    size = 0.0
    for number, index in enumerate(received.indexes):
        case = run.plan.probe(index).case
        added = 0.0 if case in cases else snapshot.manifest.size_at(snapshot.scenario_positions[case])
        if number and size + added > MAX_CLAIMED_BYTES:
            return received.model_copy(update={"indexes": received.indexes[:number]}), size
        cases.add(case)
        size += added
    return received, size


def send_rest(claimed: ClaimedSlice) -> None:
    """Send the probes that were not claimed back to the queue. If this worker dies, the whole slice is redelivered too.
    A worker that receives a probe twice finds it claimed or done."""
    begun = sorted(claimed.begun.intersection(claimed.rest))
    message = claimed.probe_slice.model_copy(update={"indexes": list(claimed.rest), "begun": begun})
    queues.send(claimed.delivery.queue_url, [message], group=message.workspace)
