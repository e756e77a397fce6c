"""A worker's own account of a run's budget: what it has drawn and spent, and how much it draws at a time.

It draws enough for some time, but little enough that its death loses little. Amounts are in billionths of a USD.
"""

from collections import Counter

from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.conversations.roles import ModelRole

MAX_CONVERSATIONS = 100
"""A worker draws for at most this many conversations at a time."""
_SMOOTHING_FACTOR = 0.1


class WorkerLedger:
    """The sum of `balance`, reservations and spending only changes when the worker draws or returns money."""

    def __init__(self) -> None:
        self.balance = 0
        """The amount that further calls may reserve. It is negative if calls have cost more than they had reserved."""
        self.in_flight = 0
        """The reservations of calls, and of conversations that start with one."""
        self._spent: Counter[ModelRole] = Counter()
        self._uncertain = 0

    @property
    def used(self) -> int:
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
        """Return the balance with the next report, so that no call uses it until then. The report also has the cost of
        calls beyond their reservations."""
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


class Demand:
    """The pending work of a worker for a run. Amounts are in billionths of a USD."""

    def __init__(self) -> None:
        self.pending = 0
        self.first_call = 0
        """The amount that the cheapest of them needs to start."""
        self.open_conversations = 0
        self._mean_cost = 0.0
        self._mean_reserved = 0.0
        self._ended = 0

    @property
    def conversations(self) -> int:
        return self.pending + self.open_conversations

    def forget_pending(self) -> None:
        self.pending = self.first_call = 0

    def note_reserved(self, amount: int) -> None:
        before = self._mean_reserved or amount
        self._mean_reserved = before + _SMOOTHING_FACTOR * (amount - before)

    def end_conversation(self, spent: int) -> None:
        """Record the end of a conversation. `spent` is the sum of all until then."""
        self.open_conversations -= 1
        self._ended += 1
        self._mean_cost = spent / self._ended

    def amount(self, waiting_calls: int) -> int:
        """Return the amount for the next conversations, and for the reservations of their calls beyond their cost."""
        count = min(MAX_CONVERSATIONS, self.conversations + waiting_calls)
        return round(count * (self._mean_cost + max(self._mean_reserved, self.first_call)))


class OutputLengths:
    def __init__(self) -> None:
        self._means: dict[str, float] = {}

    def mean_tokens(self, model: str) -> float:
        """Return the mean, which is 0 before the first answer."""
        return self._means.get(model, 0.0)

    def note(self, model: str, tokens: int) -> None:
        before = self._means.get(model, float(tokens))
        self._means[model] = before + _SMOOTHING_FACTOR * (tokens - before)
