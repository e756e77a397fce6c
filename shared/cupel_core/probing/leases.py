"""A worker's lease on part of what an account allows: what it may start now, and what it reports to the governor.

No request is made per model call. A lease is renewed when a slice arrives and every two seconds after that, or less
often when there are many workers. In between, the worker relies on its grant, on the part of the rates that it was
lent, and on its own observations. A lease that is not renewed expires.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil
from random import Random

from cupel_core.domain.limits.breaker import Breaker, CallRecord
from cupel_core.domain.limits.governor import (
    Governor,
    Limits,
    WorkerLease,
    WorkerReport,
    breakers_after_calls,
    min_renew_interval_seconds,
    renew_interval_seconds,
)
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.turns.model_request import ModelRequest, Reply
from cupel_core.errors import RetryableError
from cupel_core.probing.observations import Observations
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.errors import ParameterRejected, ProviderError
from cupel_core.store import governor as store
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.governor import StoredGovernor

RATE_RENEW_INTERVAL_SECONDS = 1.0
"""While only the rates prevent further calls."""
MAX_WAIT_SECONDS = 3.0
"""Probes that must wait longer go back to the queue."""
MAX_STARVED_SECONDS = 5.0
"""A worker that may start nothing for longer requeues its probes."""
CROWDED_DELAY_SECONDS = 2.0
"""When an account has more workers of one priority than parallel calls."""
OUTRANKED_DELAY_SECONDS = 10.0
"""After which a lower priority checks again whether a higher one leaves capacity."""
MIN_PAUSE_DELAY_SECONDS = 5.0
MAX_DELAY_SECONDS = 900.0
_INITIAL_TOKENS_PER_CALL = 1_000.0
_SMOOTHING_FACTOR = 0.1
_MAX_POLLS = 4
_RANKS = {Priority.HIGH: 0, Priority.NORMAL: 1, Priority.LOW: 2}


@dataclass(frozen=True)
class LeaseKey:
    """Identifies a lease: its worker and its account."""

    workspace: str
    provider: str
    worker_id: str
    priority: Priority


class LeaseHolder:
    """One worker's lease on one account. Calls are made through the attempt that `start_conversation` returns, which
    observes them."""

    def __init__(
        self,
        key: LeaseKey,
        clock: Callable[[], float] = time.time,
        rng: Random | None = None,
        call: Attempt = complete,
    ) -> None:
        self.running = 0
        """Conversations that have started and not ended."""
        self.limits = Limits(1)
        """The account's configured limits, as far as known."""
        self._key = key
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 - jitter
        self._call = call
        self._stored: StoredGovernor | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._renewed_at = float("-inf")
        self._reported_demand = 0
        self._unconfirmed_running: int | None = None
        """The calls in flight that the last report named, while it is uncertain whether it arrived; other workers leave
        at least that much capacity."""
        self._polls = 0
        self._is_renewal_urgent = False
        self._starved_since: float | None = None
        self._observations = Observations()
        self._breakers: dict[str, Breaker] = {}
        self._used_trials: set[tuple[str, float | None]] = set()
        self._tokens_per_call = _INITIAL_TOKENS_PER_CALL

    @property
    def _governor(self) -> Governor:
        return self._stored.governor if self._stored else Governor()

    @property
    def _lease(self) -> WorkerLease | None:
        return self._governor.leases.get(self._key.worker_id)

    @property
    def granted_slots(self) -> int:
        """How many conversations may run at the same time."""
        lease = self._lease
        if lease is None or self._clock() >= lease.until:
            return 0
        return lease.granted if self._unconfirmed_running is None else min(lease.granted, self._unconfirmed_running)

    @property
    def free_slots(self) -> int:
        """How many conversations may start now."""
        lease = self._lease
        if lease is None or self._governor.paused_at is not None or self._blocked_until > self._clock():
            return 0
        free = self.granted_slots - self.running
        if lease.requests is not None:
            free = min(free, lease.requests - self._observations.attempts)
        if lease.tokens is not None:
            tokens_left = lease.tokens - self._observations.tokens - self.running * self._tokens_per_call
            free = min(free, ceil(tokens_left / max(1.0, self._tokens_per_call)))
        return max(0, free)

    @property
    def _blocked_until(self) -> float:
        return max(self._governor.blocked_until, self._observations.exhausted_until)

    def requeue_delay_seconds(self) -> float | None:
        """After how long all pending probes should be redelivered; None if they may start or waiting is worth it."""
        now, lease = self._clock(), self._lease
        if (paused_at := self._governor.paused_at) is not None:
            # A recent pause may end soon; one of several days is checked rarely.
            return self._with_jitter(max(MIN_PAUSE_DELAY_SECONDS, (now - paused_at) / 4))
        if self._blocked_until - now > MAX_WAIT_SECONDS:
            return self._with_jitter(self._blocked_until - now)
        if lease is not None and lease.demand and not lease.share and self._is_outranked(now):
            return self._with_jitter(OUTRANKED_DELAY_SECONDS)
        if self.running or self.free_slots:
            self._starved_since = None
            return None
        if (refill := self._refill_seconds(now)) > MAX_WAIT_SECONDS:
            return self._with_jitter(refill)
        return self._starved_delay_seconds(now)

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
        own = _RANKS[self._key.priority]
        return any(lease.demand and _RANKS[lease.priority] < own for lease in self._governor.live_leases(now).values())

    def _refill_seconds(self, now: float) -> float:
        """Until the account's rates allow another call."""
        lease, governor, waits = self._lease, self._governor, [0.0]
        if lease and governor.requests and self.limits.requests_per_minute and not lease.requests:
            due = governor.requests.at + governor.requests.seconds_until(1, self.limits.requests_per_minute)
            waits.append(due - now)
        if lease and governor.tokens and self.limits.tokens_per_minute and not lease.tokens:
            due = governor.tokens.at + governor.tokens.seconds_until(1, self.limits.tokens_per_minute)
            waits.append(due - now)
        return max(waits)

    def suspended_seconds(self, model: str) -> float | None:
        """How long a probe of this model must wait: None when it may start, 0 until the lease is renewed."""
        breaker, now = self._breakers.get(model), self._clock()
        if breaker is None or not breaker.is_open:
            return None
        if now >= breaker.until:
            if breaker.trial_of == self._key.worker_id and (model, breaker.opened_at) not in self._used_trials:
                return None
            if breaker.trial_of is None or now >= breaker.trial_until:
                return 0.0
        return self._with_jitter(breaker.suspended_seconds(now))

    def start_conversation(self, model: str) -> Attempt:
        """Count a conversation as running; return the attempt that makes its calls."""
        self.running += 1
        self._observations.attempts += 1
        breaker = self._breakers.get(model)
        if breaker is not None and breaker.is_open:
            self._used_trials.add((model, breaker.opened_at))
        return partial(self._attempt, iter([True]))

    def end_conversation(self) -> None:
        self.running -= 1

    async def _attempt(
        self, first: Iterator[bool], account: Account, model: str, request: ModelRequest, timeout_seconds: float
    ) -> Reply:
        """Make and record a call. The first one of a conversation was already counted when the conversation started."""
        self._observations.attempts += not next(first, False)
        started_at = self._clock()
        try:
            reply = await self._call(account, model, request, timeout_seconds)
        except ParameterRejected:  # Not a failure of the model: it is called again without the parameter.
            raise
        except ProviderError as error:
            self._record_call(CallRecord(model, error.code, started_at), error.retry_after_seconds)
            raise
        self._record_call(CallRecord(model, None, started_at))
        self._record_usage(reply)
        return reply

    def _record_call(self, call: CallRecord, retry_after_seconds: float | None = None) -> None:
        now = self._clock()
        self._observations.record(call, now, retry_after_seconds)
        was_open = self._is_open(call.model)
        if call.code is not None or call.model in self._breakers:
            self._breakers = breakers_after_calls(self._breakers, [call], now)
        self._is_renewal_urgent |= self._is_open(call.model) != was_open

    def _is_open(self, model: str) -> bool:
        return model in self._breakers and self._breakers[model].is_open

    def _record_usage(self, reply: Reply) -> None:
        self._observations.tokens += reply.usage.total
        self._tokens_per_call += _SMOOTHING_FACTOR * (reply.usage.total - self._tokens_per_call)
        if reply.exhausted_allowance is not None:
            self._observations.exhausted_until = max(
                self._observations.exhausted_until, self._clock() + reply.exhausted_allowance.wait_seconds
            )
            self._is_renewal_urgent = True

    def is_renewal_due(self, demand: int) -> bool:
        """Whether to renew now, when `demand` conversations could be in flight."""
        is_idle = not demand and not self._reported_demand
        if is_idle or (self._renewal is not None and not self._renewal.done()):
            return False
        since, lease, workers = self._clock() - self._renewed_at, self._lease, len(self._governor.leases)
        soonest = min_renew_interval_seconds(workers)
        if lease is None or since >= renew_interval_seconds(workers) or since < soonest:
            return since >= soonest
        if lease.granted < lease.share:  # This worker waits for capacity of others.
            return since >= soonest * (1 << self._polls)
        could_have_more = demand > self._reported_demand and lease.granted == lease.demand
        can_release_capacity = lease.reserved > lease.granted >= self.running
        waits_for_rate = (
            demand > self.running < self.granted_slots and not self.free_slots and since >= RATE_RENEW_INTERVAL_SECONDS
        )
        return could_have_more or can_release_capacity or waits_for_rate or self._is_renewal_urgent

    def renew(self, demand: int, models: frozenset[str]) -> "asyncio.Task[None]":
        """Start a report to the governor. `models` have pending probes, one of which may be a breaker's trial."""
        report = self._report(demand, models)
        self._renewed_at = self._clock()
        self._reported_demand, self._unconfirmed_running = report.demand, report.in_flight
        self._is_renewal_urgent = False
        self._renewal = asyncio.ensure_future(self._renew(report))
        return self._renewal

    async def _renew(self, report: WorkerReport) -> None:
        """A report that may not have arrived is repeated with the next one."""
        key = self._key
        try:
            self._stored = await asyncio.to_thread(
                store.renew, key.workspace, key.provider, self.limits, report, self._renewed_at, self._stored
            )
        except (*AWS_ERRORS, RetryableError):
            return
        self._unconfirmed_running = None
        self._observations.discard(len(report.calls), report.attempts, report.tokens)
        self._breakers = breakers_after_calls(self._governor.breakers, self._observations.calls, self._clock())
        lease = self._lease
        self._polls = min(_MAX_POLLS, self._polls + 1) if lease and lease.granted < lease.share else 0

    async def leave(self) -> None:
        """Give the lease back, so that nobody waits for it to expire."""
        if self._renewal is not None:
            await self._renewal
        report, key = self._report(0, frozenset()), self._key
        try:
            await asyncio.to_thread(
                store.leave, key.workspace, key.provider, self.limits, report, self._clock(), self._stored
            )
        except (*AWS_ERRORS, RetryableError):
            return

    def _report(self, demand: int, models: frozenset[str]) -> WorkerReport:
        observed = self._observations
        return WorkerReport(
            worker_id=self._key.worker_id,
            priority=self._key.priority,
            demand=demand,
            in_flight=self.running,
            calls=tuple(observed.calls),
            attempts=observed.attempts,
            tokens=observed.tokens,
            throttled_until=observed.throttled_until,
            exhausted_until=observed.exhausted_until,
            models=models,
        )
