"""Divides what may be spent on a run among its workers without exceeding the limit.

A worker draws an allowance for many calls at a time and reports what it has spent. All reported figures are absolute,
so a report that arrives twice, or whose response is lost, changes nothing. An allowance is reserved until its worker
reports that it was spent or is not needed. The lease of a dead worker expires; then everything it had reserved counts
as spent, though it is uncertain whether it was. A late report of that worker reverses this.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.money import SpentByRole, added, subtracted, usd

EXPIRED_LEASES_FORGOTTEN_AFTER_SECONDS = 3_600.0
"""No invocation lasts this long, so the worker cannot report any more."""
REFUSAL_SECONDS = 30.0
"""A refused report indicates for this many seconds that calls wait; refused workers ask again after about ten."""
MIN_DRAWS = 4
"""A worker that is alone draws at most this fraction of what is available, so that the others keep the rest if it
dies."""


@dataclass(frozen=True)
class BudgetLease:
    """Amounts are in billionths of a USD."""

    spent: SpentByRole
    uncertain: int
    """The cost of calls that may or may not have been billed."""
    reserved: int
    """The amount covers calls in flight and further calls."""
    until: float

    @property
    def total(self) -> int:
        return sum(self.spent.values()) + self.uncertain + self.reserved


@dataclass(frozen=True)
class BudgetReport:
    worker_id: str
    spent: SpentByRole
    uncertain: int
    reserved: int
    """The amount covers calls in flight and the unspent allowance; the rest of the allowance is returned."""
    needed: int
    """The waiting calls need at least this much more; 0 if some call can already be made."""
    wanted: int
    until: float
    run_id: str = ""
    """In an account that several runs share, this is the run of the calls."""

    def lease(self, grant: int = 0) -> BudgetLease:
        return BudgetLease(self.spent, self.uncertain, self.reserved + grant, self.until)


class Refusal(NamedTuple):
    worker_id: str
    needed: int
    at: float


@dataclass(frozen=True)
class BudgetAccount:
    """`spent` and `uncertain` belong to workers that have ended or whose lease has expired."""

    spent: SpentByRole = field(default_factory=dict)
    uncertain: int = 0
    leases: Mapping[str, BudgetLease] = field(default_factory=dict)
    expired: Mapping[str, BudgetLease] = field(default_factory=dict)
    """Expired leases are part of `spent` and `uncertain` until their workers report after all."""
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    """The latest refusal of each run, as of the last report. Only readers of a run's progress need it."""

    @property
    def spent_by_role(self) -> SpentByRole:
        amounts = self.spent
        for lease in self.leases.values():
            amounts = added(amounts, lease.spent)
        return amounts

    @property
    def total_uncertain(self) -> int:
        return self.uncertain + sum(lease.uncertain for lease in self.leases.values())

    @property
    def reserved(self) -> int:
        return sum(lease.reserved for lease in self.leases.values())

    @property
    def spent_usd(self) -> float:
        return usd(sum(self.spent_by_role.values()))

    @property
    def uncertain_usd(self) -> float:
        return usd(self.total_uncertain)

    @property
    def reserved_usd(self) -> float:
        return usd(self.reserved)

    @property
    def used(self) -> int:
        return sum(self.spent_by_role.values()) + self.total_uncertain

    def available(self, limit: int) -> int:
        """Return what can still be granted. It is negative after the limit was lowered below what is used and reserved,
        and when calls have cost more than was reserved."""
        return limit - self.used - self.reserved

    def is_exhausted(self, limit: int, needed: int) -> bool:
        """Return whether too little is available and no worker has anything to return."""
        return not self.reserved and self.available(limit) < needed

    def needed_by(self, run_id: str, now: float) -> int:
        """Return what recently refused calls of a run need; 0 if none was refused."""
        refusal = self.refusals.get(run_id)
        return refusal.needed if refusal is not None and now - refusal.at < REFUSAL_SECONDS else 0

    def is_awaited(self, limit: int, now: float) -> bool:
        """Return whether calls wait for an amount that is reserved for others, in the account of a single run."""
        current = after_expiry(self, now)
        return current.reserved > 0 and current.available(limit) < current.needed_by("", now)


def after_report(account: BudgetAccount, limit: int, report: BudgetReport, now: float) -> BudgetAccount:
    """Return the account after a worker's report; its new lease also has the grant."""
    account = _with_own_lease(after_expiry(account, now), report)
    grant = _grant(report, account.available(limit), len(account.leases))
    leases = {**account.leases, report.worker_id: report.lease(grant)}
    return replace(account, leases=leases, refusals=_refusals(account, report, grant, now))


def after_leave(account: BudgetAccount, report: BudgetReport, now: float) -> BudgetAccount:
    """Return the account after a worker's last report, whose reservations become uncertain. A second last report
    changes nothing."""
    if report.worker_id not in account.leases and report.worker_id not in account.expired:
        return account
    return _closed(_with_own_lease(after_expiry(account, now), report), report.worker_id)


def after_expiry(account: BudgetAccount, now: float) -> BudgetAccount:
    """Return the account after leases that have run out expired."""
    forgotten = now - EXPIRED_LEASES_FORGOTTEN_AFTER_SECONDS
    expired = {worker_id: lease for worker_id, lease in account.expired.items() if lease.until > forgotten}
    account = replace(account, expired=expired)
    for worker_id, lease in account.leases.items():
        if lease.until <= now:
            account = replace(_closed(account, worker_id), expired={**account.expired, worker_id: lease})
    return account


def _closed(account: BudgetAccount, worker_id: str) -> BudgetAccount:
    lease = account.leases[worker_id]
    return replace(
        account,
        spent=added(account.spent, lease.spent),
        uncertain=account.uncertain + lease.uncertain + lease.reserved,
        leases={other: each for other, each in account.leases.items() if other != worker_id},
    )


def _with_own_lease(account: BudgetAccount, report: BudgetReport) -> BudgetAccount:
    """Replace the worker's earlier figures by those it reported, even if its lease has expired."""
    if (lease := account.expired.get(report.worker_id)) is not None:
        account = replace(
            account,
            spent=subtracted(account.spent, lease.spent),
            uncertain=account.uncertain - lease.uncertain - lease.reserved,
            expired={other: each for other, each in account.expired.items() if other != report.worker_id},
        )
    return replace(account, leases={**account.leases, report.worker_id: report.lease()})


def _refusals(account: BudgetAccount, report: BudgetReport, grant: int, now: float) -> Mapping[str, Refusal]:
    recent = {run_id: each for run_id, each in account.refusals.items() if now - each.at < REFUSAL_SECONDS}
    if report.needed > grant:
        return {**recent, report.run_id: Refusal(report.worker_id, report.needed, now)}
    if (own := recent.get(report.run_id)) is not None and own.worker_id == report.worker_id:
        del recent[report.run_id]
    return recent


def _grant(report: BudgetReport, available: int, workers: int) -> int:
    """Return a fair share of what is available, but at least what is needed, and 0 if that is not available."""
    share = max(0, available) // (workers + MIN_DRAWS - 1)
    grant = min(max(report.wanted, report.needed), max(share, report.needed))
    return grant if report.needed <= grant <= available else 0
