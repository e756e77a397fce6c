"""What may be spent on a run, divided among its workers without exceeding the limit.

A worker draws an allowance for many calls at a time and reports what it has spent. Every figure it reports is
absolute, so a report that arrives twice, or whose response is lost, changes nothing. What a worker has drawn is
reserved until it reports that it was spent or is not needed. The lease of a dead worker expires; then everything it
had reserved counts as spent, though it is uncertain whether it was. A worker that reports after all takes it back.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.money import SpentByRole, added, subtracted, usd

EXPIRED_LEASES_FORGOTTEN_AFTER_SECONDS = 3_600.0
"""No invocation lasts so long, so its worker cannot report any more."""
REFUSAL_SECONDS = 30.0
"""For which a refused report says that calls wait: whoever was refused asks again after about ten."""
MIN_DRAWS = 4
"""A worker that is alone draws at most this fraction of what is available: if it dies, the others still have the rest.
"""


@dataclass(frozen=True)
class BudgetLease:
    """What a worker has spent, and what it may still spend. Amounts are in billionths of a USD."""

    spent: SpentByRole
    uncertain: int
    """Of calls that may or may not have been billed."""
    reserved: int
    """For its calls in flight, and for further ones."""
    until: float

    @property
    def total(self) -> int:
        return sum(self.spent.values()) + self.uncertain + self.reserved


@dataclass(frozen=True)
class BudgetReport:
    """What a worker has spent since its start, and what it needs."""

    worker_id: str
    spent: SpentByRole
    uncertain: int
    reserved: int
    """For its calls in flight, and what is left of its allowance. What it does not report it gives back."""
    needed: int
    """Without at least this much more, it can make none of the calls that wait; 0 if it can make some."""
    wanted: int
    """How much more it could use for some time."""
    until: float
    """When its lease expires unless it reports again."""
    run_id: str = ""
    """Whose calls these are, in an account that several runs share."""

    def lease(self, grant: int = 0) -> BudgetLease:
        return BudgetLease(self.spent, self.uncertain, self.reserved + grant, self.until)


class Refusal(NamedTuple):
    """A report that was granted less than its calls need."""

    worker_id: str
    needed: int
    at: float


@dataclass(frozen=True)
class BudgetAccount:
    """What is charged to a limit. `spent` and `uncertain` are of workers that have ended or whose lease has expired."""

    spent: SpentByRole = field(default_factory=dict)
    uncertain: int = 0
    leases: Mapping[str, BudgetLease] = field(default_factory=dict)
    """By worker."""
    expired: Mapping[str, BudgetLease] = field(default_factory=dict)
    """Part of `spent` and `uncertain` until their workers report after all."""
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    """The latest by run, of the last REFUSAL_SECONDS before a report. Only readers of a run's progress need them."""

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
        """Spent for certain, or perhaps."""
        return sum(self.spent_by_role.values()) + self.total_uncertain

    def available(self, limit: int) -> int:
        """What can still be granted. Negative after the limit was lowered below what is used and reserved, and when
        calls have cost more than was reserved for them."""
        return limit - self.used - self.reserved

    def is_exhausted(self, limit: int, needed: int) -> bool:
        """Whether there will not be enough: too little is available, and no worker has any to give back."""
        return not self.reserved and self.available(limit) < needed

    def needed_by(self, run_id: str, now: float) -> int:
        """What the calls of a run need that was refused lately; 0 if nothing was."""
        refusal = self.refusals.get(run_id)
        return refusal.needed if refusal is not None and now - refusal.at < REFUSAL_SECONDS else 0

    def is_awaited(self, limit: int, now: float) -> bool:
        """Whether calls wait for what is reserved for others. For the account of a single run."""
        current = after_expiry(self, now)
        return current.reserved > 0 and current.available(limit) < current.needed_by("", now)


def after_report(account: BudgetAccount, limit: int, report: BudgetReport, now: float) -> BudgetAccount:
    """The account after a worker's report. What its lease reserves beyond what it reported is granted."""
    account = _with_own_lease(after_expiry(account, now), report)
    grant = _grant(report, account.available(limit), len(account.leases))
    leases = {**account.leases, report.worker_id: report.lease(grant)}
    return replace(account, leases=leases, refusals=_refusals(account, report, grant, now))


def after_leave(account: BudgetAccount, report: BudgetReport, now: float) -> BudgetAccount:
    """The account after a worker's last report, whose reservations are uncertain. One that has left changes nothing."""
    if report.worker_id not in account.leases and report.worker_id not in account.expired:
        return account
    return _closed(_with_own_lease(after_expiry(account, now), report), report.worker_id)


def after_expiry(account: BudgetAccount, now: float) -> BudgetAccount:
    """The account once the leases that are over have expired."""
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
    """With the worker's figures in place of its earlier ones, also if its lease has expired."""
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
    """A fair share of what is available, but at least what is needed; nothing if there is not that much."""
    share = max(0, available) // (workers + MIN_DRAWS - 1)
    grant = min(max(report.wanted, report.needed), max(share, report.needed))
    return grant if report.needed <= grant <= available else 0
