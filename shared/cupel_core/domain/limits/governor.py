"""Distributes an account's limits (parallel calls, requests and tokens per minute) among its workers.

Each worker has a lease. It reports its demand and what it observed, and is granted its fair share, but never more than
the others leave: so all workers together stay within the limit without communicating. A worker whose grant shrinks
keeps its calls in flight reserved. The lease of a dead worker expires.

While people use chats, a part of the parallel calls is reserved for them; otherwise their calls would wait until a call
of a run has ended. A small account has too few calls for that; there, chats take the next one that is free.

The limit itself is learned as in TCP (additive increase, multiplicative decrease; Chiu and Jain 1989): halved when the
provider throttles (`throttling.py`), raised slowly while it does not, never above the account's configured limit.
Requested waits apply to the model that was called (`breaker.py`), and to the account only after several of its models
were refused.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from math import ceil, floor

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import Breaker, CallRecord
from cupel_core.domain.limits.throttling import RecentCalls
from cupel_core.domain.limits.token_bucket import TokenBucket, full_bucket
from cupel_core.domain.runs.run import Priority

RENEW_INTERVAL_SECONDS = 3.0
MAX_RENEW_INTERVAL_SECONDS = 4.0
"""A worker learns of a pause when it renews its lease, so a pause takes effect within 5 s."""
MIN_RENEW_INTERVAL_SECONDS = 0.2
RENEWALS_PER_SECOND = 25
"""The rate of all workers together: many workers renew less often, because each renewal writes the shared
item."""
LEASE_SECONDS = 3 * RENEW_INTERVAL_SECONDS
DECREASE_INTERVAL_SECONDS = 5.0
"""The limit is halved at most once in this time, because calls in flight, and those of workers that have not read the
new limit yet, are throttled too."""
INCREASE_INTERVAL_SECONDS = 5.0
RAISE_FRACTION = 0.05
MAX_BLOCK_SECONDS = 900.0
MIN_BLOCKED_MODELS = 3
"""An account must wait only after this many of its models were asked to wait."""
INTERACTIVE_RESERVE = 0.1
"""The reserve is this fraction of the parallel calls, rounded down: an account with fewer than ten has no reserve."""
INTERACTIVE_SECONDS = 60.0
"""An account has the reserve for this time after its last interactive worker."""

_PRIORITIES = tuple(sorted(Priority, key=lambda priority: priority.rank))


@dataclass(frozen=True)
class Limits:
    parallel: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True)
class WorkerLease:
    """Describes a worker's share of the account. `reserved` (its grant, or its calls in flight if more) is withheld
    from others. `requests` and `tokens` are lent for its next calls; they are None if the account has no such limit."""

    priority: Priority
    demand: int
    until: float
    share: int = 0
    """The fair share, which the grant reaches as other workers release theirs. It is not stored, because only the
    worker needs it."""
    granted: int = 0
    reserved: int = 0
    requests: int | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class WorkerReport:
    worker_id: str
    priority: Priority
    demand: int
    in_flight: int
    calls: tuple[CallRecord, ...] = ()
    attempts: int = 0
    """Counts started calls, to which a limit on requests applies."""
    tokens: int = 0
    exhausted: Mapping[str, float] = field(default_factory=dict)
    """For a model whose allowance is used up, it has the Unix time, from an answer's headers, until which it is."""
    models: frozenset[str] = frozenset()
    """Models with waiting probes, one of which may become a breaker's trial."""
    is_interactive: bool = False
    """A person waits for the worker's calls, so they may use the reserved slots."""

    @property
    def throttles(self) -> int:
        return sum(call.code is ProbeErrorCode.RATE_LIMITED and call.asks_to_wait for call in self.calls)

    @property
    def is_only_refused(self) -> bool:
        return any(call.asks_to_wait for call in self.calls) and all(call.code is not None for call in self.calls)


@dataclass(frozen=True)
class Governor:
    """Contains the shared state of one workspace's account with one provider. Times are Unix times."""

    limit: int | None = None
    learned: int | None = None
    """A limit below `limit`, learned from throttling; None while the provider does not throttle."""
    recent: RecentCalls = field(default_factory=RecentCalls)
    """The calls since the limit was last lowered."""
    lowered_at: float = 0.0
    raised_at: float = 0.0
    blocked_until: float = 0.0
    paused_at: float | None = None
    requests: TokenBucket | None = None
    tokens: TokenBucket | None = None
    leases: Mapping[str, WorkerLease] = field(default_factory=dict)
    breakers: Mapping[str, Breaker] = field(default_factory=dict)
    interactive: frozenset[str] = frozenset()
    interactive_until: float = 0.0

    def live_leases(self, now: float) -> dict[str, WorkerLease]:
        return {worker_id: lease for worker_id, lease in self.leases.items() if lease.until > now}

    def demands(self, now: float) -> dict[Priority, int]:
        demands = dict[Priority, int]()
        for lease in self.live_leases(now).values():
            demands[lease.priority] = demands.get(lease.priority, 0) + lease.demand
        return demands

    def run_slots(self, parallel: int, now: float) -> int:
        """Return how many parallel calls are possible at present, without those reserved for chats that do not need
        them."""
        limit = effective_limit(self, parallel)
        if now >= self.interactive_until:
            return limit
        leases = self.live_leases(now)
        chats = sum(lease.demand for worker_id, lease in leases.items() if worker_id in self.interactive)
        return limit - max(0, reserved_slots(limit) - chats)

    def breaker(self, model: str) -> Breaker:
        return self.breakers.get(model, Breaker())


def after_report(governor: Governor, limits: Limits, report: WorkerReport, now: float) -> Governor:
    """Return the governor after a report; the worker's lease says what it may do until its next report."""
    own = governor.leases.get(report.worker_id)
    governor = replace(governor, limit=limits.parallel, leases=governor.live_leases(now))
    governor = _after_throttles(governor, limits.parallel, report, now)
    governor = _with_loan_returned(governor, limits, report, own, now)
    governor = replace(governor, breakers=_updated_breakers(governor, report, now))
    governor = _with_blocked_account(governor, report, now)
    governor = _with_interactive_workers(governor, report, now)
    return _with_renewed_lease(governor, limits, report, now)


def after_leave(governor: Governor, limits: Limits, report: WorkerReport, now: float) -> Governor:
    """Return the governor after a worker's last report: its lease is removed and its unused loan is returned."""
    report = replace(report, demand=0, in_flight=0, models=frozenset())
    governor = after_report(governor, limits, report, now)
    others = {worker_id: lease for worker_id, lease in governor.leases.items() if worker_id != report.worker_id}
    return replace(governor, leases=others, interactive=governor.interactive & others.keys())


def renew_interval_seconds(workers: int) -> float:
    return min(MAX_RENEW_INTERVAL_SECONDS, max(RENEW_INTERVAL_SECONDS, workers / RENEWALS_PER_SECOND))


def min_renew_interval_seconds(workers: int) -> float:
    """Return the shortest time between two renewals of each of `workers`, however urgent the second is."""
    return min(MAX_RENEW_INTERVAL_SECONDS, max(MIN_RENEW_INTERVAL_SECONDS, workers / RENEWALS_PER_SECOND))


def lease_seconds(workers: int) -> float:
    """Return how long a lease lasts, which is three times the renewal interval."""
    return LEASE_SECONDS / RENEW_INTERVAL_SECONDS * renew_interval_seconds(workers)


def effective_limit(governor: Governor, parallel: int) -> int:
    return max(1, min(parallel, governor.learned or parallel))


def reserved_slots(limit: int) -> int:
    return floor(limit * INTERACTIVE_RESERVE)


def _with_interactive_workers(governor: Governor, report: WorkerReport, now: float) -> Governor:
    alive = governor.interactive & governor.leases.keys()
    if not report.is_interactive:
        return replace(governor, interactive=alive)
    return replace(governor, interactive=alive | {report.worker_id}, interactive_until=now + INTERACTIVE_SECONDS)


def _after_throttles(governor: Governor, parallel: int, report: WorkerReport, now: float) -> Governor:
    recent = RecentCalls(at=now)
    if now - governor.lowered_at >= DECREASE_INTERVAL_SECONDS:
        recent = governor.recent.with_calls(len(report.calls), report.throttles, now)
    # A refusal takes milliseconds and an answer takes seconds, so calls in flight count as not throttled.
    in_flight = report.in_flight + _reserved_by_others(governor, report)
    throttled = replace(recent, calls=recent.calls + in_flight).are_throttled
    governor = replace(governor, recent=recent)
    return (
        _with_lowered_limit(governor, parallel, report, now)
        if throttled
        else _with_raised_limit(governor, parallel, now)
    )


def _reserved_by_others(governor: Governor, report: WorkerReport) -> int:
    return sum(lease.reserved for worker_id, lease in governor.leases.items() if worker_id != report.worker_id)


def _with_lowered_limit(governor: Governor, parallel: int, report: WorkerReport, now: float) -> Governor:
    """Halve what was in use, not what was allowed."""
    others = _reserved_by_others(governor, report)
    own = governor.leases.get(report.worker_id)
    in_use = others + max(report.in_flight, own.reserved if own else 0)
    learned = max(1, min(effective_limit(governor, parallel), max(1, in_use)) // 2)
    return replace(governor, learned=learned, recent=RecentCalls(at=now), lowered_at=now, raised_at=now)


def _with_raised_limit(governor: Governor, parallel: int, now: float) -> Governor:
    if governor.learned is None:
        return governor
    steps = floor((now - governor.raised_at) / INCREASE_INTERVAL_SECONDS)
    if steps < 1:
        return governor
    learned = governor.learned + steps * max(1, round(parallel * RAISE_FRACTION))
    return replace(governor, learned=learned if learned < parallel else None, raised_at=now)


def _with_loan_returned(
    governor: Governor, limits: Limits, report: WorkerReport, own: WorkerLease | None, now: float
) -> Governor:
    """Return the worker's loan, less what it used. An expired lease returns nothing."""
    alive = own if report.worker_id in governor.leases else None
    requests = _refilled_bucket(governor.requests, limits.requests_per_minute, now)
    if requests and limits.requests_per_minute:
        lent = (alive and alive.requests) or 0
        requests = requests.after_return(lent, report.attempts, limits.requests_per_minute)
    tokens = _refilled_bucket(governor.tokens, limits.tokens_per_minute, now)
    if tokens and limits.tokens_per_minute:
        lent_tokens = (alive and alive.tokens) or 0
        tokens = tokens.after_return(lent_tokens, report.tokens, limits.tokens_per_minute)
    return replace(governor, requests=requests, tokens=tokens)


def _refilled_bucket(bucket: TokenBucket | None, per_minute: int | None, now: float) -> TokenBucket | None:
    if per_minute is None:
        return None
    return (bucket or full_bucket(per_minute, now)).refilled(per_minute, now)


def _with_blocked_account(governor: Governor, report: WorkerReport, now: float) -> Governor:
    """Block the account only once several models are refused and none answers; before that, a limit applies to its
    model."""
    waiting = [breaker.until for breaker in governor.breakers.values() if breaker.is_waiting and breaker.until > now]
    if len(waiting) < MIN_BLOCKED_MODELS or not report.is_only_refused:
        return governor
    return replace(governor, blocked_until=max(governor.blocked_until, min(*waiting, now + MAX_BLOCK_SECONDS)))


def _updated_breakers(governor: Governor, report: WorkerReport, now: float) -> dict[str, Breaker]:
    breakers = breakers_after_calls(governor.breakers, report.calls, now)
    for model, until in report.exhausted.items():
        if until > now:
            breakers[model] = breakers.get(model, Breaker()).exhausted(min(until, now + MAX_BLOCK_SECONDS), now)
    for model in report.models & breakers.keys():
        breakers[model] = breakers[model].with_trial_by(report.worker_id, now)
    return breakers


def breakers_after_calls(
    breakers: Mapping[str, Breaker], calls: Iterable[CallRecord], now: float
) -> dict[str, Breaker]:
    """Return the breakers after these calls. Only models with recent failures have one."""
    after = dict(breakers)
    for call in calls:
        if call.code is not None or call.model in after:
            after[call.model] = after.get(call.model, Breaker()).after_call(call, now)
    return {model: breaker for model, breaker in after.items() if not breaker.is_healthy}


def _with_renewed_lease(governor: Governor, limits: Limits, report: WorkerReport, now: float) -> Governor:
    """Grant the worker its fair share, as far as the reservations of others allow."""
    limit = effective_limit(governor, limits.parallel)
    others = {worker_id: lease for worker_id, lease in governor.leases.items() if worker_id != report.worker_id}
    demands = {worker_id: (lease.priority, lease.demand) for worker_id, lease in others.items()}
    reserve = 0 if report.is_interactive or now >= governor.interactive_until else reserved_slots(limit)
    interactive = [lease for worker_id, lease in others.items() if worker_id in governor.interactive]
    not_demanded = max(0, reserve - sum(lease.demand for lease in interactive))
    not_used = max(0, reserve - sum(lease.reserved for lease in interactive))
    own_demand = {report.worker_id: (report.priority, report.demand)}
    share = fair_shares(limit - not_demanded, {**demands, **own_demand})[report.worker_id]
    granted = max(0, min(share, limit - not_used - sum(lease.reserved for lease in others.values())))
    fraction = _grant_fraction(granted, others.values())
    requests = None if governor.requests is None else floor(max(0.0, governor.requests.level))
    requests = requests and min(requests, ceil(requests * fraction))
    tokens = None if governor.tokens is None else floor(max(0.0, governor.tokens.level) * fraction)
    reserved = max(granted, report.in_flight)
    until = round(now + lease_seconds(len(others) + 1), 1)
    lease = WorkerLease(report.priority, report.demand, until, share, granted, reserved, requests, tokens)
    return replace(
        governor,
        leases={**others, report.worker_id: lease},
        requests=governor.requests and governor.requests.after_loan(requests or 0),
        tokens=governor.tokens and governor.tokens.after_loan(tokens or 0),
    )


def _grant_fraction(granted: int, others: Iterable[WorkerLease]) -> float:
    """Return this worker's fraction of the per-minute limits, which is its grant among all grants."""
    return granted / max(1, granted + sum(lease.granted for lease in others))


def fair_shares(limit: int, demands: Mapping[str, tuple[Priority, int]]) -> dict[str, int]:
    """Return shares by worker id: higher priorities first, equal shares within a priority, none above the worker's
    demand."""
    shares: dict[str, int] = {}
    for rank in _PRIORITIES:
        waiting = sorted((demand, worker_id) for worker_id, (priority, demand) in demands.items() if priority is rank)
        for position, (demand, worker_id) in enumerate(waiting):
            shares[worker_id] = min(demand, ceil(limit / (len(waiting) - position)))
            limit -= shares[worker_id]
    return shares
