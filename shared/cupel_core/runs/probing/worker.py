"""A worker that processes one provider's queue for the duration of one invocation.

The event source mapping delivers the first slices. While there are free slots the worker receives further ones itself
(`slice_receiver.py`) and deletes them after their commit, because with one message per invocation it would be idle
between slices. It runs as many conversations (`probe_runner.py`) as the leases on their accounts and its own capacity
allow (`domain/limits/worker_capacity.py`). Near its deadline it starts nothing new, lets running conversations finish,
and requeues the remaining probes.

A malformed message, or one whose slice cannot be loaded, is redelivered after 2, 4, 8, … seconds with its cause stored
in the leaf; after five receives it is moved to its dead letter queue. A probe that hits an internal error is requeued
in a message of its own after 2, 4, 8 and 16 seconds, and ends as errored (`internal`) with the fifth one.
"""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random

from cupel_core.accounts.leases import LeasePool
from cupel_core.accounts.leases.holder import LeaseHolder
from cupel_core.accounts.leases.lease_state import PendingProbes
from cupel_core.domain.limits.worker_capacity import (
    MAX_PENDING,
    AccountProbes,
    WorkerCapacity,
    conversation_mb,
    is_fair,
    probes_of_use,
    probes_to_receive,
)
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS
from cupel_core.runs.probing.caches import RunCache
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.claims import RECHECK_SECONDS, SliceClaimer
from cupel_core.runs.probing.committer import Committer, FinishedProbe
from cupel_core.runs.probing.conversation_calls import ConversationCalls
from cupel_core.runs.probing.heartbeat import Heartbeat
from cupel_core.runs.probing.invocation import (
    MEASURE_SECONDS,
    InvocationTime,
    InvocationTotals,
    LoadMeter,
    OpenConversations,
)
from cupel_core.runs.probing.probe_runner import ProbeRunner
from cupel_core.runs.probing.run_allowances import RunAllowances
from cupel_core.runs.probing.run_judges import RunJudges
from cupel_core.runs.probing.run_pauses import RunPaces, RunPauses, RunSlot
from cupel_core.runs.probing.slice_receiver import SliceReceiver, is_shared
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import settings

_RECEIVE_AGAIN_SECONDS = 0.2
"""The worker receives again after this time if it found nothing useful and still has probes."""
_LOOK_SECONDS = 1.0
"""Slices of other workspaces may wait this long unseen behind those of a workspace of which the worker has enough."""
_LOOK_WHILE_RECEIVING_SECONDS = 5.0
"""Seconds for which slices of other workspaces may wait while the worker receives further slices, because the queue
moves then."""
_MAX_PUT_BACK_SECONDS = 30.0


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
        """Wait up to `receive_wait_seconds` for a message in one receive. `memory_mb` is the memory of the function, to
        which its share of a processor corresponds. None means no limit."""
        self.totals = InvocationTotals()
        self._time = InvocationTime(ends_at, clock)
        self._wake = asyncio.Event()
        self._capacity = WorkerCapacity(memory_mb)
        self._open = OpenConversations(clock)
        self._backlog: deque[ClaimedSlice] = deque()
        self._target_leases: set[LeaseHolder] = set()
        self._next_hand_back = 0.0
        self._received_at = self._saw_end_at = clock()
        """The times when the worker last received what it needed, and last saw the end of the queue."""
        worker_id, rng = uuid.uuid4().hex[:12], Random()  # noqa: S311 - jitter
        self._leases = LeasePool(worker_id, priority, hands_back=True, clock=clock, rng=rng, on_change=self._wake.set)
        self._paces = RunPaces(self._leases, clock, rng, self._wake.set)
        self._allowances = RunAllowances(worker_id, ends_at, clock, on_report=self._wake.set)
        self._pauses = RunPauses(self._allowances, on_end=self._wake.set)
        run_cache = RunCache()
        claimer = SliceClaimer(worker_id, ends_at, run_cache, clock)
        self._heartbeat = Heartbeat(claimer)
        self._committer = Committer(self.totals, self._heartbeat.remove)
        self._runner = ProbeRunner(
            self._time,
            self._heartbeat,
            run_cache,
            self._leases,
            self._allowances,
            self._pauses,
            RunJudges(self._pauses),
            self.totals,
            rng,
        )
        self._receiver = SliceReceiver(
            settings().probe_queue_url(provider, priority),
            receive_wait_seconds,
            claimer,
            self._heartbeat,
            self._committer,
            self._allowances,
            shares=self,
            add_to_backlog=self._add_to_backlog,
            on_receive_end=self._on_receive_end,
            is_shared=partial(is_shared, provider, priority),
        )

    async def run(self, deliveries: Iterable[Delivery]) -> list[Delivery]:
        """Work until the queue is empty or time is short. Return the deliveries that must be redelivered."""
        received = list(deliveries)
        periodic = [
            self._committer.commit_periodically(lambda: self._open_conversations),
            self._heartbeat.beat_periodically(self._committer.acknowledge),
            self._heartbeat.report_periodically(),
        ]
        if self._capacity.memory_mb is not None:
            periodic.append(self._adapt_periodically(LoadMeter(self._capacity.memory_mb)))
        periodic_tasks = [asyncio.create_task(coroutine) for coroutine in periodic]
        async with self._leases, self._allowances:
            try:
                await self._heartbeat.shorten(received)
                await self._receiver.accept(received)
                while not self._is_over():
                    await self._step()
            finally:
                for task in periodic_tasks:
                    task.cancel()
        await self._committer.flush()
        return self._receiver.rejected

    async def _step(self) -> None:
        self._wake.clear()
        if self._time.is_closing:
            self._postpone_backlog()
        else:
            self._start_probes()
            self._receive_if_needed()
        if not self._open_conversations:
            await self._committer.commit()
        if not self._is_idle:
            await self._wait_for_wake()

    @property
    def _is_idle(self) -> bool:
        return not self._open_conversations and not self._backlog and not self._receiver.is_receiving

    def _is_over(self) -> bool:
        return self._is_idle and (self._receiver.is_queue_empty or self._time.is_closing)

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
        """Start probes. Those that cannot run for a while return to the queue, as waiting is billed and others may run
        them."""
        if self._pauses.has_paused(claimed):
            claimed.drop_pending()
            return
        delay_seconds = self._requeue_delay_seconds(claimed, lease_holder)
        if delay_seconds is not None:
            claimed.postpone_all_pending(delay_seconds)
        if not claimed.may_start(self._time.now()):
            return  # Wait until the claim is renewed, or known to be lost.
        for index in tuple(claimed.pending):
            model = claimed.context.model_of(index)
            if lease_holder.is_outdated(model, claimed.context.run.updated_at.timestamp()):
                return  # Wait for the lease's renewal: the provider may be repaired and its runs resumed.
            if (refusal := lease_holder.refusal(model)) is not None:
                self._pauses.pause_refused(claimed, model, refusal)
                return
            if not lease_holder.free_slots or not self._may_open(claimed, index):
                return
            suspended_seconds = lease_holder.suspended_seconds(model)
            if suspended_seconds:
                claimed.postpone_pending(index, suspended_seconds, model)
            elif suspended_seconds is None and not self._start_probe(claimed, index, lease_holder):
                return  # Wait until more of the budget is drawn, or it is known to be exhausted.

    def _requeue_delay_seconds(self, claimed: ClaimedSlice, lease_holder: LeaseHolder) -> float | None:
        if claimed.is_lost:
            return RECHECK_SECONDS
        run = claimed.context.run
        delay_seconds, allowance = lease_holder.requeue_delay_seconds(), self._allowances.of(run)
        if delay_seconds is None:
            delay_seconds = self._paces.requeue_delay_seconds(run)
        return allowance.requeue_delay_seconds() if delay_seconds is None and allowance is not None else delay_seconds

    def _may_open(self, claimed: ClaimedSlice, index: int) -> bool:
        """Return whether the worker has room for the conversation, its run allows it, and its graders have free
        slots."""
        characters, workspace = claimed.context.planned_length(index), claimed.probe_slice.workspace
        own = self._open.of(workspace).plus(0, self._heartbeat.idle_mb(workspace))
        has_room = self._capacity.has_room(self._open.total.plus(0, self._heartbeat.idle_mb()), own, characters)
        is_allowed = has_room and self._paces.may_start(claimed.context.run)
        return is_allowed and not self._leases.is_crowded(workspace)

    @property
    def _open_conversations(self) -> int:
        return self._open.total.conversations

    def _start_probe(self, claimed: ClaimedSlice, index: int, lease_holder: LeaseHolder) -> bool:
        if (calls := self._runner.open_calls(claimed, index, lease_holder)) is None:
            return False
        size_mb = conversation_mb(claimed.context.planned_length(index))
        run_slot = self._paces.start(claimed.context.run, claimed.context.model_of(index))
        claimed.start(index)
        self._open.start(claimed.probe_slice.workspace, size_mb)
        probe = asyncio.create_task(self._runner.run(claimed, index, calls))
        probe.add_done_callback(partial(self._on_probe_done, claimed, index, calls, size_mb, run_slot))
        return True

    def _receive_if_needed(self) -> None:
        """Receive further slices when clearly fewer probes are pending than there are slots, and only enough to fill
        these. Other workers get the remaining ones. Otherwise look for slices of other workspaces."""
        if self._receiver.is_receiving or self._receiver.is_queue_empty:
            return
        room_mb = self._capacity.idle_mb - self._heartbeat.idle_mb()
        if room_mb <= 0 and (self._backlog or self._open_conversations):
            self._hand_paced_slice_back()
            missing = 0
        else:
            accounts = [*self._probes_by_account(), *self._accounts_without_pending()]
            missing = probes_to_receive(accounts, self._capacity.conversations, self._expected_slots)
        now = self._time.now()
        is_idle = now - self._received_at >= _LOOK_SECONDS
        if not missing and now - self._saw_end_at >= (_LOOK_SECONDS if is_idle else _LOOK_WHILE_RECEIVING_SECONDS):
            self._receiver.start_looking()
        elif missing:
            self._received_at = now
            self._receiver.start_receiving(missing, room_mb)

    @property
    def _expected_slots(self) -> int:
        return DEFAULT_PARALLEL_REQUESTS // settings().probe_workers

    def _probes_by_account(self, workspace: str | None = None) -> list[AccountProbes]:
        workers = settings().probe_workers
        return [
            AccountProbes(
                max(1, holder.attainable_slots(workers)),
                sum(len(claimed.pending) for claimed in slices),
                self._paces.startable(slices),
            )
            for holder, slices in self._backlog_by_account().items()
            if workspace in (None, slices[0].probe_slice.workspace)
        ]

    def _accounts_without_pending(self) -> list[AccountProbes]:
        """List the accounts with conversations here whose workspaces have no pending probes. The list is empty if
        nothing is pending."""
        pending = self._backlog_by_account().keys()
        workspaces = {holder.workspace for holder in pending}
        others = (each for each in self._target_leases if each.open_conversations and each.workspace not in workspaces)
        return [AccountProbes(self._expected_slots, 0, 0) for _ in others] if pending else []

    def has_use(self, workspace: str, received: int) -> bool:
        own, idle_mb = self._probes_by_account(workspace), self._heartbeat.idle_mb()
        pending, pending_of_all = sum(each.pending for each in own), sum(len(each.pending) for each in self._backlog)
        if not is_fair(pending + received, pending_of_all + received, MAX_PENDING):
            return False
        has_none = not self._heartbeat.idle_mb(workspace) and not received
        if idle_mb and idle_mb >= self._capacity.idle_mb * (1 + has_none):  # Beyond the limit, each gets one slice.
            return False
        carried = self._open.of(workspace).conversations + self._open.growth_of(workspace, self._capacity.conversations)
        return probes_of_use(own, carried, self._expected_slots) > received

    def put_back_seconds(self, workspace: str) -> float:
        """Return half the time that its pending probes will take to start, judged by as many that have ended."""
        pending = sum(min(each.slots, each.startable) for each in self._probes_by_account(workspace))
        return min(_MAX_PUT_BACK_SECONDS, self._open.seconds_to_end(workspace, pending) / 2)

    def _on_receive_end(self, saw_end: bool) -> None:
        if saw_end:
            self._saw_end_at = self._time.now()
        if self._receiver.is_queue_empty and not self._is_idle:
            asyncio.get_running_loop().call_later(_RECEIVE_AGAIN_SECONDS, self._receive_again)
        self._wake.set()

    def _receive_again(self) -> None:
        self._receiver.forget_empty_receive()
        self._wake.set()

    def _hand_paced_slice_back(self) -> None:
        """Return to the queue the newest slice whose run has no slot for a conversation, so that others can be
        received. This is done seldom, because a returned slice is delivered again."""
        if self._time.now() < self._next_hand_back:
            return
        for claimed in reversed(self._backlog):
            if not claimed.started and not self._paces.has_slot(claimed.context.run):
                self._next_hand_back = self._time.now() + RECHECK_SECONDS
                claimed.postpone_all_pending(RECHECK_SECONDS)
                self._backlog.remove(claimed)
                self._committer.add_ended_slice(claimed)
                return

    def _backlog_by_account(self) -> dict[LeaseHolder, list[ClaimedSlice]]:
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
        by_account = self._backlog_by_account()
        self._target_leases |= by_account.keys()
        conversations = self._capacity.conversations
        room = max(0, conversations - self._open_conversations)
        for holder in self._target_leases:
            slices = by_account.get(holder, [])
            startable = min(self._paces.startable(slices), self._open.growth_of(holder.workspace, conversations))
            holder.pending = PendingProbes(startable, partial(_pending_models, slices))
        self._paces.report_pending(self._backlog, room)
        self._allowances.report_pending(self._backlog, room)

    def _on_probe_done(
        self,
        claimed: ClaimedSlice,
        index: int,
        calls: ConversationCalls,
        size_mb: float,
        run_slot: RunSlot | None,
        probe: "asyncio.Task[Outcome | None]",
    ) -> None:
        self._open.end(claimed.probe_slice.workspace, size_mb)
        calls.end()
        if run_slot is not None:
            run_slot.release()
        self._lease_holder_of(claimed).end_conversation()
        # A probe is cancelled when the process ends. It has no outcome, and is delivered again.
        if not probe.cancelled():
            self._committer.add(FinishedProbe(claimed, index, probe.result()))
        self._wake.set()

    def _postpone_backlog(self) -> None:
        for claimed in self._backlog:
            claimed.postpone_all_pending(0.0)
            if claimed.is_done:
                self._committer.add_ended_slice(claimed)
        self._backlog.clear()
        self._report_pending_probes()

    async def _adapt_periodically(self, meter: LoadMeter) -> None:
        while True:
            await asyncio.sleep(MEASURE_SECONDS)
            self._capacity = self._capacity.after(meter.measure(), self._open_conversations)
            self._wake.set()


def _pending_models(slices: Sequence[ClaimedSlice]) -> frozenset[str]:
    return frozenset(claimed.context.model_of(index) for claimed in slices for index in claimed.pending)
