"""Holds a worker's lease on part of an account's limits, which decides which calls may start, and renews it.

Every call of a model holds a slot of its account's lease while it runs, whether it is a target's, a judge's or another
grader's. Calls that find no free slot wait in order. Conversations hold no slot between their calls, so that one that
waits for an account never blocks another account; and because waiting calls come first, a conversation starts only when
a slot is free and no call waits.

No request is made per model call. A lease is renewed when a slice arrives and every one to three seconds after that
(`renewal_schedule.py`), or less often when there are many workers. In between, the worker relies on its grant, on the
part of the rates that it was lent, and on its own observations. A lease that is not renewed expires.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil
from random import Random

from cupel_core.accounts.leases.observations import Observations
from cupel_core.accounts.leases.renewal_schedule import LeaseUse, RenewalSchedule
from cupel_core.accounts.leases.waiting_calls import WaitingCall, WaitingCalls
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import Breaker, CallRecord
from cupel_core.domain.limits.governor import (
    Governor,
    Limits,
    WorkerLease,
    WorkerReport,
    breakers_after_calls,
)
from cupel_core.domain.limits.provider_errors import Remedy
from cupel_core.domain.limits.throttling import RecentCalls
from cupel_core.domain.limits.worker_capacity import MAX_CALLS
from cupel_core.domain.runs.run import Priority
from cupel_core.providers.call_guard import Answer, BeforeCall, OnAnswer, allow_call
from cupel_core.providers.errors import CallPostponed, CallPrevented, ModelRefused, ParameterRejected, ProviderError
from cupel_core.store import governor as store
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.governor import StoredGovernor

MAX_WAIT_SECONDS = 3.0
"""Probes that must wait longer go back to the queue."""
MAX_INFORMATION_AGE_SECONDS = 5.0
"""A worker that has not heard of the governor for longer starts no call: the account may have been paused."""
RECENT_SECONDS = 5.0
"""An account counts as used for this many seconds after its last call."""
MIN_HEADROOM = 2
MIN_CROWD = 10
"""Up to this many waiting calls do not keep conversations from starting, however few slots are granted."""
MAX_STARVED_SECONDS = 5.0
"""A worker that may start nothing for longer requeues its probes."""
CROWDED_DELAY_SECONDS = 2.0
"""Probes are requeued for this long when an account has more workers of one priority than parallel calls."""
OUTRANKED_DELAY_SECONDS = 10.0
"""A worker of a lower priority checks again after this long whether a higher one leaves capacity."""
MIN_PAUSE_DELAY_SECONDS = 5.0
MAX_DELAY_SECONDS = 900.0
_INITIAL_TOKENS_PER_CALL = 1_000.0
_SMOOTHING_FACTOR = 0.1


@dataclass(frozen=True)
class LeaseKey:
    """Identifies a lease: its worker, and the account or the run that it is on."""

    workspace: str
    limited: str | RunRef
    """It is the provider of an account, or a run, whose slots are conversations."""
    worker_id: str
    priority: Priority
    is_interactive: bool = False
    """It is true if a person waits for the calls."""
    hands_back: bool = False
    """It is true if calls that only the owner of the account can repair are made again later."""

    @property
    def name(self) -> str:
        return self.limited.run_id if isinstance(self.limited, RunRef) else self.limited


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
        """The slot passes to a call, which releases it."""
        self.is_held = False

    def release(self) -> None:
        """Give the slot back if no call has used it."""
        if self.is_held:
            self.is_held = False
            self._release()


@dataclass
class PendingProbes:
    """Counts the probes that have not started, and lists their models, one of which may be a breaker's trial.

    Their number is needed at once, their models only with a report.
    """

    count: int = 0
    models: Callable[[], frozenset[str]] = frozenset


class LeaseHolder:
    """Holds one worker's lease on one account."""

    def __init__(self, key: LeaseKey, clock: Callable[[], float] = time.time, rng: Random | None = None) -> None:
        self.in_flight = 0
        """It counts the slots of calls, and those reserved by conversations that make their first call."""
        self.open_conversations = 0
        """It counts the conversations with this account that have started and not ended."""
        self.pending = PendingProbes()
        self.limits = Limits(1)
        """They are replaced by the account's configured limits when these are known."""
        self._key = key
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 - jitter
        self._waiting = WaitingCalls()
        self._peak = 0
        """It is the highest number of calls in flight or waiting at the same time since the last report."""
        self._used_at = float("-inf")
        self._stored: StoredGovernor | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._schedule = RenewalSchedule(key.worker_id)
        self._informed_at = float("-inf")
        self._unconfirmed_in_flight: int | None = None
        """The last report named this many calls in flight, and it is uncertain whether it arrived; other workers leave
        at least that much capacity."""
        self._starved_since: float | None = None
        self._observations = Observations()
        self._breakers: dict[str, Breaker] = {}
        self._used_trials: set[tuple[str, float | None]] = set()
        self._answers: dict[str, RecentCalls] = {}
        """It counts, by model, the calls of this worker that were answered recently."""
        self._tokens_per_call = _INITIAL_TOKENS_PER_CALL

    @property
    def workspace(self) -> str:
        return self._key.workspace

    @property
    def _governor(self) -> Governor:
        return self._stored.value if self._stored else Governor()

    @property
    def _lease(self) -> WorkerLease | None:
        return self._governor.leases.get(self._key.worker_id)

    @property
    def granted_slots(self) -> int:
        """Return how many calls may be in flight at the same time."""
        lease = self._lease
        if lease is None or not self._is_current(lease):
            return 0
        unconfirmed = self._unconfirmed_in_flight
        return lease.granted if unconfirmed is None else min(lease.granted, unconfirmed)

    def _is_current(self, lease: WorkerLease) -> bool:
        now = self._clock()
        return now < lease.until and now < self._informed_at + MAX_INFORMATION_AGE_SECONDS

    def attainable_slots(self, workers: int) -> int:
        """Return how many calls may be in flight if there are probes for them and `workers` workers share the account.

        These are more than are granted if the last report got all that it asked for.
        """
        lease, granted = self._lease, self.granted_slots
        if lease is None or not granted or granted < lease.demand:
            return granted
        return max(granted, min(MAX_CALLS, self.limits.parallel // workers))

    @property
    def free_slots(self) -> int:
        """Return how many calls may start now."""
        lease = self._lease
        if lease is None or self._is_blocked:
            return 0
        free = self.granted_slots - self.in_flight
        if lease.requests is not None:
            free = min(free, lease.requests - self._observations.attempts)
        if lease.tokens is not None:
            tokens_left = lease.tokens - self._observations.tokens - self.in_flight * self._tokens_per_call
            free = min(free, ceil(tokens_left / max(1.0, self._tokens_per_call)))
        return max(0, free)

    @property
    def waiting_calls(self) -> int:
        return len(self._waiting)

    @property
    def is_crowded(self) -> bool:
        """Return whether so many calls wait that a further one would wait for a good part of a call's duration."""
        return self.waiting_calls > max(MIN_CROWD, self.granted_slots // 4)

    @property
    def _is_blocked(self) -> bool:
        """Return whether the account starts no calls at all, because it is paused or its provider asked to wait."""
        return self._governor.paused_at is not None or self._blocked_until > self._clock()

    @property
    def _blocked_until(self) -> float:
        return self._governor.blocked_until

    def requeue_delay_seconds(self) -> float | None:
        """Return the seconds until all pending probes should be redelivered; None if they may start or should wait."""
        now, delay_seconds = self._clock(), self._closed_seconds()
        if delay_seconds is not None:
            return delay_seconds
        if self.in_flight or self.open_conversations or self.free_slots:
            self._starved_since = None
            return None
        if (refill := self._refill_seconds(now)) > MAX_WAIT_SECONDS:
            return self._with_jitter(refill)
        return self._starved_delay_seconds(now)

    def _closed_seconds(self) -> float | None:
        """Return the seconds for which no call may start at all, or None if one may start soon."""
        now, lease = self._clock(), self._lease
        if (paused_at := self._governor.paused_at) is not None:
            # A recent pause may end soon; one of several days is checked rarely.
            return self._with_jitter(max(MIN_PAUSE_DELAY_SECONDS, (now - paused_at) / 4))
        if self._blocked_until - now > MAX_WAIT_SECONDS:
            return self._with_jitter(self._blocked_until - now)
        if lease is not None and lease.demand and not lease.share and self._is_outranked(now):
            return self._with_jitter(OUTRANKED_DELAY_SECONDS)
        return None

    def _starved_delay_seconds(self, now: float) -> float | None:
        """A starved worker keeps its slices for a while: requeuing all of them would only hide them from others."""
        self._starved_since = self._starved_since or now
        if now - self._starved_since <= MAX_STARVED_SECONDS:
            return None
        self._starved_since = None
        return CROWDED_DELAY_SECONDS

    def _with_jitter(self, seconds: float) -> float:
        return min(MAX_DELAY_SECONDS, seconds + self._rng.uniform(0, CROWDED_DELAY_SECONDS))

    def _is_outranked(self, now: float) -> bool:
        own = self._key.priority.rank
        return any(lease.demand and lease.priority.rank < own for lease in self._governor.live_leases(now).values())

    def _refill_seconds(self, now: float) -> float:
        """Return the seconds until the account's rates allow another call."""
        lease, governor, waits = self._lease, self._governor, [0.0]
        if lease and governor.requests and self.limits.requests_per_minute and not lease.requests:
            due = governor.requests.at + governor.requests.seconds_until(1, self.limits.requests_per_minute)
            waits.append(due - now)
        if lease and governor.tokens and self.limits.tokens_per_minute and not lease.tokens:
            due = governor.tokens.at + governor.tokens.seconds_until(1, self.limits.tokens_per_minute)
            waits.append(due - now)
        return max(waits)

    def is_outdated(self, model: str, changed_at: float) -> bool:
        """Return whether the model's breaker may have closed at this Unix time, which the next renewal will show."""
        breaker = self._breakers.get(model)
        return breaker is not None and (breaker.opened_at or changed_at) < changed_at >= self._informed_at

    def refusal(self, model: str) -> str | None:
        """Return why runs that call the model must be paused, or None if it may be called or tried."""
        breaker = self._breakers.get(model)
        return breaker.reason if breaker and breaker.is_refusing and self._clock() < breaker.until else None

    def suspended_seconds(self, model: str) -> float | None:
        """Return the seconds that a probe of this model must wait: None if it may start, 0 until the next renewal."""
        breaker, now = self._breakers.get(model), self._clock()
        if breaker is None or not breaker.is_open:
            return None
        if now >= breaker.until:
            if breaker.trial_of == self._key.worker_id and (model, breaker.opened_at) not in self._used_trials:
                return None
            if breaker.trial_of is None or now >= breaker.trial_until:
                return 0.0
        return self._with_jitter(breaker.suspended_seconds(now))

    def start_conversation(self, model: str) -> Reservation:
        """Start a conversation, for which a slot must be free; the slot is reserved for its first call."""
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
        """Wait for a slot, hold it during one attempt of a call, and record how the attempt ends.

        `before_call` is asked when the slot is free. If it takes long, the account may be paused or the lease expire
        meanwhile, which raises CallPostponed. So does having no slot in time; unless `patient`, also as soon as it is
        clear that there will be none soon. For a model that refuses every call it raises ModelRefused, or if `patient`
        a ProviderError: whoever waits patiently would wait in vain.
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
        except ParameterRejected:  # Not a failure of the model: it is called again without the parameter.
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
        """Let waiting calls start as far as slots are free, in their order; postpone those that cannot start soon."""
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
        """No call was made: it counts neither for the rates nor as the trial of a suspended model."""
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
    def demand(self) -> int:
        """Return how many calls could be in flight until the next report.

        Conversations with the account may all call it again. Otherwise it is used for grading, and the demand follows
        the calls of the last seconds.
        """
        used = self.in_flight + len(self._waiting)
        if self.open_conversations or self.pending.count:
            return min(MAX_CALLS, max(used, self.open_conversations) + self.pending.count)
        if not used and self._clock() - self._used_at > RECENT_SECONDS:
            return 0
        return min(MAX_CALLS, max(used, self._peak) + max(MIN_HEADROOM, self._peak // 2))

    @property
    def is_renewal_due(self) -> bool:
        if self._renewal is not None and not self._renewal.done():
            return False
        demand = self.demand
        waits_for_rate = demand > self.in_flight < self.granted_slots and not self.free_slots and not self._is_blocked
        use = LeaseUse(demand, self.in_flight, self._is_blocked, waits_for_rate)
        return self._schedule.is_due(self._governor, self.limits.parallel, use, self._clock())

    def renew(self) -> "asyncio.Task[None]":
        """Start a report to the governor."""
        report = self._report(self.demand, self.pending.models() | self._waiting.models)
        self._schedule.start(report.demand, self._clock())
        self._unconfirmed_in_flight = report.in_flight
        self._peak = self.in_flight + len(self._waiting)
        self._renewal = asyncio.ensure_future(self._renew(report))
        return self._renewal

    async def _renew(self, report: WorkerReport) -> None:
        """A report that may not have arrived is repeated with the next one."""
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
        """Give the lease back, so that nobody waits for it to expire."""
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
