"""Where the account of a budget is: in the table, or in the memory of the only process that spends from it."""

from typing import Protocol

from cupel_core.domain.budgets.account import BudgetAccount, BudgetReport, after_leave, after_report


class AccountStore(Protocol):
    """The account of one budget. Raises what the store raises; a report may then have arrived or not."""

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetAccount:
        """The account after the report. What the lease reserves beyond what was reported is granted."""
        ...

    async def leave(self, report: BudgetReport, now: float) -> None:
        """Apply a worker's last report."""
        ...


class MemoryAccount:
    """For evaluations in one process."""

    def __init__(self, account: BudgetAccount | None = None) -> None:
        self.account = account or BudgetAccount()

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetAccount:
        self.account = after_report(self.account, limit, report, now)
        return self.account

    async def leave(self, report: BudgetReport, now: float) -> None:
        self.account = after_leave(self.account, report, now)
