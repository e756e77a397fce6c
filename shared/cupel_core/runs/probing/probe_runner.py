"""The execution of a probe: its conversation ends with an outcome, or the probe is postponed or dropped.

Before each attempt of a call, the run is checked again, by a copy that is at most 3 s old. A conversation whose next
call may not start is postponed: its probe returns to the queue with its checkpoint, in one new message per reason,
which does not count as a failed delivery. A wait that a provider asks for does not count as an attempt.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from math import inf
from random import Random

from cupel_core.accounts.leases import LeasePool
from cupel_core.accounts.leases.holder import LeaseHolder
from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.conversations.outcomes import probe_error
from cupel_core.conversations.runner import run_conversation
from cupel_core.conversations.turn import CalledTarget, Halted
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.providers.errors import CallPostponed, ModelRefused, ProviderError, RetryLater
from cupel_core.runs.probing.caches import RunCache, WorkspaceFiles
from cupel_core.runs.probing.claimed_slice import INTERNAL_ERROR, RETRY_LATER, ClaimedSlice
from cupel_core.runs.probing.claims import RECHECK_SECONDS
from cupel_core.runs.probing.committer import retry_delay_seconds
from cupel_core.runs.probing.conversation_calls import ConversationCalls
from cupel_core.runs.probing.heartbeat import Heartbeat
from cupel_core.runs.probing.invocation import InvocationTime, InvocationTotals
from cupel_core.runs.probing.run_allowances import RunAllowances
from cupel_core.runs.probing.run_judges import RunJudges
from cupel_core.runs.probing.run_pauses import RunPauses
from cupel_core.runs.record_outcomes import conversation_so_far
from cupel_core.store import checkpoints
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.settings import settings

MAX_FAILURES = 5
"""After this many internal errors in a row, a probe ends with the last one."""
OUTDATED_DELAY_SECONDS = 2
"""A model whose breaker was perhaps closed since the worker read it is tried again after this delay."""
MAX_HANDOFFS = 100
"""After this many requeues, a probe ends with the provider's error.

It is requeued while the provider asks its calls to wait but answers other calls. Each requeue is a wait of at least 20
s.
"""


@dataclass
class ProbeRunner:
    time: InvocationTime
    heartbeat: Heartbeat
    run_cache: RunCache
    leases: LeasePool
    allowances: RunAllowances
    pauses: RunPauses
    judges: RunJudges
    totals: InvocationTotals
    rng: Random

    def open_calls(self, claimed: ClaimedSlice, index: int, lease_holder: LeaseHolder) -> ConversationCalls | None:
        """Return the calls of a conversation that starts now, or None if the run's budget does not allow the first
        one."""
        allowance, opening = self.allowances.of(claimed.context.run), None
        if allowance is not None:
            bound = claimed.context.opening_bound(index)
            if allowance.exhausted is not None and allowance.is_exhausted_for(bound):
                self.pauses.pause_exhausted(claimed, allowance.exhausted, bound)
                return None
            if (opening := allowance.start_conversation(bound)) is None:
                return None
        reservation = lease_holder.start_conversation(claimed.context.model_of(index))
        before_call = partial(self.raise_if_halted, claimed)
        workspace = claimed.probe_slice.workspace
        was_interrupted = claimed.probe_slice.fencing_token > 1
        return ConversationCalls(self.leases, workspace, reservation, before_call, allowance, opening, was_interrupted)

    async def run(self, claimed: ClaimedSlice, index: int, calls: ConversationCalls) -> Outcome | None:
        """Run a probe and return its outcome, or None if it was postponed or dropped. The slice has the reason."""
        started_at = utc_now()
        try:
            outcome = await self._run(claimed, index, calls, started_at)
        except Exception as error:  # noqa: BLE001 - whatever it is, the probe is requeued or ends with it
            return await _requeue_or_give_up(claimed, index, error, started_at)
        if outcome is not None:
            await self.judges.note(claimed, outcome)
        return outcome

    async def raise_if_halted(self, claimed: ClaimedSlice) -> None:
        """Raise Halted if no call of the slice may start now. An expired claim is renewed first."""
        if not claimed.may_start(self.time.now()):
            await self.heartbeat.renew(claimed)
        if self.time.is_closing or not claimed.may_start(self.time.now()):
            raise Halted
        probe_slice = claimed.probe_slice
        run = await self.run_cache.get_open_run(probe_slice.run, probe_slice.fencing_token)
        if run is None:
            raise Halted
        self.allowances.of(run)  # Its budget may have been raised or lowered.

    async def _run(
        self, claimed: ClaimedSlice, index: int, calls: ConversationCalls, started_at: datetime
    ) -> Outcome | None:
        model, target = claimed.context.model_of(index), self._target(claimed, index, calls)
        graders = claimed.context.graders(calls, self.rng, self.time.call_timeout_seconds)
        is_resumed = claimed.begin(index)
        spec = claimed.context.conversation_spec(index, claimed.rounds[index], graders, is_resumed=is_resumed)
        checkpoints = TableCheckpoints(claimed.probe_slice.run, index, claimed.rounds[index])
        claimed.logs[index] = graders.log
        try:
            async with asyncio.timeout(self.time.remaining_seconds):
                outcome = await run_conversation(spec, target, checkpoints, utc_now, settings().retention)
        except RetryLater as wait:
            if claimed.probe_slice.handoffs >= MAX_HANDOFFS:
                state = await checkpoints.load() or ConversationState((), started_at=started_at)
                return probe_error(spec, model, wait, utc_now(), settings().retention, state)
            claimed.postpone(index, wait.retry_after_seconds, RETRY_LATER)
        except ModelRefused as refused:
            await self._pause_refused_or_postpone(claimed, index, refused)
        except BudgetShortage as shortage:
            await self._pause_exhausted_or_postpone(claimed, index, shortage)
        except CallPostponed as wait:
            claimed.postpone(index, wait.retry_after_seconds, wait.provider)
        except TimeoutError:
            claimed.postpone(index, 0.0)
        except Halted:
            self._settle_halted(claimed, index)
        else:
            if graders.log.first_call_at is not None:
                claimed.ended[index] = graders.log.first_call_at
            return outcome
        finally:
            claimed.logs.pop(index, None)
        return None

    def _target(self, claimed: ClaimedSlice, index: int, calls: ConversationCalls) -> CalledTarget:
        model = claimed.context.model_of(index)
        account, limits = claimed.context.account_of(model), claimed.context.call_limits(index)
        return CalledTarget(
            account=account,
            model=model,
            call_timeout_seconds=min(self.time.call_timeout_seconds, limits.timeout_seconds or inf),
            max_attempts=limits.max_attempts or MAX_ATTEMPTS,
            retry_delay_seconds=claimed.context.run.retry_delay_seconds,
            rng=self.rng,
            on_retry=self._on_retry,
            guard=partial(calls.target_slot, account, model),
            attempt=calls.attempt,
            files=WorkspaceFiles(claimed.probe_slice.workspace),
        )

    def _on_retry(self, error: ProviderError, wait_seconds: float) -> None:
        del wait_seconds
        self.totals.add_retry(error.code)

    async def _pause_refused_or_postpone(self, claimed: ClaimedSlice, index: int, refused: ModelRefused) -> None:
        """Pause the run of a probe whose judge or other model refuses every call. A resumed run continues the probe.
        The probe is postponed instead if the refusal may be outdated."""
        account = claimed.context.account_with(refused.model)
        holder = self.leases.lease_holder(claimed.probe_slice.workspace, account)
        if holder.is_outdated(refused.model, claimed.context.run.updated_at.timestamp()):
            claimed.postpone(index, OUTDATED_DELAY_SECONDS, refused.model)
            return
        pausing = self.pauses.pause_refused(claimed, refused.model, refused.reason)
        await _settle_after_pause(pausing, claimed, index, refused.retry_after_seconds, refused.model)

    async def _pause_exhausted_or_postpone(self, claimed: ClaimedSlice, index: int, shortage: BudgetShortage) -> None:
        """Pause the run if its budget is used up. Otherwise postpone the probe, whose next call the budget does not
        allow now."""
        if shortage.exhausted is None:
            claimed.postpone(index, shortage.retry_after_seconds, shortage.provider)
            return
        pausing = self.pauses.pause_exhausted(claimed, shortage.exhausted, shortage.needed)
        await _settle_after_pause(pausing, claimed, index, shortage.retry_after_seconds, shortage.provider)

    def _settle_halted(self, claimed: ClaimedSlice, index: int) -> None:
        if self.time.is_closing:
            claimed.postpone(index, 0.0)
        elif not claimed.may_start(self.time.now()):
            claimed.postpone(index, RECHECK_SECONDS)
        else:
            claimed.is_dropped = True


async def _settle_after_pause(
    pausing: "asyncio.Task[None]", claimed: ClaimedSlice, index: int, delay_seconds: float, reason: str
) -> None:
    """Drop the probe once its run is paused. Postpone it if the run could not be paused."""
    try:
        await pausing
    except (RetryableError, *AWS_ERRORS):
        claimed.postpone(index, delay_seconds, reason)
    else:
        claimed.is_dropped = True


async def _requeue_or_give_up(
    claimed: ClaimedSlice, index: int, error: Exception, started_at: datetime
) -> Outcome | None:
    """Requeue a probe alone after an internal error. After `MAX_FAILURES`, return an errored outcome."""
    failures = claimed.probe_slice.failures + 1
    if failures >= MAX_FAILURES:
        with suppress(*AWS_ERRORS):  # It is requeued once more if its cost cannot be read.
            state = await asyncio.to_thread(
                conversation_so_far, claimed.probe_slice.run, index, claimed.rounds[index], utc_now()
            )
            state = replace(state, started_at=state.started_at or started_at)
            message = f"{type(error).__name__}: {error}"
            return claimed.context.internal_error(index, message, failures, utc_now(), state)
    claimed.postpone(index, retry_delay_seconds(min(failures, MAX_FAILURES)), INTERNAL_ERROR)
    return None


@dataclass(frozen=True)
class TableCheckpoints:
    ref: RunRef
    index: int
    retry_round: int

    async def load(self) -> ConversationState | None:
        return await asyncio.to_thread(checkpoints.load, self.ref, self.index, self.retry_round, utc_now())

    async def save(self, state: ConversationState) -> None:
        await asyncio.to_thread(checkpoints.save, self.ref, self.index, self.retry_round, state, utc_now())
