"""Reservations of conversations and calls in an allowance, and the error that there is too little."""

import asyncio
from collections.abc import Callable
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.text.figures import format_usd
from cupel_core.providers.errors import CallPostponed

SHORTAGE_SECONDS = 10.0
"""A conversation whose next call the budget does not allow now is tried again after this time."""


class BudgetShortage(CallPostponed):
    """A budget does not allow the call now. `exhausted` names the budget if it will not allow it until its limit is
    raised or its period ends."""

    title = "The budget is used up"
    ends_by_itself = False

    def __init__(self, needed: int, exhausted: BudgetScope | None = None) -> None:
        super().__init__("budget", SHORTAGE_SECONDS)
        self.needed = needed
        """The needed amount in billionths of a USD."""
        self.exhausted = exhausted
        self.detail = f"the budget does not allow a call that may cost {format_usd(needed / 10**9)}"


@dataclass(eq=False)
class CallInQueue:
    amount: int
    turn: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def has_reserved(self) -> bool:
        return self.turn.done() and not self.turn.cancelled() and self.turn.exception() is None


class OpeningReservation:
    def __init__(self, amount: int, give_back: Callable[[int], None]) -> None:
        self._amount = amount
        self._give_back = give_back

    def release(self) -> None:
        amount, self._amount = self._amount, 0
        if amount:
            self._give_back(amount)
