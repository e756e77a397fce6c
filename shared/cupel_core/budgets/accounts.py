"""Accounts of budgets, in the table or in the memory of the only process that spends from them."""

import asyncio
from dataclasses import replace
from typing import NamedTuple, Protocol

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.account import BudgetAccount, BudgetReport, after_leave, after_report
from cupel_core.domain.budgets.periods import BudgetScope


class BudgetGrant(NamedTuple):
    """The amount that a worker may spend in addition to its reported reservations."""

    amount: int
    exhausted: BudgetScope | None = None
    """The limit that will not allow the worker's need. It is None if the limit may allow it, or nothing is needed."""
    account: BudgetAccount = BudgetAccount()
    """The account of the run. It is empty if the run has no budget."""

    @classmethod
    def of(cls, account: BudgetAccount, limit: int, report: BudgetReport) -> "BudgetGrant":
        amount = account.leases[report.worker_id].reserved - report.reserved
        is_exhausted = report.needed > amount and account.is_exhausted(limit, report.needed)
        return cls(amount, BudgetScope.RUN if is_exhausted else None, account)


class AccountStore(Protocol):
    """The account of one budget. It raises what the store raises; a report may then have arrived or not."""

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetGrant:
        """Apply a worker's report and return its grant. `limit` is that of the run."""
        ...

    async def leave(self, report: BudgetReport, now: float) -> None: ...


class MemoryAccount:
    def __init__(self, account: BudgetAccount | None = None) -> None:
        self.account = account or BudgetAccount()

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetGrant:
        self.account = after_report(self.account, limit, report, now)
        return BudgetGrant.of(self.account, limit, report)

    async def leave(self, report: BudgetReport, now: float) -> None:
        self.account = after_leave(self.account, report, now)


@dataclass
class JointAccount:
    """Two accounts that must both grant a worker's spending: that of the workspace's period, and that of the run. All
    figures are absolute, so no transaction is needed. If a worker dies between the two reports, its reservation in the
    first account is too high until its lease expires. No reservation is ever too low."""

    first: AccountStore
    second: AccountStore

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetGrant:
        first = await self.first.report(limit, report, now)
        second = await self.second.report(limit, _within(report, first.amount), now)
        if second.amount < first.amount:
            kept = replace(report, reserved=report.reserved + second.amount, needed=0, wanted=0)
            await self.first.report(limit, kept, now)
        return BudgetGrant(second.amount, first.exhausted or second.exhausted, second.account)

    async def leave(self, report: BudgetReport, now: float) -> None:
        """Report to both accounts, even if one fails."""
        leaving = (account.leave(report, now) for account in (self.first, self.second))
        for result in await asyncio.gather(*leaving, return_exceptions=True):
            if result is not None:
                raise result


def _within(report: BudgetReport, amount: int) -> BudgetReport:
    """Return the report with at most this amount requested, or nothing if that is too little for a call."""
    if amount < report.needed:
        return replace(report, needed=0, wanted=0)
    return replace(report, wanted=min(report.wanted, amount))
