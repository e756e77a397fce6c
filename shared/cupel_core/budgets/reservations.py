"""What conversations and calls set aside of an allowance, and how they learn that there is too little."""

import asyncio
from collections.abc import Callable
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.text.figures import format_usd
from cupel_core.providers.errors import CallPostponed

SHORTAGE_SECONDS = 10.0
"""After which a conversation is tried again whose next call the budget does not allow now."""


class BudgetShortage(CallPostponed):
    """A budget does not allow the call now; `exhausted` names it if it will not until its limit is raised or its period
    ends."""

    title = "The budget is used up"
    ends_by_itself = False

    def __init__(self, needed: int, exhausted: BudgetScope | None = None) -> None:
        super().__init__("budget", SHORTAGE_SECONDS)
        self.needed = needed
        """In billionths of a USD."""
        self.exhausted = exhausted
        self.detail = f"the budget does not allow a call that may cost {format_usd(needed / 10**9)}"


@dataclass(eq=False)
class CallInQueue:
    """A call that waits until the worker has drawn more."""

    amount: int
    turn: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def has_reserved(self) -> bool:
        return self.turn.done() and not self.turn.cancelled() and self.turn.exception() is None


class OpeningReservation:
    """What a conversation that has started sets aside until it makes its first call."""

    def __init__(self, amount: int, give_back: Callable[[int], None]) -> None:
        self._amount = amount
        self._give_back = give_back

    def release(self) -> None:
        """Give it back, at the latest when the conversation ends."""
        amount, self._amount = self._amount, 0
        if amount:
            self._give_back(amount)
