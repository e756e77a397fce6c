"""What one worker has drawn from an account and what became of it. Amounts are in billionths of a USD."""

from collections import Counter

from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.conversations.roles import ModelRole


class WorkerLedger:
    """`balance` plus what is reserved plus what is spent only changes when the worker draws or gives back."""

    def __init__(self) -> None:
        self.balance = 0
        """What further calls may reserve; negative if calls have cost more than they had reserved."""
        self.in_flight = 0
        """Reserved by calls, and by conversations that start with one."""
        self._spent: Counter[ModelRole] = Counter()
        self._uncertain = 0

    @property
    def used(self) -> int:
        """For certain or perhaps."""
        return sum(self._spent.values()) + self._uncertain

    def take(self, amount: int) -> None:
        self.balance -= amount
        self.in_flight += amount

    def give_back(self, amount: int) -> None:
        self.balance += amount
        self.in_flight -= amount

    def settle(self, reserved: int, cost: int, role: ModelRole, *, is_certain: bool) -> None:
        self.in_flight -= reserved
        self.balance += reserved - cost
        if is_certain:
            self._spent[role] += cost
        else:
            self._uncertain += cost

    def empty(self) -> None:
        """Give the balance back with the next report: until then, no call may use it. The report also tells the account
        of what calls have cost beyond what they had reserved."""
        self.balance = 0

    def report(self, worker_id: str, needed: int, wanted: int, until: float) -> BudgetReport:
        return BudgetReport(
            worker_id=worker_id,
            spent=dict(self._spent),
            uncertain=self._uncertain,
            reserved=self.in_flight + self.balance,
            needed=needed,
            wanted=wanted,
            until=until,
        )
