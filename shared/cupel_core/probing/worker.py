"""Processes one provider's queue for the duration of one invocation.

The event source mapping delivers the first slices. While there are free slots the worker receives further ones itself
and deletes them after their commit, because with one message per invocation it would be idle between slices. It runs as
many conversations as the leases on their accounts and its own capacity allow (`domain/limits/worker_capacity.py`). Near
its deadline it starts nothing new, lets running conversations finish, and requeues the remaining probes.
"""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from math import inf
from random import Random

from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.clock import utc_now
from cupel_core.conversations.runner import probe_error, run_conversation
from cupel_core.conversations.turn import CalledTarget, Halted
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.limits.worker_capacity import (
    AccountProbes,
    SliceSize,
    WorkerCapacity,
    conversation_mb,
    probes_to_receive,
    slices_to_receive,
)
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.domain.turns.conversation import ConversationState
from cupel_core.errors import RetryableError
from cupel_core.leases import LeasePool
from cupel_core.leases.holder import LeaseHolder, PendingProbes
from cupel_core.probing.checkpoints import TableCheckpoints
from cupel_core.probing.claimed_slice import INTERNAL_ERROR, RETRY_LATER, ClaimedSlice
from cupel_core.probing.claims import RECHECK_SECONDS, SliceClaimer, send_rest
from cupel_core.probing.committer import COMMIT_INTERVAL_SECONDS, Committer, FinishedProbe, retry_delay_seconds
from cupel_core.probing.conversation_calls import ConversationCalls
from cupel_core.probing.file_cache import WorkspaceFiles
from cupel_core.probing.heartbeat import HIDDEN_SECONDS, INTERVAL_SECONDS, Heartbeat
from cupel_core.probing.invocation_totals import InvocationTotals
from cupel_core.probing.load_meter import MEASURE_SECONDS, LoadMeter
from cupel_core.probing.refusals import pause_refused_run
from cupel_core.probing.run_allowances import RunAllowances
from cupel_core.probing.run_cache import RunCache
from cupel_core.probing.run_paces import RunPaces, RunSlot
from cupel_core.probing.run_pauses import RunPauses
from cupel_core.probing.unforeseen import log_unforeseen
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS
from cupel_core.providers.errors import CallPostponed, ModelRefused, ProviderError, RetryLater
from cupel_core.record_outcomes import conversation_so_far
from cupel_core.settings import settings
from cupel_core.store import queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery

_RECENT_SLICES = 3
MARGIN_SECONDS = 6.0
"""Reserved at the end of an invocation for the last commit."""
MAX_FAILURES = 5
"""After so many internal errors in a row, a probe ends with the last one."""
OUTDATED_DELAY_SECONDS = 2
"""Before a model is tried again whose breaker was perhaps closed since the worker read it."""
MAX_HANDOFFS = 20
"""After this many requeues for a provider that asks for long waits, the probe ends with that error."""


class Worker:
    """Runs the probes of one queue in one invocation, until `ends_at` (seconds since 1970) at the latest."""

    def __init__(
        self,
        provider: str,
        ends_at: float,
        clock: Callable[[], float] = time.time,
        receive_wait_seconds: int = 1,
        priority: Priority = Priority.NORMAL,
        memory_mb: int | None = None,
    ) -> None:
        """`receive_wait_seconds` is how long one receive waits for a message.

        `memory_mb` is the memory of the function, to which its share of a processor corresponds; None for no limit.
        """
        self.totals = InvocationTotals()
        self._provider = provider
        self._priority = priority
        self._queue_url = settings().probe_queue_url(provider, priority)
        self._clock = clock
        self._receive_wait_seconds = receive_wait_seconds
        self._deadline = ends_at - MARGIN_SECONDS
        # With calls as long as the invocation, no time would be left to start one.
        self._call_timeout_seconds = min(settings().call_timeout_seconds, max(0.0, self._deadline - clock()) / 2)
        self._run_cache = RunCache()
        self._id = uuid.uuid4().hex[:12]
        self._claimer = SliceClaimer(self._id, ends_at, self._run_cache, clock)
        self._heartbeat = Heartbeat(self._claimer)
        self._committer = Committer(self.totals, self._heartbeat.remove)
        self._backlog: deque[ClaimedSlice] = deque()
        self._capacity = WorkerCapacity(memory_mb)
        self._open_conversations = 0
        self._open_mb = 0.0
        self._target_leases: set[LeaseHolder] = set()
        self._fetch_task: asyncio.Task[None] | None = None
        self._next_hand_back = 0.0
        self._recent_slices: deque[SliceSize] = deque(maxlen=_RECENT_SLICES)
        self._is_queue_empty = False
        self._wake = asyncio.Event()
        self._pauses = RunPauses(self._wake.set)
        self._rng = Random()  # noqa: S311 - jitter
        self._leases = LeasePool(self._id, priority, clock=clock, rng=self._rng, on_change=self._wake.set)
        self._paces = RunPaces(self._leases, clock, self._rng, self._wake.set)
        self._allowances = RunAllowances(self._id, ends_at, clock, on_report=self._wake.set)
        self._rejected: list[Delivery] = []

    async def run(self, deliveries: Iterable[Delivery]) -> list[Delivery]:
        """Work until the queue is empty or time is short; return the deliveries that must be redelivered."""
        received = list(deliveries)
        periodic = [self._commit_periodically(), self._beat_periodically()]
        if self._capacity.memory_mb is not None:
            periodic.append(self._adapt_periodically(LoadMeter(self._capacity.memory_mb)))
        periodic_tasks = [asyncio.create_task(coroutine) for coroutine in periodic]
        async with self._leases, self._allowances:
            try:
                await self._heartbeat.shorten(received)
                await self._accept(received)
                while not self._is_over():
                    await self._step()
            finally:
                for task in periodic_tasks:
                    task.cancel()
        await self._committer.flush()
        return self._rejected

    async def _step(self) -> None:
        self._wake.clear()
        if self._is_closing:
            self._postpone_backlog()
        else:
            self._start_probes()
            self._fetch_if_needed()
        if not self._open_conversations:
            await self._committer.commit()
        if self._open_conversations or self._fetch_task or self._backlog:
            await self._wait_for_wake()

    def _is_over(self) -> bool:
        is_idle = not self._open_conversations and not self._backlog and not self._fetch_task
        return is_idle and (self._is_queue_empty or self._is_closing)

    @property
    def _is_closing(self) -> bool:
        """Whether a call that starts now might not end in time."""
        return self._clock() > self._deadline - self._call_timeout_seconds

    async def _wait_for_wake(self) -> None:
        try:
            async with asyncio.timeout(1.0):
                await self._wake.wait()
        except TimeoutError:
            return

    def _start_probes(self) -> None:
        """Start as many probes as the slots allow, oldest slice first."""
        if not self._committer.may_start_calls:
            return
        for claimed in list(self._backlog):
            self._start_probes_of(claimed, self._lease_holder_of(claimed))
            if not claimed.pending:
                self._backlog.remove(claimed)
                if claimed.is_done:
                    self._committer.add_ended_slice(claimed)
        self._report_pending_probes()

    def _start_probes_of(self, claimed: ClaimedSlice, lease_holder: LeaseHolder) -> None:
        """Probes that cannot run for a while go back to the queue: waiting is billed, and others may run them."""
        if self._pauses.has_paused(claimed):
            claimed.drop_pending()
            return
        delay_seconds = self._requeue_delay_seconds(claimed, lease_holder)
        if delay_seconds is not None:
            claimed.postpone_all_pending(delay_seconds)
        if not claimed.may_start(self._clock()):
            return  # Until the claim is renewed, or known to be lost.
        for index in tuple(claimed.pending):
            model = claimed.context.model_of(index)
            if lease_holder.is_outdated(model, claimed.context.run.updated_at.timestamp()):
                return  # Until the lease is renewed: a provider was perhaps repaired, and its runs resumed.
            if (refusal := lease_holder.refusal(model)) is not None:
                self._pause_refused_run(claimed, model, refusal)
                return
            if not lease_holder.free_slots or not self._may_open(claimed, index):
                return
            suspended_seconds = lease_holder.suspended_seconds(model)
            if suspended_seconds:
                claimed.postpone_pending(index, suspended_seconds, model)
            elif suspended_seconds is None and not self._start_probe(claimed, index, lease_holder):
                return  # Until more of the budget is drawn, or it is known to be exhausted.

    def _requeue_delay_seconds(self, claimed: ClaimedSlice, lease_holder: LeaseHolder) -> float | None:
        if claimed.is_lost:
            return RECHECK_SECONDS
        run = claimed.context.run
        delay_seconds, allowance = lease_holder.requeue_delay_seconds(), self._allowances.of(run)
        if delay_seconds is None:
            delay_seconds = self._paces.requeue_delay_seconds(run)
        return allowance.requeue_delay_seconds() if delay_seconds is None and allowance is not None else delay_seconds

    def _open_calls(self, claimed: ClaimedSlice, index: int, lease_holder: LeaseHolder) -> ConversationCalls | None:
        """The calls of a conversation that starts now; None if the run's budget does not allow its first one."""
        allowance, opening = self._allowances.of(claimed.context.run), None
        if allowance is not None:
            bound = claimed.context.opening_bound(index)
            if allowance.exhausted is not None and allowance.is_exhausted_for(bound):
                self._pause_exhausted_run(claimed, allowance.exhausted, bound)
                return None
            if (opening := allowance.start_conversation(bound)) is None:
                return None
        reservation = lease_holder.start_conversation(claimed.context.model_of(index))
        before_call = partial(self._raise_if_halted, claimed)
        workspace = claimed.probe_slice.workspace
        return ConversationCalls(self._leases, workspace, reservation, before_call, allowance, opening)

    def _may_open(self, claimed: ClaimedSlice, index: int) -> bool:
        """Whether this worker carries the conversation, its run allows it now, and its graders are not crowded."""
        characters = claimed.context.planned_length(index)
        has_room = self._capacity.has_room(self._open_conversations, self._used_mb, characters)
        is_allowed = has_room and self._paces.may_start(claimed.context.run)
        return is_allowed and not self._leases.is_crowded(claimed.probe_slice.workspace)

    @property
    def _used_mb(self) -> float:
        """The memory of open conversations and of idle scenarios."""
        return self._open_mb + self._idle_mb

    @property
    def _idle_mb(self) -> float:
        return sum(claimed.idle_mb for claimed in self._heartbeat.claimed)

    def _start_probe(self, claimed: ClaimedSlice, index: int, lease_holder: LeaseHolder) -> bool:
        """Whether the run's budget allows it."""
        if (calls := self._open_calls(claimed, index, lease_holder)) is None:
            return False
        size_mb = conversation_mb(claimed.context.planned_length(index))
        run_slot = self._paces.start(claimed.context.run, claimed.context.model_of(index))
        claimed.start(index)
        self._open_conversations += 1
        self._open_mb += size_mb
        probe = asyncio.create_task(self._run_or_requeue(claimed, index, calls))
        probe.add_done_callback(partial(self._on_probe_done, claimed, index, calls, size_mb, run_slot))
        return True

    def _pause_refused_run(self, claimed: ClaimedSlice, model: str, reason: str) -> "asyncio.Task[None]":
        return self._pauses.start(
            claimed, partial(asyncio.to_thread, pause_refused_run, claimed.context.run, model, reason)
        )

    def _pause_exhausted_run(self, claimed: ClaimedSlice, scope: BudgetScope, needed: int) -> "asyncio.Task[None]":
        pause = partial(self._allowances.pause_exhausted, claimed.context.run, scope, needed)
        return self._pauses.start(claimed, pause)

    def _fetch_if_needed(self) -> None:
        """Receive further slices when clearly fewer probes are pending than there are slots."""
        if self._fetch_task is not None or self._is_queue_empty:
            return
        room_mb = self._capacity.idle_mb - self._idle_mb
        if room_mb <= 0 and (self._backlog or self._open_conversations):
            self._hand_paced_slice_back()
            return
        workers = settings().probe_workers
        accounts = [
            AccountProbes(
                max(1, holder.attainable_slots(workers)),
                sum(len(claimed.pending) for claimed in slices),
                self._paces.startable(slices),
            )
            for holder, slices in self._backlog_by_account().items()
        ]
        missing = probes_to_receive(accounts, self._capacity.conversations, DEFAULT_PARALLEL_REQUESTS // workers)
        if missing:
            count = slices_to_receive(missing, room_mb, self._recent_slices)
            self._fetch_task = asyncio.create_task(self._fetch(count))

    def _hand_paced_slice_back(self) -> None:
        """Of the slices whose run has no slot for a conversation, the newest, so that others can be received. Seldom:
        what is handed back comes again."""
        if self._clock() < self._next_hand_back:
            return
        for claimed in reversed(self._backlog):
            if not claimed.started and not self._paces.has_slot(claimed.context.run):
                self._next_hand_back = self._clock() + RECHECK_SECONDS
                claimed.postpone_all_pending(RECHECK_SECONDS)
                self._backlog.remove(claimed)
                self._committer.add_ended_slice(claimed)
                return

    def _backlog_by_account(self) -> dict[LeaseHolder, list[ClaimedSlice]]:
        """The slices with pending probes."""
        by_account: dict[LeaseHolder, list[ClaimedSlice]] = {}
        for claimed in self._backlog:
            by_account.setdefault(self._lease_holder_of(claimed), []).append(claimed)
        return by_account

    def _lease_holder_of(self, claimed: ClaimedSlice) -> LeaseHolder:
        return self._leases.lease_holder(claimed.probe_slice.workspace, claimed.context.account)

    async def _add_to_backlog(self, claimed: ClaimedSlice) -> None:
        self._backlog.append(claimed)
        self._report_pending_probes()
        await asyncio.gather(self._leases.renew(self._lease_holder_of(claimed)), self._paces.renew(claimed.context.run))

    def _report_pending_probes(self) -> None:
        """Tell the leases how many probes wait for them, as far as this worker has room for them."""
        by_account = self._backlog_by_account()
        self._target_leases |= by_account.keys()
        room = max(0, self._capacity.conversations - self._open_conversations)
        for holder in self._target_leases:
            slices = by_account.get(holder, [])
            holder.pending = PendingProbes(min(self._paces.startable(slices), room), partial(_pending_models, slices))
        self._paces.report_pending(self._backlog, room)
        self._allowances.report_pending(self._backlog, room)

    async def _fetch(self, max_slices: int) -> None:
        """Receive only as many slices as fill the free slots, so that other workers get the remaining ones."""
        deliveries: list[Delivery] = []
        try:
            deliveries = await asyncio.to_thread(
                queues.receive, self._queue_url, max_slices, self._receive_wait_seconds, HIDDEN_SECONDS
            )
            await self._accept(deliveries)
        except Exception as error:  # noqa: BLE001 - the queue counts as empty, and the slices in progress go on
            log_unforeseen(error, "slices could not be received")
        self._fetch_task = None
        self._is_queue_empty = not deliveries
        if self._is_queue_empty and self._open_conversations:
            asyncio.get_running_loop().call_later(COMMIT_INTERVAL_SECONDS, self._retry_fetch)
        self._wake.set()

    def _retry_fetch(self) -> None:
        self._is_queue_empty = False
        self._wake.set()

    async def _accept(self, deliveries: Sequence[Delivery]) -> None:
        """Claim the slices side by side: each takes several requests, and up to ten are received at once."""
        self._heartbeat.add_deliveries(deliveries)
        await asyncio.gather(*map(self._accept_one, deliveries))

    async def _accept_one(self, delivery: Delivery) -> None:
        try:
            claimed = await self._claimer.claim(delivery)
            if claimed is not None:
                await self._allowances.load_limits(claimed.probe_slice.workspace)
                if claimed.rest:
                    await asyncio.to_thread(send_rest, claimed)
        except Exception as error:  # noqa: BLE001 - the slice is redelivered, and the others go on
            log_unforeseen(error, "a slice could not be claimed")
            self._heartbeat.remove(delivery)
            await asyncio.to_thread(queues.redeliver_after, delivery, retry_delay_seconds(delivery.receive_count))
            self._rejected.append(delivery)
            return
        if claimed is None:
            self._heartbeat.remove(delivery)
            with suppress(*AWS_ERRORS):  # It is redelivered, and its run is still paused, over or deleted.
                await asyncio.to_thread(queues.delete, [delivery])
            return
        self._heartbeat.add_claimed(claimed)
        self._recent_slices.append(SliceSize(len(claimed.probe_slice.indexes), claimed.scenario_mb))
        if claimed.is_done:
            self._committer.add_ended_slice(claimed)
        else:
            await self._add_to_backlog(claimed)

    async def _run_or_requeue(self, claimed: ClaimedSlice, index: int, calls: ConversationCalls) -> Outcome | None:
        started_at = utc_now()
        try:
            return await self._run_probe(claimed, index, calls, started_at)
        except Exception as error:  # noqa: BLE001 - whatever it is, the probe is requeued or ends with it
            return await self._requeue_or_give_up(claimed, index, error, started_at)

    async def _run_probe(
        self, claimed: ClaimedSlice, index: int, calls: ConversationCalls, started_at: datetime
    ) -> Outcome | None:
        """Run the conversation of a probe; None when it was postponed or its run is no longer open."""
        model = claimed.context.model_of(index)
        account = claimed.context.account_of(model)
        limits = claimed.context.call_limits(index)
        target = CalledTarget(
            account=account,
            model=model,
            call_timeout_seconds=min(self._call_timeout_seconds, limits.timeout_seconds or inf),
            max_attempts=limits.max_attempts or MAX_ATTEMPTS,
            rng=self._rng,
            on_retry=self._on_retry,
            guard=partial(calls.target_slot, account, model),
            attempt=calls.attempt,
            files=WorkspaceFiles(claimed.probe_slice.workspace),
        )
        graders = claimed.context.graders(calls, self._rng, self._call_timeout_seconds)
        spec = claimed.context.conversation_spec(index, claimed.rounds[index], graders)
        checkpoints = TableCheckpoints(claimed.probe_slice.run, index, claimed.rounds[index])
        try:
            async with asyncio.timeout(self._deadline - self._clock()):
                return await run_conversation(spec, target, checkpoints, utc_now, settings().retention)
        except RetryLater as wait:
            if claimed.probe_slice.handoffs >= MAX_HANDOFFS:
                state = await checkpoints.load() or ConversationState((), started_at=started_at)
                return probe_error(spec, model, wait, utc_now(), settings().retention, state)
            claimed.postpone(index, wait.retry_after_seconds, RETRY_LATER)
        except ModelRefused as refused:
            await self._pause_or_postpone(claimed, index, refused)
        except BudgetShortage as shortage:
            await self._pause_exhausted_or_postpone(claimed, index, shortage)
        except CallPostponed as wait:
            claimed.postpone(index, wait.retry_after_seconds, wait.provider)
        except TimeoutError:
            claimed.postpone(index, 0.0)
        except Halted:
            if self._is_closing:
                claimed.postpone(index, 0.0)
            elif not claimed.may_start(self._clock()):
                claimed.postpone(index, RECHECK_SECONDS)
            else:
                claimed.is_dropped = True
        return None

    async def _pause_or_postpone(self, claimed: ClaimedSlice, index: int, refused: ModelRefused) -> None:
        """A probe whose judge, or other model, refuses every call; it goes on when its run is resumed."""
        account = claimed.context.account_with(refused.model)
        holder = self._leases.lease_holder(claimed.probe_slice.workspace, account)
        if holder.is_outdated(refused.model, claimed.context.run.updated_at.timestamp()):
            claimed.postpone(index, OUTDATED_DELAY_SECONDS, refused.model)
            return
        try:
            await self._pause_refused_run(claimed, refused.model, refused.reason)
        except (RetryableError, *AWS_ERRORS):
            claimed.postpone(index, refused.retry_after_seconds, refused.model)
        else:
            claimed.is_dropped = True

    async def _pause_exhausted_or_postpone(self, claimed: ClaimedSlice, index: int, shortage: BudgetShortage) -> None:
        """A probe whose next call the budget does not allow; it goes on when its run is resumed."""
        if shortage.exhausted is None:
            claimed.postpone(index, shortage.retry_after_seconds, shortage.provider)
            return
        try:
            await self._pause_exhausted_run(claimed, shortage.exhausted, shortage.needed)
        except (RetryableError, *AWS_ERRORS):
            claimed.postpone(index, shortage.retry_after_seconds, shortage.provider)
        else:
            claimed.is_dropped = True

    async def _may_call(self, claimed: ClaimedSlice) -> bool:
        """Whether a call of the slice may start now. Renews a claim that a slow worker has let expire."""
        if not claimed.may_start(self._clock()):
            await self._heartbeat.renew(claimed)
        if self._is_closing or not claimed.may_start(self._clock()):
            return False
        probe_slice = claimed.probe_slice
        run = await self._run_cache.get_open_run(probe_slice.run, probe_slice.fencing_token)
        if run is not None:
            self._allowances.of(run)  # Its budget may have been raised or lowered.
        return run is not None

    async def _raise_if_halted(self, claimed: ClaimedSlice) -> None:
        if not await self._may_call(claimed):
            raise Halted

    @staticmethod
    async def _requeue_or_give_up(
        claimed: ClaimedSlice, index: int, error: Exception, started_at: datetime
    ) -> Outcome | None:
        """An internal error, not the provider's: the probe alone is requeued, a few times."""
        failures = claimed.probe_slice.failures + 1
        if failures >= MAX_FAILURES:
            with suppress(*AWS_ERRORS):  # It is requeued once more: what it has cost must be known.
                state = await asyncio.to_thread(
                    conversation_so_far, claimed.probe_slice.run, index, claimed.rounds[index], utc_now()
                )
                state = replace(state, started_at=state.started_at or started_at)
                message = f"{type(error).__name__}: {error}"
                return claimed.context.internal_error(index, message, failures, utc_now(), state)
        claimed.postpone(index, retry_delay_seconds(min(failures, MAX_FAILURES)), INTERNAL_ERROR)
        return None

    def _on_probe_done(
        self,
        claimed: ClaimedSlice,
        index: int,
        calls: ConversationCalls,
        size_mb: float,
        run_slot: RunSlot | None,
        probe: "asyncio.Task[Outcome | None]",
    ) -> None:
        self._open_conversations -= 1
        self._open_mb -= size_mb
        calls.end()
        if run_slot is not None:
            run_slot.release()
        self._lease_holder_of(claimed).end_conversation()
        self._committer.add(FinishedProbe(claimed, index, probe.result()))
        self._wake.set()

    def _on_retry(self, error: ProviderError, wait_seconds: float) -> None:
        del wait_seconds
        self.totals.add_retry(error.code)

    def _postpone_backlog(self) -> None:
        for claimed in self._backlog:
            claimed.postpone_all_pending(0.0)
            if claimed.is_done:
                self._committer.add_ended_slice(claimed)
        self._backlog.clear()
        self._report_pending_probes()

    async def _commit_periodically(self) -> None:
        while True:
            await asyncio.sleep(COMMIT_INTERVAL_SECONDS)
            if self._committer.is_due(self._open_conversations):
                await self._committer.commit()

    async def _adapt_periodically(self, meter: LoadMeter) -> None:
        while True:
            await asyncio.sleep(MEASURE_SECONDS)
            self._capacity = self._capacity.after(meter.measure(), self._open_conversations)
            self._wake.set()

    async def _beat_periodically(self) -> None:
        """Also deletes what is recorded, before it becomes visible again."""
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                async with asyncio.timeout(INTERVAL_SECONDS):  # What hangs must not delay the next beat.
                    await self._heartbeat.beat()
            except Exception as error:  # noqa: BLE001 - without a next beat, others would repeat what this one runs
                log_unforeseen(error, "a heartbeat failed")
            await self._committer.acknowledge()


def _pending_models(slices: Sequence[ClaimedSlice]) -> frozenset[str]:
    return frozenset(claimed.context.model_of(index) for claimed in slices for index in claimed.pending)
