"""The state of a worker's lease on part of an account's limits, which says what may start now and what must wait."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import field
from math import ceil
from random import Random

from cupel_core.accounts.leases.renewal_schedule import RenewalSchedule
from cupel_core.accounts.leases.waiting_calls import WaitingCalls
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.domain.limits.breaker import Breaker, CallRecord
from cupel_core.domain.limits.governor import Governor, Limits, WorkerLease
from cupel_core.domain.limits.throttling import RecentCalls
from cupel_core.domain.limits.worker_capacity import MAX_CALLS
from cupel_core.domain.runs.run import Priority
from cupel_core.store.governor import StoredGovernor

MAX_WAIT_SECONDS = 3.0
"""Probes that must wait longer are requeued."""
MAX_INFORMATION_AGE_SECONDS = 5.0
"""A worker without news from the governor for longer starts no call, because the account may have been paused."""
RECENT_SECONDS = 5.0
"""An account counts as used for this many seconds after its last call."""
MIN_HEADROOM = 2
MIN_CROWD = 10
"""Up to this many waiting calls do not prevent conversations from starting, however few slots are granted."""
MAX_STARVED_SECONDS = 5.0
"""A worker that may start nothing for longer requeues its probes."""
CROWDED_DELAY_SECONDS = 2.0
"""Probes are requeued for this long when an account has more workers of one priority than parallel calls."""
OUTRANKED_DELAY_SECONDS = 10.0
"""A worker of a lower priority checks again after this long whether a higher one leaves capacity."""
MIN_PAUSE_DELAY_SECONDS = 5.0
MAX_DELAY_SECONDS = 900.0
_INITIAL_TOKENS_PER_CALL = 1_000.0


@dataclass(frozen=True)
class LeaseKey:
    """Identifies a lease by its worker, and the account or run whose limits it shares."""

    workspace: str
    limited: str | RunRef
    """The provider of an account, or a run, whose slots are conversations."""
    worker_id: str
    priority: Priority
    is_interactive: bool = False
    """True if a person waits for the calls."""
    hands_back: bool = False
    """True if calls that only the account's owner can repair are made again later."""

    @property
    def name(self) -> str:
        return self.limited.run_id if isinstance(self.limited, RunRef) else self.limited


@dataclass
class PendingProbes:
    """Counts the probes that have not started, and lists their models, one of which may be a breaker's trial. Their
    number is needed at once, their models only with a report."""

    count: int = 0
    models: Callable[[], frozenset[str]] = frozenset


@dataclass
class Observations:
    calls: list[CallRecord] = field(default_factory=list)
    attempts: int = 0
    tokens: int = 0
    exhausted: dict[str, float] = field(default_factory=dict)
    """The Unix time until which a model's rate allowance is used up, as a reply reported, by model."""

    def discard(self, calls: int, attempts: int, tokens: int) -> None:
        """Remove what was reported. Observations made during the report stay."""
        del self.calls[:calls]
        self.attempts -= attempts
        self.tokens -= tokens


class LeaseState:
    def __init__(self, key: LeaseKey, clock: Callable[[], float] = time.time, rng: Random | None = None) -> None:
        self.in_flight = 0
        """The number of slots used by calls or reserved for the first calls of conversations."""
        self.open_conversations = 0
        self.pending = PendingProbes()
        self.limits = Limits(1)
        """The account's configured limits replace this value when they are known."""
        self._key = key
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 - jitter
        self._waiting = WaitingCalls()
        self._peak = 0
        """The highest number of calls in flight or waiting at the same time since the last report."""
        self._used_at = float("-inf")
        self._stored: StoredGovernor | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._schedule = RenewalSchedule(key.worker_id)
        self._informed_at = float("-inf")
        self._unconfirmed_in_flight: int | None = None
        """The number of calls in flight in a report that may not have arrived. Other workers leave at least that much
        capacity."""
        self._starved_since: float | None = None
        self._observations = Observations()
        self._breakers: dict[str, Breaker] = {}
        self._used_trials: set[tuple[str, float | None]] = set()
        self._answers: dict[str, RecentCalls] = {}
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
        These are more than are granted if the last report got everything that it requested."""
        lease, granted = self._lease, self.granted_slots
        if lease is None or not granted or granted < lease.demand:
            return granted
        return max(granted, min(MAX_CALLS, self.limits.parallel // workers))

    @property
    def free_slots(self) -> int:
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
        return self._governor.paused_at is not None or self._blocked_until > self._clock()

    @property
    def _blocked_until(self) -> float:
        return self._governor.blocked_until

    def requeue_delay_seconds(self) -> float | None:
        """Return the seconds until all pending probes should be redelivered, or None if they may start or should
        wait."""
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
        """Return the delay. A starved worker keeps its slices for a while: requeuing all would only hide them from
        others."""
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

    @property
    def demand(self) -> int:
        """Return how many calls could be in flight until the next report. Conversations with the account may all call
        it again. Otherwise it is used for grading, and the demand is estimated from the calls of the last seconds."""
        used = self.in_flight + len(self._waiting)
        if self.open_conversations or self.pending.count:
            return min(MAX_CALLS, max(used, self.open_conversations) + self.pending.count)
        if not used and self._clock() - self._used_at > RECENT_SECONDS:
            return 0
        return min(MAX_CALLS, max(used, self._peak) + max(MIN_HEADROOM, self._peak // 2))
