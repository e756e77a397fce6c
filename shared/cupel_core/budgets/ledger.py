"""A worker's own account of a run's budget: what it has drawn, what became of it, and how much it draws at a time.

It draws enough for some time, and little enough to lose when it dies. Amounts are in billionths of a USD.
"""

from collections import Counter

from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.conversations.roles import ModelRole

MAX_CONVERSATIONS = 100
"""A worker draws for at most so many conversations at a time."""
_SMOOTHING_FACTOR = 0.1


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
        """The amount that is used for certain or perhaps."""
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


class Demand:
    """What a worker has to do for a run. Amounts are in billionths of a USD."""

    def __init__(self) -> None:
        self.pending = 0
        """Conversations that could start."""
        self.first_call = 0
        """The cheapest of them needs so much to start."""
        self.open_conversations = 0
        self._mean_cost = 0.0
        """The mean cost of a conversation."""
        self._mean_reserved = 0.0
        """The mean amount that a call reserves."""
        self._ended = 0

    @property
    def conversations(self) -> int:
        return self.pending + self.open_conversations

    def forget_pending(self) -> None:
        """They start with another allowance."""
        self.pending = self.first_call = 0

    def note_reserved(self, amount: int) -> None:
        before = self._mean_reserved or amount
        self._mean_reserved = before + _SMOOTHING_FACTOR * (amount - before)

    def end_conversation(self, spent: int) -> None:
        """One has ended, after which so much was spent on all."""
        self.open_conversations -= 1
        self._ended += 1
        self._mean_cost = spent / self._ended

    def amount(self, waiting_calls: int) -> int:
        """For the conversations of the next time, and for what their calls reserve beyond their cost."""
        count = min(MAX_CONVERSATIONS, self.conversations + waiting_calls)
        return round(count * (self._mean_cost + max(self._mean_reserved, self.first_call)))


class OutputLengths:
    """How long answers are, for calls whose answers have no limit."""

    def __init__(self) -> None:
        self._means: dict[str, float] = {}

    def mean_tokens(self, model: str) -> float:
        """0 before the first answer."""
        return self._means.get(model, 0.0)

    def note(self, model: str, tokens: int) -> None:
        before = self._means.get(model, float(tokens))
        self._means[model] = before + _SMOOTHING_FACTOR * (tokens - before)
