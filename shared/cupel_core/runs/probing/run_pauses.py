"""Pauses of runs by a worker, and limits of a run's own conversations.

A run is paused when a model refuses every call, a judge gives no verdict, or its budget is used up. A run may have own
limits for the number of parallel conversations and the interval between their starts. A conversation holds a slot of
its run's lease from its start to its end, so all workers together stay within the limit of the run; gaps between starts
are those of one worker. Probes that wait for their run's limit demand no slots of their account and do not prevent the
worker from receiving slices of other runs. Only runs with such a limit pay for the renewals of its leases.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from random import Random
from typing import Any

from cupel_core.accounts.leases import LeasePool
from cupel_core.accounts.leases.holder import LeaseHolder, Reservation
from cupel_core.accounts.leases.lease_state import PendingProbes
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.limits.worker_capacity import MAX_CALLS
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseCause, PauseReason, Run
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.run_allowances import RunAllowances
from cupel_core.store import runs


class RunPauses:
    """Calls `on_end` after each attempt to pause a run, successful or not."""

    def __init__(self, allowances: RunAllowances, on_end: Callable[[], None]) -> None:
        self._allowances = allowances
        self._on_end = on_end
        self._pauses: dict[tuple[RunRef, int], asyncio.Task[None]] = {}

    def pause_refused(self, claimed: ClaimedSlice, model: str, reason: str) -> "asyncio.Task[None]":
        run = claimed.context.run
        return self._start(claimed, lambda: asyncio.to_thread(pause_refused_run, run, model, reason))

    def pause_unjudged(self, claimed: ClaimedSlice, model: str, message: str) -> "asyncio.Task[None]":
        pause = partial(pause_refused_run, claimed.context.run, model, message, PauseReason.JUDGE)
        return self._start(claimed, lambda: asyncio.to_thread(pause))

    def pause_exhausted(self, claimed: ClaimedSlice, scope: BudgetScope, needed: int) -> "asyncio.Task[None]":
        run = claimed.context.run
        return self._start(claimed, lambda: self._allowances.pause_exhausted(run, scope, needed))

    def has_paused(self, claimed: ClaimedSlice) -> bool:
        """Return whether this worker has paused the slice's run, so that its pending probes can be dropped."""
        pausing = self._pauses.get((claimed.probe_slice.run, claimed.probe_slice.fencing_token))
        return pausing is not None and pausing.done() and pausing.exception() is None

    def _start(self, claimed: ClaimedSlice, pause: Callable[[], Coroutine[Any, Any, None]]) -> "asyncio.Task[None]":
        """Return the pause in progress or done. Start a new one if there is none, or it failed."""
        key = (claimed.probe_slice.run, claimed.probe_slice.fencing_token)
        pausing = self._pauses.get(key)
        if pausing is None or (pausing.done() and pausing.exception() is not None):
            pausing = asyncio.create_task(pause())
            pausing.add_done_callback(lambda _: self._on_end())
            self._pauses[key] = pausing
        return pausing


def pause_refused_run(run: Run, model: str, message: str, reason: PauseReason = PauseReason.PROVIDER) -> None:
    cause = PauseCause(model, message)
    try:
        runs.transition(
            RunRef(run.workspace, run.id),
            Action.PAUSE,
            utc_now(),
            fencing_token=run.fencing_token,
            event_data={"pauseReason": reason, "model": model, "message": message},
            pause_reason=reason,
            pause_cause=cause,
        )
    except (IllegalTransition, Conflict, NotFound):
        return


class RunSlot:
    def __init__(self, holder: LeaseHolder, reservation: Reservation) -> None:
        self._holder = holder
        self._reservation = reservation

    def release(self) -> None:
        self._holder.end_conversation()
        self._reservation.release()


class RunPaces:
    def __init__(self, leases: LeasePool, clock: Callable[[], float], rng: Random, wake: Callable[[], None]) -> None:
        """Call `wake` when the next conversation of a run may start."""
        self._leases = leases
        self._clock = clock
        self._rng = rng
        self._wake = wake
        self._holders: dict[RunRef, LeaseHolder] = {}
        self._next_starts: dict[RunRef, float] = {}

    def _lease_holder(self, run: Run) -> LeaseHolder | None:
        if run.pace.max_concurrency is None:
            return None
        ref = RunRef(run.workspace, run.id)
        self._holders[ref] = self._leases.run_lease_holder(ref, run.pace.max_concurrency)
        return self._holders[ref]

    def may_start(self, run: Run) -> bool:
        is_due = self._clock() >= self._next_starts.get(RunRef(run.workspace, run.id), 0.0)
        return is_due and self.has_slot(run)

    def has_slot(self, run: Run) -> bool:
        holder = self._lease_holder(run)
        return holder is None or holder.free_slots > 0

    def start(self, run: Run, model: str) -> RunSlot | None:
        """Start a conversation, which must be allowed. Return None if the run does not limit their number."""
        if run.pace.stagger_ms is not None:
            gap_seconds = self._rng.uniform(*run.pace.stagger_ms) / 1_000
            self._next_starts[RunRef(run.workspace, run.id)] = self._clock() + gap_seconds
            asyncio.get_running_loop().call_later(gap_seconds, self._wake)
        holder = self._lease_holder(run)
        return RunSlot(holder, holder.start_conversation(model)) if holder is not None else None

    def requeue_delay_seconds(self, run: Run) -> float | None:
        """Return the seconds after which the run's pending probes should be redelivered, if other workers have all its
        slots. It is None if they may start or waiting is worth it."""
        holder = self._lease_holder(run)
        return holder.requeue_delay_seconds() if holder is not None else None

    def startable(self, slices: Iterable[ClaimedSlice]) -> int:
        """Return how many pending probes of these slices could be in progress, if only their runs limited them."""
        pending: dict[RunRef, int] = defaultdict(int)
        runs: dict[RunRef, Run] = {}
        for claimed in slices:
            ref = claimed.probe_slice.run
            pending[ref] += len(claimed.pending)
            runs[ref] = claimed.context.run
        return sum(min(count, self._room(runs[ref])) for ref, count in pending.items())

    def _room(self, run: Run) -> int:
        holder = self._lease_holder(run)
        return MAX_CALLS if holder is None else max(0, holder.limits.parallel - holder.in_flight)

    def report_pending(self, slices: Iterable[ClaimedSlice], room: int) -> None:
        counts = dict.fromkeys(self._holders, 0)
        for claimed in slices:
            if self._lease_holder(claimed.context.run) is not None:
                ref = claimed.probe_slice.run
                counts[ref] = counts.get(ref, 0) + len(claimed.pending)
        for ref, count in counts.items():
            self._holders[ref].pending = PendingProbes(min(count, room))

    async def renew(self, run: Run) -> None:
        if (holder := self._lease_holder(run)) is not None:
            await self._leases.renew(holder)
