"""The times when a worker renews its lease: regularly, and sooner if a report may free slots for others or get some."""

from math import ceil

from cupel_core.base.deferred import dataclass
from cupel_core.domain.limits.governor import (
    Governor,
    effective_limit,
    min_renew_interval_seconds,
    renew_interval_seconds,
)

CHECK_INTERVAL_SECONDS = 1.0
"""A lease is renewed at this interval while its worker waits for slots of others, or others may wait for its slots."""
_MAX_DOUBLINGS = 4
"""The shortest interval is doubled at most this many times, from 0.2 s to 3.2 s. A lease is renewed by then anyway."""


@dataclass(frozen=True)
class LeaseUse:
    demand: int
    in_flight: int
    is_blocked: bool
    """The account is paused or its provider asked to wait, so slots are useless to every worker."""
    waits_for_rate: bool
    """Slots are free, and only the rates prevent further calls."""


class RenewalSchedule:
    def __init__(self, worker_id: str) -> None:
        self.is_urgent = False
        """True if something was observed that others should know soon."""
        self.started_at = float("-inf")
        """The Unix time when the last renewal began."""
        self._worker_id = worker_id
        self._reported_demand = 0
        self._is_unconfirmed = False
        """True while the last report may not have arrived."""
        self._doublings = 0
        """The number of times the shortest interval is doubled. It grows with each renewal that failed, or after which
        slots may be exchanged."""

    def is_due(self, governor: Governor, parallel: int, use: LeaseUse, now: float) -> bool:
        """Return whether to renew now. `parallel` is the account's configured limit."""
        since, workers = now - self.started_at, len(governor.leases)
        if since < min_renew_interval_seconds(workers):
            return False
        if not use.demand and not self._reported_demand and not self._is_unconfirmed:
            return False
        return since >= min(renew_interval_seconds(workers), self._interval_seconds(governor, parallel, use))

    def _interval_seconds(self, governor: Governor, parallel: int, use: LeaseUse) -> float:
        soonest = min_renew_interval_seconds(len(governor.leases))
        doubled = soonest * (1 << self._doublings)
        if self._is_unconfirmed:
            return doubled
        lease = governor.leases.get(self._worker_id)
        if lease is None or self.is_urgent:
            return soonest
        if use.demand > self._reported_demand and lease.granted == lease.demand:  # It could get more.
            return soonest
        if lease.reserved > lease.granted >= use.in_flight:  # All slots that it must release are free.
            return soonest
        if not use.is_blocked and self._may_exchange_slots(governor, parallel):
            return min(doubled, CHECK_INTERVAL_SECONDS)
        if use.waits_for_rate or lease.reserved > max(lease.granted, use.in_flight):
            return CHECK_INTERVAL_SECONDS
        return float("inf")

    def start(self, demand: int, now: float) -> None:
        self.started_at, self._reported_demand, self.is_urgent = now, demand, False
        self._is_unconfirmed = True

    def fail(self) -> None:
        """Record that the report may not have arrived. It is repeated, less and less often."""
        self._doublings = min(_MAX_DOUBLINGS, self._doublings + 1)

    def succeed(self, governor: Governor, parallel: int) -> None:
        self._is_unconfirmed = False
        may_exchange = self._may_exchange_slots(governor, parallel)
        self._doublings = min(_MAX_DOUBLINGS, self._doublings + 1) if may_exchange else 0

    def _may_exchange_slots(self, governor: Governor, parallel: int) -> bool:
        """Return whether the worker waits for slots of others, or is alone and must release some if another comes."""
        lease = governor.leases.get(self._worker_id)
        if lease is None:
            return False
        may_be_joined = len(governor.leases) == 1 and lease.granted > ceil(effective_limit(governor, parallel) / 2)
        return lease.granted < lease.share or may_be_joined
