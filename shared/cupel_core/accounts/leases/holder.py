"""A worker's lease on part of an account's limits, which decides which calls may start, and its renewal.

Every call of a model uses a slot of its account's lease while it runs, whether it is a target's, a judge's or another
grader's. Calls that find no free slot wait in order. Conversations use no slot between their calls, so that one that
waits for an account never blocks another account. Waiting calls take precedence, so a conversation starts only when a
slot is free and no call waits.

No request is made per model call. A lease is renewed when a slice arrives and every one to three seconds after that
(`renewal_schedule.py`), or less often when there are many workers. In between, the worker relies on its grant, on the
part of the rates that it was lent, and on its own observations. A lease that is not renewed expires.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cupel_core.accounts.leases.lease_state import CROWDED_DELAY_SECONDS, MAX_DELAY_SECONDS, LeaseState
from cupel_core.accounts.leases.renewal_schedule import LeaseUse
from cupel_core.accounts.leases.waiting_calls import WaitingCall
from cupel_core.base.errors import RetryableError
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import Breaker, CallRecord
from cupel_core.domain.limits.governor import WorkerReport, breakers_after_calls
from cupel_core.domain.limits.provider_errors import Remedy
from cupel_core.domain.limits.throttling import RecentCalls
from cupel_core.providers.call_guard import Answer, BeforeCall, OnAnswer, allow_call
from cupel_core.providers.errors import CallPostponed, CallPrevented, ModelRefused, ParameterRejected, ProviderError
from cupel_core.store import governor as store
from cupel_core.store.clients import AWS_ERRORS

_SMOOTHING_FACTOR = 0.1


def _refused(call: WaitingCall, reason: str, retry_after_seconds: float) -> ProviderError | ModelRefused:
    if call.patient:
        return ProviderError(ProbeErrorCode.INVALID_REQUEST, reason, final=True)
    return ModelRefused(call.model, reason, retry_after_seconds)


class Reservation:
    """Lets a conversation make its first call at once, in a slot that was free when the conversation started."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release
        self.is_held = True

    def use(self) -> None:
        """Pass the slot to a call, which releases it."""
        self.is_held = False

    def release(self) -> None:
        """Release the slot if no call has used it."""
        if self.is_held:
            self.is_held = False
            self._release()


class LeaseHolder(LeaseState):
    def start_conversation(self, model: str) -> Reservation:
        """Start a conversation, for which a slot must be free. The slot is reserved for its first call."""
        self.open_conversations += 1
        self._take_slot(model)
        return Reservation(lambda: self._release_unused_slot(model))

    def end_conversation(self) -> None:
        self.open_conversations -= 1

    @asynccontextmanager
    async def slot(
        self,
        model: str,
        max_wait_seconds: float,
        before_call: BeforeCall = allow_call,
        *,
        patient: bool = False,
        reservation: Reservation | None = None,
    ) -> AsyncIterator[OnAnswer]:
        """Wait for a slot, use it during one attempt of a call, and record how the attempt ends.

        `before_call` is awaited when the slot is free. If the account is paused or the lease expires meanwhile,
        CallPostponed is raised, as it is if no slot is free in time. Unless `patient`, it is also raised as soon as it
        is clear that there will be none soon. For a model that refuses every call, ModelRefused is raised, or if
        `patient` a ProviderError, because waiting would be in vain.
        """
        if reservation is not None and reservation.is_held:
            reservation.use()
        else:
            await self._acquire(model, max_wait_seconds, patient)
        answers: list[Answer] = []
        started_at = self._clock()
        try:
            await before_call()
            self.postpone_if_closed()
            yield answers.append
        except ParameterRejected:  # This is no failure of the model, which is called again without the parameter.
            raise
        except (CallPrevented, CallPostponed):
            self._return_attempt(model)
            raise
        except ProviderError as error:
            wait_seconds = error.retry_after_seconds or 0.0
            if error.repair is Remedy.OWNER:
                is_limit = error.code is ProbeErrorCode.RATE_LIMITED
                error.is_handed_back = self._key.hands_back and (is_limit or model in self._answers)
            self._record_call(
                CallRecord(
                    model,
                    error.code,
                    started_at,
                    error.detail,
                    error.is_quoting,
                    error.repair,
                    wait_seconds,
                    self.in_flight - 1 + self._answered_lately(model),
                )
            )
            raise
        else:
            for answer in answers:
                self._answers[model] = self._answers.get(model, RecentCalls()).with_calls(1, 0, self._clock())
                self._record_call(CallRecord(model, None, started_at))
                self._record_usage(model, answer)
        finally:
            self._release_slot()

    def postpone_if_closed(self) -> None:
        """Raise CallPostponed if the account was paused, or the lease has expired, since a call took its slot."""
        lease = self._lease
        if lease is None or not self._is_current(lease) or self._governor.paused_at is not None:
            raise CallPostponed(self._key.name, self._closed_seconds() or self._with_jitter(CROWDED_DELAY_SECONDS))

    async def _acquire(self, model: str, max_wait_seconds: float, patient: bool) -> None:
        self._used_at = self._clock()
        if not self._waiting and self.free_slots and self.suspended_seconds(model) is None:
            self._take_slot(model)
            return
        self._peak = max(self._peak, self.in_flight + len(self._waiting) + 1)
        with self._waiting.add(model, patient) as call:
            self.serve_waiting_calls()
            try:
                async with asyncio.timeout(max_wait_seconds):
                    await asyncio.shield(call.turn)
            except TimeoutError:
                if not call.has_slot:
                    raise CallPostponed(self._key.name, self._with_jitter(CROWDED_DELAY_SECONDS)) from None
            except asyncio.CancelledError:
                if call.has_slot:
                    self._release_unused_slot(model)
                raise

    def serve_waiting_calls(self) -> None:
        """Start waiting calls in their order while slots are free. Postpone those that cannot start soon."""
        closed_seconds = self._closed_seconds() if self._waiting else None
        may_postpone = closed_seconds is not None or any(map(self._is_open, self._waiting.models))
        for call in self._waiting:
            if not may_postpone and not self.free_slots:
                return
            suspended_seconds = self.suspended_seconds(call.model)
            postponed_seconds = closed_seconds or suspended_seconds
            if (refusal := self.refusal(call.model)) is not None:
                self._waiting.postpone(call, _refused(call, refusal, suspended_seconds or 0.0))
            elif postponed_seconds and not call.patient:
                self._waiting.postpone(call, CallPostponed(self._key.name, postponed_seconds))
            elif suspended_seconds is None and self.free_slots:
                self._waiting.start(call)
                self._take_slot(call.model)

    def _take_slot(self, model: str) -> None:
        self.in_flight += 1
        self._used_at = self._clock()
        self._peak = max(self._peak, self.in_flight + len(self._waiting))
        self._observations.attempts += 1
        breaker = self._breakers.get(model)
        if breaker is not None and breaker.is_open:
            self._used_trials.add((model, breaker.opened_at))

    def _release_unused_slot(self, model: str) -> None:
        self._return_attempt(model)
        self._release_slot()

    def _return_attempt(self, model: str) -> None:
        """Undo an attempt that made no call. It counts neither for the rates nor as the trial of a suspended model."""
        self._observations.attempts -= 1
        if (breaker := self._breakers.get(model)) is not None:
            self._used_trials.discard((model, breaker.opened_at))

    def _release_slot(self) -> None:
        self.in_flight -= 1
        self._used_at = self._clock()
        self.serve_waiting_calls()

    def _record_call(self, call: CallRecord) -> None:
        now = self._clock()
        self._observations.calls.append(call)
        before = self._breakers.get(call.model)
        if call.code is not None or call.model in self._breakers:
            self._breakers = breakers_after_calls(self._breakers, [call], now)
        after = self._breakers.get(call.model)
        self._schedule.is_urgent |= (before and before.opened_at) != (after and after.opened_at)

    def _is_open(self, model: str) -> bool:
        return model in self._breakers and self._breakers[model].is_open

    def _answered_lately(self, model: str) -> int:
        return round(self._answers.get(model, RecentCalls()).with_calls(0, 0, self._clock()).calls)

    def _record_usage(self, model: str, answer: Answer) -> None:
        if answer.usage is not None:
            self._observations.tokens += answer.usage.total
            self._tokens_per_call += _SMOOTHING_FACTOR * (answer.usage.total - self._tokens_per_call)
        if answer.exhausted_allowance is not None:
            now = self._clock()
            until = now + min(MAX_DELAY_SECONDS, answer.exhausted_allowance.wait_seconds)
            self._observations.exhausted[model] = max(self._observations.exhausted.get(model, 0.0), until)
            self._breakers[model] = self._breakers.get(model, Breaker()).exhausted(until, now)
            self._schedule.is_urgent = True

    @property
    def is_renewal_due(self) -> bool:
        if self._renewal is not None and not self._renewal.done():
            return False
        demand = self.demand
        waits_for_rate = demand > self.in_flight < self.granted_slots and not self.free_slots and not self._is_blocked
        use = LeaseUse(demand, self.in_flight, self._is_blocked, waits_for_rate)
        return self._schedule.is_due(self._governor, self.limits.parallel, use, self._clock())

    def renew(self) -> "asyncio.Task[None]":
        report = self._report(self.demand, self.pending.models() | self._waiting.models)
        self._schedule.start(report.demand, self._clock())
        self._unconfirmed_in_flight = report.in_flight
        self._peak = self.in_flight + len(self._waiting)
        self._renewal = asyncio.ensure_future(self._renew(report))
        return self._renewal

    async def _renew(self, report: WorkerReport) -> None:
        """Send a report. One that may not have arrived is repeated with the next one."""
        key, started_at = self._key, self._schedule.started_at
        try:
            self._stored = await asyncio.to_thread(
                store.renew, key.workspace, key.limited, self.limits, report, started_at, self._stored
            )
        except (*AWS_ERRORS, RetryableError):
            self._schedule.fail()
            return
        self._unconfirmed_in_flight, self._informed_at = None, started_at
        self._observations.discard(len(report.calls), report.attempts, report.tokens)
        self._breakers = breakers_after_calls(self._governor.breakers, self._observations.calls, self._clock())
        self._schedule.succeed(self._governor, self.limits.parallel)
        self.serve_waiting_calls()

    async def leave(self) -> None:
        """Release the lease, so that no worker waits for it to expire."""
        if self._renewal is not None:
            await self._renewal
        report, key = self._report(0, frozenset()), self._key
        try:
            await asyncio.to_thread(
                store.leave, key.workspace, key.limited, self.limits, report, self._clock(), self._stored
            )
        except (*AWS_ERRORS, RetryableError):
            return

    def _report(self, demand: int, models: frozenset[str]) -> WorkerReport:
        observed = self._observations
        return WorkerReport(
            worker_id=self._key.worker_id,
            priority=self._key.priority,
            demand=demand,
            in_flight=self.in_flight,
            calls=tuple(observed.calls),
            attempts=observed.attempts,
            tokens=observed.tokens,
            exhausted={model: until for model, until in observed.exhausted.items() if until > self._clock()},
            models=models,
            is_interactive=self._key.is_interactive,
        )
